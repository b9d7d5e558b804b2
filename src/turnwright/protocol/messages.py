"""What a model is told and what it answers, in no vendor's form."""

from typing import Literal

import msgspec

from turnwright.protocol.citations import Citations


class ToolCall(msgspec.Struct, frozen=True):
    """One call that a model asked for; `arguments` is its JSON text, as the model wrote it."""

    id: str
    name: str
    arguments: str


class Image(msgspec.Struct, frozen=True):
    """A picture: `data` is base64; `name` goes before it where the model should know it."""

    mime_type: str
    data: str
    name: str = ""


class Document(msgspec.Struct, frozen=True):
    """A file that models read whole, text and pictures, such as a PDF; `data` is base64."""

    mime_type: str
    data: str
    name: str = ""


class User(msgspec.Struct, frozen=True):
    """What the user said, or what the runtime says in the user's place; `own` is what the user wrote."""

    content: str
    images: tuple[Image, ...] = ()
    documents: tuple[Document, ...] = ()
    own: str = ""


class Assistant(msgspec.Struct, frozen=True):
    """One reply of the model; `reasoning_data` is what its provider wants back with it, in its own form."""

    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    reasoning_data: str | None = None


class ToolOutput(msgspec.Struct, frozen=True):
    """The one result of one call."""

    call_id: str
    content: str
    images: tuple[Image, ...] = ()


Message = User | Assistant | ToolOutput


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool as a model sees it; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: dict[str, object]


class Usage(msgspec.Struct, frozen=True):
    """Tokens of one model call, as the provider counted them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


FinishReason = Literal["stop", "tool_calls", "length", "content_filter", "unknown"]


class Reply(msgspec.Struct, frozen=True):
    """A model's whole answer to one request; `reasoning_data` is for its provider alone.

    `cut_call` names a call that is left out, as the output limit or a filter cut it off.
    """

    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    finish_reason: FinishReason = "stop"
    model: str | None = None
    api_call_id: str | None = None
    provider_call_id: str | None = None
    reasoning_data: str | None = None
    citations: Citations | None = None
    cut_call: str | None = None
