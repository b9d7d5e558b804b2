"""Pictures in results: fit for the model, or a word on why they are not there."""

import base64
import binascii

import anyio.to_thread
import msgspec

from turnwright.engine import pictures
from turnwright.errors import InvalidParams, TooLarge
from turnwright.protocol.messages import Image
from turnwright.providers.media_limits import PictureLimits
from turnwright.tools.base import ToolResult


async def with_fit_pictures(result: ToolResult, limits: PictureLimits) -> ToolResult:
    """The result with pictures that can be sent; what a tool of the app gives may be anything."""
    return await anyio.to_thread.run_sync(_fitted, result, limits)


def _fitted(result: ToolResult, limits: PictureLimits) -> ToolResult:
    kept: list[Image] = []
    notes: list[str] = []
    for image in result.images:
        try:
            data = base64.b64decode(image.data, validate=True)
            fit = pictures.fit(data, limits)
        except (InvalidParams, TooLarge) as error:
            notes.append(f"The picture can't be shown: {error}.")
        except (binascii.Error, ValueError):
            notes.append("The picture can't be shown: it is not valid base64.")
        else:
            same = fit.data is data and fit.mime_type == image.mime_type
            kept.append(image if same else _image(fit, image.name))
    return msgspec.structs.replace(result, text="\n".join([result.text, *notes]), images=tuple(kept))


def _image(picture: pictures.Picture, name: str) -> Image:
    return Image(picture.mime_type, base64.b64encode(picture.data).decode(), name)
