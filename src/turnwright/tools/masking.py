"""Secret values in a stream of bytes, masked wherever the stream is cut."""

from collections.abc import Iterable

MASK = "******"


class Mask:
    """Replaces each known value; of what may be the beginning of one, it waits for the rest."""

    def __init__(self, secrets: Iterable[str]) -> None:
        values = {secret.encode("utf-8", "replace") for secret in secrets} - {b""}
        self._values = sorted(values, key=len, reverse=True)
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take the next bytes; what is safe to pass on."""
        if not self._values:
            return data
        data = self._held + data
        for value in self._values:
            data = data.replace(value, MASK.encode())
        held = max(_begun(data, value) for value in self._values)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def rest(self) -> bytes:
        """What was held, once nothing follows: it is no secret."""
        held, self._held = self._held, b""
        return held


def _begun(data: bytes, value: bytes) -> int:
    """How many bytes at the end of `data` are the beginning of a value."""
    longest = min(len(value) - 1, len(data))
    return next((n for n in range(longest, 0, -1) if data.endswith(value[:n])), 0)
