"""Where the app's own functions are called: what they raise ends there, in the log."""

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio.to_thread

T = TypeVar("T")

log = logging.getLogger(__name__)


async def call(function: Callable[..., T | Awaitable[T]], *args: object, **named: object) -> T:
    """Call a function of the app: an async one here, any other in a thread, so that it may take its time.

    Cancellation reaches an async function; a thread can't be stopped, and its result is dropped.
    """
    if inspect.iscoroutinefunction(function):
        return await function(*args, **named)
    work = functools.partial(function, *args, **named)
    return await settled(await anyio.to_thread.run_sync(work, abandon_on_cancel=True))


async def settled(result: T | Awaitable[T]) -> T:
    """Return a result, after awaiting it if it must be."""
    return await result if inspect.isawaitable(result) else cast("T", result)


async def attempt(name: str, work: Awaitable[T], otherwise: Callable[[Exception], T]) -> T:
    """Await the app's code, called `name` in the log; when it raises, return what `otherwise` says."""
    try:
        return await work
    except Exception as error:  # the app's fault must not end the connection, nor what else the app does
        log.exception("%s failed", name)
        return otherwise(error)
