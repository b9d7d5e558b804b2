"""Pictures made fit for a model, with Pillow and without."""

import io
import random
import struct
import sys

import pytest
from PIL import Image

from tests.pictures import encoded, moving, noise, picture
from turnwright.engine.pictures import INSTALL, MOST_PIXELS, Picture, fit
from turnwright.errors import InvalidParams, TooLarge
from turnwright.protocol.media import media_type, pixels
from turnwright.providers.media_limits import PictureLimits

LIMITS = PictureLimits(most_bytes=60_000, longest_side=200)
GREY = Image.effect_noise((120, 80), 100)
FORMS = {
    "PNG": lambda: encoded(GREY, "PNG"),
    "PNG with a palette": lambda: encoded(GREY.convert("P"), "PNG", transparency=0),
    "JPEG": lambda: encoded(GREY.convert("RGB"), "JPEG"),
    "progressive JPEG": lambda: encoded(GREY, "JPEG", progressive=True),
    "JPEG with restarts": lambda: encoded(GREY.convert("CMYK"), "JPEG", restart_marker_rows=1),
    "photo": lambda: picture("JPEG", orientation=6),
    "GIF": lambda: encoded(GREY, "GIF"),
    "moving GIF": moving,
    "WebP": lambda: encoded(GREY.convert("RGB"), "WEBP"),
    "lossless WebP": lambda: encoded(GREY.convert("RGBA"), "WEBP", lossless=True),
}
KINDS = ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"]


def opened(made: Picture) -> Image.Image:
    found = Image.open(io.BytesIO(made.data))
    assert media_type(made.data) == made.mime_type
    return found


def bomb(side: int) -> bytes:
    """The start of a PNG that says it is so large."""
    return (
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", side, side, 8, 2, 0, 0, 0) + b"\0" * 99
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_picture_that_fits_is_left_as_it_is(kind: str) -> None:
    data = picture(kind)
    assert fit(data, LIMITS) == Picture(f"image/{kind.lower()}", data)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_any_kind_is_made_small_enough(kind: str) -> None:
    made = fit(picture(kind, (1000, 300)), LIMITS)
    assert opened(made).size == (200, 60)
    assert made.mime_type in LIMITS.media_types


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "AVIF"])
def test_a_kind_that_models_do_not_take_becomes_one_that_they_do(kind: str) -> None:
    made = fit(picture(kind), LIMITS)
    assert (made.mime_type, opened(made).size) == ("image/png", (40, 30))


def test_what_a_model_takes_may_be_less() -> None:
    vision = {
        "supported_media_types": ["image/jpeg"],
        "max_prompt_image_size": 5000,
        "max_prompt_images": 3,
    }
    limits = LIMITS.narrowed({"limits": {"vision": vision}})
    assert limits == PictureLimits(("image/jpeg",), 5000, 200, 3)
    made = fit(picture(), limits)
    assert (made.mime_type, opened(made).size) == ("image/jpeg", (40, 30))


def test_a_picture_of_too_many_bytes_is_encoded_with_less_and_made_smaller_until_it_fits() -> None:
    limits = PictureLimits(most_bytes=4000, longest_side=200)
    made = fit(noise((200, 200)), limits)
    assert made.mime_type == "image/jpeg"
    assert len(made.data) <= 4000
    assert max(opened(made).size) < 200


def test_a_photo_is_turned_upright() -> None:
    made = fit(picture("JPEG", orientation=6), LIMITS)
    assert opened(made).size == (30, 40)
    assert opened(made).getexif().get(0x0112, 1) == 1


def test_what_moves_becomes_a_still_picture() -> None:
    made = fit(moving(), LIMITS)
    assert (made.mime_type, opened(made).size) == ("image/png", (40, 30))


def test_what_can_be_seen_through_stands_on_white_where_it_must_be_a_jpeg() -> None:
    glass = encoded(Image.new("RGBA", (30, 30), (0, 0, 0, 0)), "PNG")
    made = fit(glass, PictureLimits(("image/jpeg",)))
    assert opened(made).getpixel((15, 15)) == (255, 255, 255)


