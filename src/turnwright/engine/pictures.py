"""Pictures made fit for a model: upright, of a kind and a size that its API takes. Pillow loads at need."""

import io
import struct
from typing import TYPE_CHECKING

import msgspec

from turnwright.engine.picture_structure import is_whole
from turnwright.errors import InvalidParams, TooLarge
from turnwright.protocol.media import HEAD, media_type, pixels
from turnwright.providers.media_limits import PictureLimits

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST = 32 * 1024 * 1024
"""Bytes of a picture that is taken up at all."""

MOST_PIXELS = 64_000_000
"""A picture of more would take hundreds of megabytes once it is decoded, however small its file is."""

SMALLEST_SIDE = 64
SHRINK = 0.75
QUALITY = 85
"""Of JPEG, where the picture must be encoded anew: no difference that a model would see."""

INSTALL = "pip install 'turnwright[images]'"

_RAISED_BY_DECODERS = (
    *(OSError, ValueError, SyntaxError, EOFError, struct.error),
    *(ArithmeticError, LookupError, TypeError, RuntimeError),
)
"""What damage runs into within Pillow: a file that lacks a part is an IndexError or a TypeError there."""

_DAMAGED = "it is damaged, or of a kind that can't be read"
_ORIENTATION = 0x0112
_UPRIGHT = 1
_FRAMES_ARE_ONE_PICTURE = "MPO"
"""A JPEG of many cameras: the frames after the first are previews of it."""


class Picture(msgspec.Struct, frozen=True):
    """A picture that can be sent."""

    mime_type: str
    data: bytes


def fit(data: bytes, limits: PictureLimits) -> Picture:
    """The picture itself where it fits, else one made of it; it is slow, and belongs in a thread.

    Raises TooLarge, or InvalidParams for one that is damaged or of another kind; the text says which.
    """
    kind = media_type(data[:HEAD])
    if kind is None or not kind.startswith("image/"):
        raise InvalidParams("it is no picture of a known kind")
    if len(data) > LARGEST:
        raise TooLarge(f"it has {_megabytes(len(data))}, and {_megabytes(LARGEST)} are the most")
    size = pixels(data[:HEAD])
    if size is not None:
        _refuse_odd(*size)
    fault = _fault(kind, len(data), size, limits)
    try:
        return _remade(kind, data, limits)
    except ImportError:
        if not is_whole(kind, data):
            raise InvalidParams(_DAMAGED) from None
        if fault is None:
            return Picture(kind, data)
        raise type(fault)(f"{fault}; {INSTALL} lets it be made fit") from None


def _fault(
    kind: str, length: int, size: tuple[int, int] | None, limits: PictureLimits
) -> InvalidParams | TooLarge | None:
    if kind not in limits.media_types:
        return InvalidParams(f"this model does not take {kind}")
    if length > limits.most_bytes:
        return TooLarge(f"it has {_megabytes(length)}, and this model takes {_megabytes(limits.most_bytes)}")
    if size is not None and max(size) > limits.longest_side:
        wanted = f"this model takes {limits.longest_side} a side"
        return TooLarge(f"it has {size[0]}x{size[1]} pixels, and {wanted}")
    return None


def _refuse_odd(width: int, height: int) -> None:
    if not width * height:
        raise InvalidParams(_DAMAGED)
    if width * height > MOST_PIXELS:
        raise TooLarge(f"it has {width}x{height} pixels, and {MOST_PIXELS // 1_000_000} million are the most")


def _remade(kind: str, data: bytes, limits: PictureLimits) -> Picture:
    """Decode and encode it as far as that is needed. Raises ImportError without Pillow."""
    from PIL import Image, ImageOps

    # Where warnings are errors, Pillow's are among them.
    warned = (UserWarning, Image.DecompressionBombWarning)
    damaged = (*_RAISED_BY_DECODERS, *warned, Image.DecompressionBombError)
    try:
        with Image.open(io.BytesIO(data)) as opened:
            _refuse_odd(opened.width, opened.height)
            is_still = opened.format == _FRAMES_ARE_ONE_PICTURE or getattr(opened, "n_frames", 1) == 1
            is_upright = opened.getexif().get(_ORIENTATION, _UPRIGHT) == _UPRIGHT
            if is_still and is_upright and _fault(kind, len(data), opened.size, limits) is None:
                opened.load()  # a request with a damaged picture would be refused, and so would all after it
                return Picture(kind, data)
            # A JPEG is decoded no larger than it must be.
            opened.draft("RGB", (limits.longest_side, limits.longest_side))
            upright = ImageOps.exif_transpose(opened)
            return _encoded(upright, limits, is_photo=kind in ("image/jpeg", "image/heic"))
    except damaged as error:
        raise InvalidParams(_DAMAGED) from error


def _encoded(picture: "Image", limits: PictureLimits, *, is_photo: bool) -> Picture:
    """As PNG, which loses nothing, or as JPEG where that is too large; smaller until it fits."""
    has_alpha = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
    current = picture.convert("RGBA" if has_alpha else "RGB")
    current.thumbnail((limits.longest_side, limits.longest_side))
    kinds = ["image/jpeg"] if is_photo else ["image/png", "image/jpeg"]
    kinds = [kind for kind in kinds if kind in limits.media_types] or [limits.media_types[0]]
    while True:
        for kind in kinds:
            data = _bytes(current, kind)
            if len(data) <= limits.most_bytes:
                return Picture(kind, data)
        if max(current.size) <= SMALLEST_SIDE:
            raise TooLarge(f"it can't be made as small as {limits.most_bytes} bytes")
        current.thumbnail((current.width * SHRINK, current.height * SHRINK))


def _bytes(picture: "Image", kind: str) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    if kind == "image/jpeg" and picture.mode == "RGBA":
        ground = Image.new("RGB", picture.size, "white")
        ground.paste(picture, mask=picture.getchannel("A"))
        picture = ground
    picture.save(file, kind.removeprefix("image/"), quality=QUALITY)
    return file.getvalue()


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
