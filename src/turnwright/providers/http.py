"""HTTP to a model server: one pool of connections, and the truth about what was sent."""

import os
import ssl
from typing import Self
from urllib.parse import urlsplit

import aiohttp
import anyio

from turnwright.errors import ProviderError
from turnwright.providers.certificates import verification
from turnwright.providers.endpoint import Endpoint
from turnwright.providers.transport import (
    AT_ONCE,
    PATIENCE,
    Departure,
    Response,
    Timeouts,
    request_headers,
)
from turnwright.providers.upload import Upload

CONNECT_BACKOFF = (0.1, 0.3)
"""Seconds before each further attempt to connect."""


class HttpClient:
    """Sends requests and keeps connections alive; its pool opens with the first request."""

    def __init__(self, timeouts: Timeouts = PATIENCE) -> None:
        self._timeouts = timeouts
        self._session: aiohttp.ClientSession | None = None
        self._ways: dict[str, tuple[str | None, ssl.SSLContext | bool]] = {}

    def request(
        self,
        endpoint: Endpoint,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        departure: Departure = AT_ONCE,
    ) -> "_Exchange":
        """Send one request and give its response; see `Transport.request`.

        `departure.sent` is called when the first bytes were written to the server's connection. Attempts to
        connect are repeated.
        """
        return _Exchange(self, endpoint, method, path, Upload(body, departure) if body else None)

    async def aclose(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(
        self, endpoint: Endpoint, method: str, path: str, upload: Upload | None
    ) -> aiohttp.ClientResponse:
        """Send one request; the response must be closed. Raises what `request` does."""
        if endpoint.url not in self._ways:
            self._ways[endpoint.url] = _way_to(endpoint)
        proxy, tls = self._ways[endpoint.url]
        pauses = iter(CONNECT_BACKOFF)
        while True:
            try:
                return await self._opened().request(
                    method,
                    endpoint.to(path),
                    data=upload,
                    headers=request_headers(endpoint),
                    proxy=proxy,
                    ssl=tls,
                    # A redirection would be a second request, and could carry the key elsewhere.
                    allow_redirects=False,
                )
            except (aiohttp.ClientError, OSError) as error:
                if upload and upload.refusal:
                    raise upload.refusal from None
                if (upload and upload.sent) or isinstance(error, aiohttp.SocketTimeoutError):
                    raise self.broken(endpoint, error) from error
                if upload and not upload.is_ready and not isinstance(error, aiohttp.ClientConnectorError):
                    # The server didn't wait for a request that long: that was no attempt.
                    await upload.ready()
                    continue
                pause = next(pauses, None)
                if pause is None:
                    raise _unreachable(endpoint, _reason(error)) from error
            await anyio.sleep(pause)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            # Not trust_env: with it, aiohttp also reads ~/.netrc, and refuses a request that has a key.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=self._timeouts.connect, sock_read=self._timeouts.read
                ),
            )
        return self._session

    def broken(self, endpoint: Endpoint, error: Exception) -> ProviderError:
        """What to raise for an answer that broke off."""
        where = f"{endpoint.name} at {endpoint.host}"
        if isinstance(error, TimeoutError):
            text = f"provider {where} sent nothing for {self._timeouts.read:g} seconds"
        else:
            text = f"the connection to provider {where} broke before the reply was complete"
        detail = endpoint.mask(f"{type(error).__name__}: {error}")
        return ProviderError(text, kind="connection", retryable=True, detail=detail)


class _Exchange:
    """One request, which is sent when it is entered; its response's body as it comes, until it is left."""

    def __init__(
        self, client: HttpClient, endpoint: Endpoint, method: str, path: str, upload: Upload | None
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._method = method
        self._path = path
        self._upload = upload
        self._response: aiohttp.ClientResponse

    async def __aenter__(self) -> Response:
        response = await self._client.send(self._endpoint, self._method, self._path, self._upload)
        self._response = response
        return Response(response.status, response.headers, self, response.content.at_eof)

    async def __aexit__(self, *error: object) -> None:
        self._response.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        try:
            piece = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise self._client.broken(self._endpoint, error) from error
        if not piece:
            raise StopAsyncIteration
        return piece


def _way_to(endpoint: Endpoint) -> tuple[str | None, ssl.SSLContext | bool]:
    proxy = _proxy_for(endpoint)
    is_secure = any(urlsplit(url).scheme == "https" for url in (endpoint.url, proxy or ""))
    return proxy, verification() if is_secure else True


def _proxy_for(endpoint: Endpoint) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    scheme = urlsplit(endpoint.url).scheme
    proxy = getproxies().get(scheme)
    if not proxy or proxy_bypass(endpoint.host):
        return None
    kind, found, _ = proxy.partition("://")
    if found and kind not in ("http", "https"):
        raise _unreachable(endpoint, f"the proxy for {scheme} is of kind {kind}, and only http ones work")
    return proxy if found else f"http://{proxy}"


def _unreachable(endpoint: Endpoint, reason: str) -> ProviderError:
    where = f"{endpoint.name} at {endpoint.shown}"
    message = endpoint.mask(f"could not connect to provider {where}: {reason}")
    return ProviderError(message, kind="connection", sent=False)


def _reason(error: Exception) -> str:
    match error:
        case TimeoutError():
            return "no answer in time"
        case aiohttp.ClientConnectorCertificateError():
            return str(error.certificate_error)
        case aiohttp.ClientConnectorDNSError():
            return "the host's name is unknown"
        case aiohttp.ClientHttpProxyError():
            return f"the proxy answered {error.status}"
        case aiohttp.ClientConnectorError(os_error=cause):
            return _os_reason(cause)
        case OSError():
            return _os_reason(error)
        case _:
            return type(error).__name__


def _os_reason(error: OSError) -> str:
    import ssl

    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason})"
    return os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