@pytest.mark.parametrize("pillow", [True, False])
def test_a_picture_that_would_fill_the_memory_is_refused_by_its_header(
    monkeypatch: pytest.MonkeyPatch, pillow: bool
) -> None:
    if not pillow:
        monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(TooLarge, match=f"50000x50000 pixels, and {MOST_PIXELS // 10**6} million are the"):
        fit(bomb(50_000), LIMITS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_cut_short_is_refused_or_whole_never_a_crash(kind: str) -> None:
    data = picture(kind, (300, 300))
    for end in range(1, len(data), max(1, len(data) // 40)):
        try:
            opened(fit(data[:end], LIMITS)).load()
        except InvalidParams as error:
            assert str(error) in (  # noqa: PT017
                "it is no picture of a known kind",
                "it is damaged, or of a kind that can't be read",
            )


def damaged(data: bytes, seed: int) -> bytes:
    """The picture with some bytes changed, most of them near its start, and sometimes cut short."""
    chance = random.Random(seed)
    made = bytearray(data[: chance.choice([len(data), chance.randrange(12, len(data))])])
    for _ in range(chance.choice([0, 1, 3, 20])):
        made[chance.randrange(min(len(made), chance.choice([40, 200, len(made)])))] = chance.randrange(256)
    return bytes(made)


@pytest.mark.parametrize("kind", [*KINDS, "moving"])
def test_whatever_is_damaged_is_refused_or_can_be_sent_never_a_crash(kind: str) -> None:
    data = moving() if kind == "moving" else picture(kind)
    for seed in range(300):
        try:
            opened(fit(damaged(data, seed), LIMITS))
        except (InvalidParams, TooLarge) as error:
            assert str(error)  # noqa: PT017


@pytest.mark.parametrize("form", FORMS)
def test_without_pillow_a_picture_that_lacks_its_end_is_refused_and_a_whole_one_is_not(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = FORMS[form]()
    kind = media_type(data)
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert fit(data, PictureLimits()) == Picture(str(kind), data)
    assert fit(data + b"\0\0", PictureLimits()).mime_type == kind
    for end in [*range(40, len(data), max(1, len(data) // 100)), len(data) - 1]:
        with pytest.raises(InvalidParams, match="it is damaged"):
            fit(data[:end], PictureLimits())


def test_without_pillow_a_wrong_checksum_of_a_png_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytearray(picture("PNG"))
    data[data.index(b"IDAT") + 8] ^= 0xFF
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InvalidParams, match="it is damaged"):
        fit(bytes(data), LIMITS)


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(InvalidParams, match="it is no picture of a known kind"):
        fit(b"hello", LIMITS)


def test_a_picture_that_is_damaged_in_the_middle_is_refused() -> None:
    data = bytearray(picture("PNG"))
    data[data.index(b"IDAT") + 8] ^= 0xFF
    with pytest.raises(InvalidParams, match="it is damaged"):
        fit(bytes(data), LIMITS)


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\x05IEND",
        b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(20) + b"\xff\xd9",
        b"RIFF\x04\0\0\0WEBPVP8 ",
    ],
    ids=["PNG", "JPEG", "WEBP"],
)
def test_a_picture_without_a_size_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidParams, match="it is damaged"):
        fit(data, LIMITS)


def test_without_pillow_what_fits_is_sent_and_the_rest_names_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = picture("JPEG", orientation=6)
    faults = {
        picture(size=(1000, 300)): TooLarge("it has 1000x300 pixels, and this model takes 200 a side"),
        noise((180, 180)): TooLarge("it has 0.1 MB, and this model takes 0.1 MB"),
        picture("BMP"): InvalidParams("this model does not take image/bmp"),
    }
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert fit(data, LIMITS) == Picture("image/jpeg", data)
    for picture_, fault in faults.items():
        with pytest.raises(type(fault)) as refused:
            fit(picture_, LIMITS)
        assert str(refused.value) == f"{fault}; {INSTALL} lets it be made fit"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
@pytest.mark.parametrize("size", [(1, 1), (640, 480), (3001, 7)])
def test_a_header_says_how_large_a_picture_is(kind: str, size: tuple[int, int]) -> None:
    assert pixels(picture(kind, size)) == size


def test_every_form_of_webp_and_a_photo_with_its_preview_say_how_large_they_are() -> None:
    image = Image.new("RGBA", (33, 21), (1, 2, 3, 4))
    assert pixels(encoded(image, "WEBP", lossless=True)) == (33, 21)
    assert pixels(encoded(image, "WEBP", quality=50)) == (33, 21)
    assert pixels(picture("JPEG", (33, 21), orientation=3)) == (33, 21)
