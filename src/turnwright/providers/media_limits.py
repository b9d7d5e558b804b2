"""Which pictures and documents the APIs take, as their makers document it."""

from typing import Any
from urllib.parse import urlsplit

import msgspec

from turnwright.protocol.options import ProviderOptions
from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_count, a_text, an_array, an_object

LARGEST_DOCUMENT = 20 * 1024 * 1024
"""Bytes: in base64, with a conversation around it, within the 32 MB that Anthropic takes in a request."""


class PictureLimits(msgspec.Struct, frozen=True):
    """What a picture must be to be sent; by default what every API takes, so that models can be switched.

    The strictest is Anthropic: 5 MB in base64, 2000 pixels a side where a request holds many, and 100 in a
    request. OpenAI itself makes pictures smaller beyond 2048.
    """

    media_types: tuple[str, ...] = ("image/png", "image/jpeg", "image/gif", "image/webp")
    most_bytes: int = 3_750_000
    longest_side: int = 2000
    most_in_request: int = 100

    def narrowed(self, capabilities: Json) -> "PictureLimits":
        """These limits, or those that are stricter in a model's `capabilities`, as endpoints list them."""
        listed = an_object(an_object(an_object(capabilities).get("limits")).get("vision"))
        if not listed:
            return self
        wanted: list[Any] = an_array(listed.get("supported_media_types"))
        kinds = [a_text(kind) for kind in wanted]
        return PictureLimits(
            tuple(kind for kind in self.media_types if not kinds or kind in kinds) or self.media_types,
            min(self.most_bytes, a_count(listed.get("max_prompt_image_size")) or self.most_bytes),
            self.longest_side,
            min(self.most_in_request, a_count(listed.get("max_prompt_images")) or self.most_in_request),
        )


def reads_documents(options: ProviderOptions) -> bool:
    """Whether the endpoint takes PDFs as they are: by chat completions, OpenAI's own servers alone do."""
    if options.type == "anthropic" or options.wire_api == "responses":
        return True
    return options.type == "openai" and (urlsplit(options.base_url).hostname or "") == "api.openai.com"
