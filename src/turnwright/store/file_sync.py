"""A sync of a log of which one file's `fsync` is all."""

from collections.abc import Callable

from turnwright.store.descriptor import Descriptor


class FileSync:
    """A sync that has begun: whoever carries it out syncs the `file`, and says the `end`, or gives it up.

    Until then the file stays open. `ended` is told first how it went.
    """

    def __init__(self, file: Descriptor, ended: Callable[[OSError | None], None]) -> None:
        file.lend()
        self.file = file
        self._ended = ended

    def end(self, error: OSError | None = None) -> None:
        """Say, once, that the disk has it all, or why not. Raises StoreError when it hasn't."""
        try:
            self._ended(error)
        finally:
            self.file.close()

    def give_up(self) -> None:
        """Be done with the file, as if nothing had begun."""
        self.file.close()
