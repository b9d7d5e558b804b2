"""Output of any length: the model gets its two ends, a file keeps all of it."""

import codecs
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from turnwright.tools.masking import Mask

SHOWN = 20 * 1024
"""Bytes of one result for the model: some 5,000 tokens, so that several fit beside the conversation."""

KEPT = 100 * 1024 * 1024
"""Bytes of one output that are kept on disk: an endless one must not fill it."""


class Capture:
    """Takes a stream in the memory of what is shown; if there is more, a file in `folder` holds all of it.

    Known `secrets` are masked in both, wherever the stream is cut.
    """

    def __init__(
        self, folder: Path, *, shown: int = SHOWN, kept: int = KEPT, secrets: Iterable[str] = ()
    ) -> None:
        self._folder = folder
        self._half = shown // 2
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._file: BinaryIO | None = None
        self._where = ""
        self._mask = Mask(secrets)

    def feed(self, data: bytes) -> None:
        """Take the next bytes. A full disk loses the rest of the file, not the command."""
        self._take(self._mask.feed(data))

    def _take(self, data: bytes) -> None:
        room = 2 * self._half - len(self._head)
        if len(data) > room:
            if not self._where:
                self._open()
            self._tail += data[room:]
            del self._tail[: -self._half]
        self._head += data[:room]
        if self._file:
            self._write(data[: max(0, self._kept - self._total)])
        self._total += len(data)

    def text(self, *, final: bool = True) -> str:
        """What the model is shown; while more may come (`final` false), a character begun is left out."""
        if final:
            self._take(self._mask.rest())
        if self._total <= 2 * self._half:
            return _decode(self._head, final=final)
        tail = (self._head + self._tail)[-self._half :]
        while tail and tail[0] & 0xC0 == 0x80:  # the end of a character whose beginning is cut off
            del tail[0]
        extent = "all" if self._total <= self._kept else f"the first {self._kept} bytes"
        return (
            f"{_decode(self._head[: self._half], final=False)}\n"
            f"[... the middle of {self._total} bytes is left out; {extent} of it {self._where} ...]\n"
            f"{_decode(tail, final=final)}"
        )

    def close(self) -> None:
        """Finish the file; what is shown stays."""
        self._take(self._mask.rest())
        if self._file:
            with suppress(OSError):  # a full disk, met again
                self._file.close()
            self._file = None

    def _open(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix="output-", suffix=".txt")
        except OSError as error:
            self._where = f"could not be kept ({error.strerror})"
            return
        self._file = os.fdopen(handle, "wb")
        self._where = f"is in {name}"
        self._write(self._head)

    def _write(self, data: bytes | bytearray) -> None:
        if self._file:
            try:
                self._file.write(data)
            except OSError as error:
                self._where += f" (cut short: {error.strerror})"
                self.close()


def _decode(data: bytes | bytearray, *, final: bool) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(data), final)
