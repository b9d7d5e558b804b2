"""Pictures and documents, by their first bytes: of which media type, how large, about how many tokens."""

import base64
import binascii
import struct

PDF = "application/pdf"

PICTURE_MOST_TOKENS = 1600
"""What a picture costs at most: servers make larger ones smaller before the model sees them."""

_PIXELS_PER_TOKEN = 750
"""Anthropic's documented rate; others are of the same order."""

_PAGE_BYTES, _PAGE_TOKENS = 50_000, 2500
"""A page of a document, as text and as a picture; how many there are can't be told without reading all."""

HEAD = 96 * 1024
"""Bytes from the start within which a picture says its size: before it a JPEG may hold a small preview."""

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"%PDF-", PDF),
)
_ISO_BRANDS = {b"avif": "image/avif", b"avis": "image/avif", b"heic": "image/heic", b"mif1": "image/heic"}
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WITHOUT_LENGTH = frozenset([0x01, *range(0xD0, 0xD9)])


def media_type(start: bytes) -> str | None:
    """The media type of a picture or a PDF that starts so; None for anything else."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    if start[:2] == b"BM" and start[6:10] == b"\0\0\0\0":
        return "image/bmp"
    if start[4:8] == b"ftyp":
        return _ISO_BRANDS.get(start[8:12])
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), None)


def pixels(start: bytes) -> tuple[int, int] | None:
    """Width and height of a picture, as its header has them; None where that isn't in the first bytes."""
    try:
        match media_type(start):
            case "image/png":
                return struct.unpack_from(">II", start, 16)
            case "image/gif":
                return struct.unpack_from("<HH", start, 6)
            case "image/bmp":
                width, height = struct.unpack_from("<ii", start, 18)
                return abs(width), abs(height)
            case "image/jpeg":
                return _jpeg(start)
            case "image/webp":
                return _webp(start)
            case _:
                return None
    except struct.error:
        return None


def picture_tokens(data: str) -> int:
    """About how many tokens a picture takes, given as base64."""
    try:
        found = pixels(base64.b64decode(data[: HEAD // 3 * 4]))
    except (binascii.Error, ValueError):
        return PICTURE_MOST_TOKENS
    if found is None:
        return PICTURE_MOST_TOKENS
    return min(found[0] * found[1] // _PIXELS_PER_TOKEN + 1, PICTURE_MOST_TOKENS)


def document_tokens(data: str) -> int:
    """About how many tokens a document takes, given as base64."""
    return (len(data) * 3 // 4 // _PAGE_BYTES + 1) * _PAGE_TOKENS


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Skip from segment to segment up to the one that begins the picture itself."""
    at = 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _START_OF_FRAME:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker == 0xFF:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        else:
            at += 2 + max(int.from_bytes(data[at + 2 : at + 4], "big"), 2)
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = struct.unpack_from("<I", data, 21)[0]
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None
