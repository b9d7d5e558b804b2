"""Whether a picture's file is whole, by its parts alone: what can be told without decoding it."""

import zlib
from collections.abc import Callable, Mapping

_START_OF_SCAN, _END_OF_IMAGE = 0xDA, b"\xff\xd9"
_GIF_PICTURE, _GIF_EXTENSION, _GIF_END = 0x2C, 0x21, 0x3B


def is_whole(kind: str, data: bytes) -> bool:
    """Whether no part of a PNG, JPEG, GIF or WebP is missing, nor a PNG's checksum wrong; True of others."""
    try:
        return kind not in _WHOLE or _WHOLE[kind](memoryview(data))
    except IndexError:
        return False


def _png(data: memoryview) -> bool:
    at, kind = 8, b""
    while kind != b"IEND":
        kind, end = bytes(data[at + 4 : at + 8]), at + 8 + int.from_bytes(data[at : at + 4])
        if end + 4 > len(data) or zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4]):
            return False
        at = end + 4
    return True


def _jpeg(data: memoryview) -> bool:
    at = 2
    while data[at] == 0xFF and data[at + 1] != _START_OF_SCAN:
        is_filler = data[at + 1] == 0xFF
        at += 1 if is_filler else 2 + max(int.from_bytes(data[at + 2 : at + 4]), 2)
    return data[at] == 0xFF and bytes(data[at:]).rfind(_END_OF_IMAGE) > 0


def _gif(data: memoryview) -> bool:
    at = 13 + _colours(data[10])
    while data[at] in (_GIF_PICTURE, _GIF_EXTENSION):
        at += 11 + _colours(data[at + 9]) if data[at] == _GIF_PICTURE else 2
        while data[at]:
            at += data[at] + 1
        at += 1
    return data[at] == _GIF_END


def _webp(data: memoryview) -> bool:
    return len(data) >= 8 + int.from_bytes(data[4:8], "little")


def _colours(flags: int) -> int:
    """Bytes of a GIF's table of colours, if there is one."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


_WHOLE: Mapping[str, Callable[[memoryview], bool]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
