"""Conversations in the form of chat completions."""

from collections.abc import Iterable, Iterator, Sequence

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
from turnwright.providers.loose import a_text
from turnwright.providers.tool_calls import legal_arguments, legal_name


class ChatConversation(Conversation):
    """The `messages` of a request, the system prompt among them."""

    def __init__(self, request: ModelRequest) -> None:
        super().__init__(request)
        self._paths: dict[str, str] = {}
        self._images: list[Json] = []
        if request.system:
            self._append({"role": "system", "content": request.system})

    def extend(self, messages: Sequence[Message]) -> None:
        super().extend(messages)
        self._show_images()

    def _encode(self, message: Message) -> None:
        if not isinstance(message, ToolOutput):
            self._show_images()
        match message:
            case User(images=images, documents=documents) if documents or (images and self._vision):
                text = [_text(message.content)] if message.content else []
                pictures = _named_pictures(images) if self._vision else ()
                parts = [*text, *map(self._document, documents), *pictures]
                self._append({"role": "user", "content": parts})
            case User():
                self._append({"role": "user", "content": message.content})
            case Assistant(tool_calls=()):
                self._append({"role": "assistant", "content": message.content})
            case Assistant():
                calls = [self._call(call) for call in message.tool_calls]
                self._append({"role": "assistant", "content": message.content or None, "tool_calls": calls})
            case ToolOutput():
                self._append({"role": "tool", "tool_call_id": message.call_id, "content": message.content})
                if message.images and self._vision:
                    path = self._paths.get(message.call_id)
                    label = f"Image file at path {path}" if path else f"Image from call {message.call_id}"
                    self._images += [_text(label), *map(_picture, message.images)]

    def _show_images(self) -> None:
        """Tell of the images that tools gave: a tool's message can't hold any, the next user's can."""
        if self._images:
            self._append({"role": "user", "content": self._images})
            self._images = []

    def _document(self, document: Document) -> Json:
        if not self._documents:
            return _text(unshown(document))
        data = f"data:{document.mime_type};base64,{document.data}"
        return {"type": "file", "file": {"filename": document.name or UNNAMED, "file_data": data}}

    def _call(self, call: ToolCall) -> Json:
        self.call_ids.add(call.id)
        arguments, parsed = legal_arguments(call.arguments)
        if path := a_text(parsed.get("path")):
            self._paths[call.id] = path
        function = {"name": legal_name(call.name), "arguments": arguments}
        return {"id": call.id, "type": "function", "function": function}

    def _append(self, message: Json) -> None:
        if self.encoded:
            self.encoded += b","
        self.encoded += encode(message)


def encode_request(
    request: ModelRequest, conversation: ChatConversation, *, format_is_of_answers: bool = False
) -> bytes:
    """Return the body: first what stays from turn to turn, the messages last.

    A server's prompt cache, and ours, can then use the whole body of the last turn as a prefix. A format goes
    out only where it is one `of_answers`, or where nothing but an answer can come: other servers hold to it
    all that the model writes, which then could call no tool.
    """
    fields: dict[str, Json] = {"model": request.model}
    if request.stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.reasoning_effort:
        fields["reasoning_effort"] = request.reasoning_effort
    if request.tools and request.answer_only:
        fields["tool_choice"] = "none"
    wanted = openai_format(request.answer_schema)
    if wanted and (format_is_of_answers or request.answer_only or not request.tools):
        fields["response_format"] = {"type": "json_schema", "json_schema": wanted}
    tools = conversation.tools(request, _tools)
    return b"".join((encode(fields)[:-1], tools, b',"messages":[', conversation.encoded, b"]}"))


def _tools(tools: Iterable[ToolDefinition]) -> Json:
    return [{"type": "function", "function": tool} for tool in tools]


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _named_pictures(images: Iterable[Image]) -> Iterator[Json]:
    for image in images:
        if image.name:
            yield _text(image.name)
        yield _picture(image)


def _picture(image: Image) -> Json:
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"}}
