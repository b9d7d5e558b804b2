"""Fetches a model's file from one address, going on where a broken download stopped."""

import asyncio
from pathlib import Path

import aiohttp

from turnwright.errors import ProviderError
from turnwright.providers.certificates import verification
from turnwright.providers.local_check import PIECE, checked, pieces_of
from turnwright.providers.local_model import Report

_TIMEOUT = aiohttp.ClientTimeout(total=None, connect=5, sock_read=30)


def fetch(url: str, target: Path, *, size: int, sha256: str, report: Report) -> None:
    """Bring the pinned file from `url` to `target`.

    Raises ProviderError; its `sent` is False when nothing came, so that another source may be tried.
    """
    partial = target.with_suffix(".part")
    asyncio.run(_download(url, partial, size, report))
    report(size, size, "checking")
    try:
        for _ in checked(pieces_of(partial), size=size, sha256=sha256):
            pass
    except ProviderError:
        partial.unlink()
        raise
    partial.replace(target)


async def _download(url: str, partial: Path, size: int, report: Report) -> None:
    done = partial.stat().st_size if partial.exists() else 0
    if done >= size:
        return
    before = done
    headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT, trust_env=True) as http,
            http.get(url, headers=headers, ssl=verification()) as response,
        ):
            response.raise_for_status()
            if response.status != 206:  # the server sends the whole file, whatever was asked for
                done = before = 0
            if response.content_length != size - done:
                raise ProviderError(f"{url} has another file than the pinned one.", sent=False)
            with partial.open("ab" if done else "wb") as out:
                async for piece in response.content.iter_chunked(PIECE):
                    out.write(piece)
                    done += len(piece)
                    report(done, size, "fetching from the publisher")
    except (aiohttp.ClientError, TimeoutError) as error:
        if done == before:
            raise ProviderError(f"{url} can't be reached.", sent=False, detail=repr(error)) from error
        raise ProviderError(
            f"The download broke off after {done} of {size} bytes; run it again to go on from there.",
            kind="connection",
            retryable=True,
            detail=repr(error),
        ) from error
