"""Pictures for tests, made when they are asked for."""

import io

from PIL import Image


def picture(kind: str = "PNG", size: tuple[int, int] = (40, 30), *, orientation: int = 1) -> bytes:
    """A picture of one colour; `orientation` is how a camera was held, in Exif's numbers."""
    exif = Image.Exif()
    if orientation != 1:
        exif[0x0112] = orientation
    return encoded(Image.new("RGB", size, "teal"), kind, exif=exif)


def noise(size: tuple[int, int]) -> bytes:
    """A PNG that can't be compressed."""
    return encoded(Image.effect_noise(size, 100).convert("RGB"), "PNG", compress_level=0)


def moving() -> bytes:
    """A GIF of two frames."""
    file = io.BytesIO()
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("teal", "red")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    return file.getvalue()


def encoded(image: Image.Image, kind: str, **how: object) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **how)  # pyright: ignore[reportArgumentType]
    return file.getvalue()
