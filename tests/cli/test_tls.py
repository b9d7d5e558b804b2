"""Model servers that are reached over TLS: the machine's certificates are read late, and all the same."""

import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

import anyio
import pytest
import trustme
from anyio.abc import AnyByteStream, SocketAttribute
from anyio.streams.tls import TLSListener, TLSStream

from tests.cli.command import SECONDS, turnwright
from turnwright.testing.chat_answers import say
from turnwright.testing.chat_server import ChatServer

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@asynccontextmanager
async def behind_tls(server: ChatServer, authority: trustme.CA) -> AsyncGenerator[str]:
    """What decrypts for a server; gives its base URL."""
    context = SSLContext(PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)  # pyright: ignore[reportUnknownMemberType]
    decrypted = int(server.base_url.split(":")[2].partition("/")[0])
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")

    async def serve(client: TLSStream) -> None:
        async with (
            client,
            await anyio.connect_tcp("127.0.0.1", decrypted) as plain,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(_carry, client, plain)
            await _carry(plain, client)
            tasks.cancel_scope.cancel()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(TLSListener(listener, context, standard_compatible=False).serve, serve)
        yield f"https://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/v1"
        tasks.cancel_scope.cancel()


async def _carry(source: AnyByteStream, target: AnyByteStream) -> None:
    async for data in source:
        await target.send(data)


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_server_is_believed_only_with_a_known_certificate(
    folder: Path, tmp_path: Path, authority: trustme.CA, is_known: bool
) -> None:
    file = tmp_path / "authority.pem"
    (authority if is_known else trustme.CA()).cert_pem.write_to_path(file)
    async with ChatServer([say("Safe.")] * 2) as server, behind_tls(server, authority) as url:
        given = {"TURNWRIGHT_BASE_URL": url, "TURNWRIGHT_MODEL": "m", "SSL_CERT_FILE": str(file)}
        done = await turnwright("-p", "Is it?", cwd=folder, environment=given)
    if is_known:
        assert done == (0, "Safe.\n", "")
    else:
        assert (done.status, done.out, server.requests) == (1, "", [])
        assert "certificate verify failed" in done.err


LOADED = """
import sys
from turnwright.protocol.options import ProviderOptions
from turnwright.providers import certificates
from turnwright.providers.open import open_provider

if "postponed" in sys.argv:
    certificates.postpone()
open_provider(ProviderOptions(base_url="http://127.0.0.1:1"))
import aiohttp.connector, ssl

print(aiohttp.connector._SSL_CONTEXT_VERIFIED.cert_store_stats()["x509_ca"])
context = certificates.verification()
print(context if context is True else context.cert_store_stats()["x509_ca"])
print(ssl.create_default_context().cert_store_stats()["x509_ca"])
"""


@pytest.mark.parametrize(("argument", "counts"), [("postponed", "0\n1\n1\n"), ("at once", "1\nTrue\n1\n")])
def test_they_are_put_off_only_where_nobody_else_relies_on_aiohttp(
    tmp_path: Path, authority: trustme.CA, argument: str, counts: str
) -> None:
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    done = subprocess.run(
        [sys.executable, "-c", LOADED, argument],
        env={"SSL_CERT_FILE": str(tmp_path / "authority.pem"), "SSL_CERT_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert (done.stdout, done.stderr) == (counts, "")
