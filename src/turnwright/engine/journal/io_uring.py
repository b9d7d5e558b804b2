"""Linux's io_uring, as far as syncs need it, by caio (the extra `fast`)."""

from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from caio.linux_uring import Context, Operation


class Uring:
    """A queue of syncs that the kernel carries out. `fileno` can be read from when some have ended.

    Raises ImportError where caio isn't installed or the system has no io_uring, as in many containers, and
    SystemError when it has no more of it.
    """

    def __init__(self, size: int) -> None:
        context, self._operation = _load()
        self._context = context(size)
        self.fileno = self._context.fileno

    def add(self, fd: int, ended: Callable[[int], None]) -> None:
        """Put a file's sync into the queue, of which `ended` is told with 0 or a negative errno.

        Raises OverflowError when `size` of them wait for `submit`.
        """
        operation = self._operation.fsync(fd)
        operation.set_callback(ended)
        self._context.submit(operation)  # pyright: ignore[reportUnknownMemberType]  it only queues

    def submit(self) -> None:
        """Give the kernel what was added. Those that have ended meanwhile are told. Raises SystemError."""
        self._context.flush()

    def collect(self) -> None:
        """Tell of all that have ended."""
        with suppress(BlockingIOError):
            self._context.poll()
        while self._context.process_events():
            pass


def _load() -> "tuple[type[Context], type[Operation]]":
    """The one part of caio: the package tries all its ways as it is imported, which takes 50 ms and more."""
    package = find_spec("caio")
    where = package and package.submodule_search_locations
    found = PathFinder.find_spec("caio.linux_uring", where) if where else None
    if found is None or found.loader is None:
        raise ImportError("caio.linux_uring is not installed")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module.Context, module.Operation
