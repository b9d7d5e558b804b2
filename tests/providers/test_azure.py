"""Azure's routes, and how they carry the key."""

import pytest
from exchange import KEY, Heard, request

from turnwright.errors import ProviderError
from turnwright.protocol.messages import User
from turnwright.protocol.options import AzureOptions, ProviderOptions
from turnwright.providers.base import ModelRequest
from turnwright.providers.open import open_provider
from turnwright.testing.answers import say
from turnwright.testing.azure_server import AzureServer

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("path", "version", "asked"),
    [
        ("", None, "/openai/v1/chat/completions"),
        ("/openai/", None, "/openai/v1/chat/completions"),
        ("/openai/v1", None, "/openai/v1/chat/completions"),
        ("", "2024-10-21", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"),
        ("/openai", "2024-10-21", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"),
        ("?api-version=2025-01-01", None,
         "/openai/deployments/my%20gpt/chat/completions?api-version=2025-01-01"),
    ],
)  # fmt: skip
async def test_requests_go_to_the_route_that_the_version_means(
    path: str, version: str | None, asked: str
) -> None:
    async with AzureServer([say("hi")], api_key=KEY) as server:
        options = ProviderOptions(
            server.base_url + path, type="azure", api_key=KEY, azure=AzureOptions(api_version=version)
        )
        provider = open_provider(options)
        reply = await provider.respond(ModelRequest("my gpt", "", [User("go")], (), "c"), Heard())
        await provider.aclose()
    assert (reply.content, server.targets) == ("hi", [asked])
    assert (server.headers[0]["api-key"], "authorization" in server.headers[0]) == (KEY, False)


async def test_responses_go_below_openai_whatever_is_deployed() -> None:
    for version, asked in ((None, "/openai/v1/responses"), ("v1", "/openai/responses?api-version=v1")):
        async with AzureServer() as server:
            options = ProviderOptions(
                server.base_url, type="azure", wire_api="responses", azure=AzureOptions(api_version=version)
            )
            provider = open_provider(options)
            with pytest.raises(ProviderError, match=asked.partition("?")[0]):
                await provider.respond(request(), Heard())
            await provider.aclose()


async def test_a_token_of_the_directory_goes_before_the_key() -> None:
    async with AzureServer([say("hi")], api_key="token-of-mine") as server:
        options = ProviderOptions(server.base_url, type="azure", api_key=KEY, bearer_token="token-of-mine")
        provider = open_provider(options)
        await provider.respond(request(), Heard())
        await provider.aclose()
    assert "api-key" not in server.headers[0]
