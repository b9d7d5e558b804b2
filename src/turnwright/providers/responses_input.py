"""Conversations in the form of OpenAI's responses."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from turnwright.protocol.messages import (
    Assistant,
    Document,
    Image,
    Message,
    ToolCall,
    ToolDefinition,
    ToolOutput,
    User,
)
from turnwright.protocol.wire import Json, encode
from turnwright.providers.answer_schema import openai_format
from turnwright.providers.base import ModelRequest
from turnwright.providers.conversation import UNNAMED, Conversation, unshown
from turnwright.providers.reply_parts import Part, Said, parts_of
from turnwright.providers.tool_calls import legal_arguments, legal_id, legal_name

_REASONS = re.compile(r"\b(o\d|gpt-[5-9]|gpt-oss|codex)(?!.*chat)")
"""Models that reason; others refuse to be asked for their reasoning."""


def source(model: str) -> str:
    """Name the origin of a reply's own parts."""
    return f"openai/{model}"


class ResponsesConversation(Conversation):
    """The `input` of a request; the system prompt is not in it."""

    def _encode(self, message: Message) -> None:
        match message:
            case User(images=images, documents=documents) if documents or (images and self._vision):
                text = [_text(message.content)] if message.content else []
                pictures = _named_pictures(images) if self._vision else ()
                self._append(_message("user", [*text, *map(self._document, documents), *pictures]))
            case User():
                self._append(_message("user", message.content))
            case ToolOutput():
                output: Json = message.content
                if message.images and self._vision:
                    output = [_text(message.content), *map(_picture, message.images)]
                call_id = legal_id(message.call_id)
                self._append({"type": "function_call_output", "call_id": call_id, "output": output})
            case Assistant():
                for part in parts_of(message, source(self._model)):
                    self._append(self._item(part))

    def _document(self, document: Document) -> Json:
        if not self._documents:
            return _text(unshown(document))
        data = f"data:{document.mime_type};base64,{document.data}"
        return {"type": "input_file", "filename": document.name or UNNAMED, "file_data": data}

    def _item(self, part: Part) -> Json:
        match part:
            case Said():
                said = _message("assistant", part.text)
                return {**said, "phase": part.phase} if part.phase else said
            case ToolCall():
                self.call_ids.add(part.id)
                arguments, _ = legal_arguments(part.arguments)
                call = {"type": "function_call", "call_id": legal_id(part.id), "name": legal_name(part.name)}
                return {**call, "arguments": arguments}
            case _:
                return part

    def _append(self, item: Json) -> None:
        if self.encoded:
            self.encoded += b","
        self.encoded += encode(item)


def encode_request(request: ModelRequest, conversation: ResponsesConversation, most: int | None) -> bytes:
    """Return the body, the input last; `most` is the bound of the output in tokens, None for the server's.

    Nothing is stored on the server: the model's reasoning comes encrypted, and goes back so.
    """
    fields: dict[str, Json] = {"model": request.model, "store": False}
    if request.stream:
        fields["stream"] = True
    if most is not None:
        fields["max_output_tokens"] = most
    if request.reasoning_effort:
        fields["reasoning"] = {"effort": request.reasoning_effort, "summary": "auto"}
    if request.reasoning_effort or _REASONS.search(request.model):
        fields["include"] = ["reasoning.encrypted_content"]
    if request.tools:
        fields["parallel_tool_calls"] = True
    if wanted := openai_format(request.answer_schema):
        fields["text"] = {"format": {"type": "json_schema", **wanted}}
    if request.system:
        fields["instructions"] = request.system
    tools = conversation.tools(request, _tools)
    return b"".join((encode(fields)[:-1], tools, b',"input":[', conversation.encoded, b"]}"))


def _tools(tools: Iterable[ToolDefinition]) -> Json:
    return [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            "strict": False,
        }
        for tool in tools
    ]


def encode_message(request: ModelRequest, conversation: ResponsesConversation, most: int | None) -> bytes:
    """Return the same as a message for a websocket, over which every answer streams without being asked to.

    Source: OpenAI's reference, "WebSocket events", `response.create`.
    """
    body = encode_request(msgspec.structs.replace(request, stream=False), conversation, most)
    return b'{"type":"response.create",' + body.removeprefix(b"{")


def _message(role: str, content: Json) -> dict[str, Json]:
    return {"type": "message", "role": role, "content": content}


def _text(text: str) -> Json:
    return {"type": "input_text", "text": text}


def _named_pictures(images: Iterable[Image]) -> Iterator[Json]:
    for image in images:
        if image.name:
            yield _text(image.name)
        yield _picture(image)


def _picture(image: Image) -> Json:
    url = f"data:{image.mime_type};base64,{image.data}"
    return {"type": "input_image", "image_url": url, "detail": "auto"}
