"""The machine's certificates: read when a server is first reached over TLS, if a process may put that off.

aiohttp reads them twice as it is imported, which takes a start 0.1 s. A server on one's own machine, and an
address in one's own network, mostly want none.
"""

import ssl
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

_postponed = False


def postpone() -> None:
    """Put it off from here on. Only for a process that is all ours: `unread` would harm others in it."""
    global _postponed
    _postponed = True


@contextmanager
def unread() -> Generator[None]:
    """Import aiohttp in here: then what it makes for those who say nothing else knows no certificates."""
    if not _postponed or "aiohttp" in sys.modules:
        yield
        return
    ssl.SSLContext.set_default_verify_paths = _read_nothing  # hides the method that is inherited
    try:
        yield
    finally:
        del ssl.SSLContext.set_default_verify_paths


def verification() -> ssl.SSLContext | bool:
    """What aiohttp is to verify a server with: our own context, or True for its own."""
    return _context() if _postponed else True


@cache
def _context() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def _read_nothing(self: ssl.SSLContext) -> None:
    """Take the place of what reads the machine's certificates into a context."""
