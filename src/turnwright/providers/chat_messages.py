"""Conversations as the JSON of chat completions, encoded once and only ever appended to."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence

from turnwright.errors import InvalidParams
from turnwright.protocol.messages import Assistant, Image, Message, ToolCall, ToolOutput, User
from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers.base import ModelRequest
from turnwright.providers.loose import a_text, an_object

MOST_CONVERSATIONS = 256
MOST_BYTES = 64 * 1024 * 1024


class Conversation:
    """The messages of one conversation: `encoded` is the inside of a JSON array, `call_ids` all ids in it."""

    def __init__(self, request: ModelRequest) -> None:
        self.encoded = bytearray()
        self.call_ids: set[str] = set()
        self._fixed = _fixed(request)
        self._count = 0
        self._last: Message | None = None
        self._paths: dict[str, str] = {}
        self._images: list[Json] = []
        self._vision = request.vision
        if request.system:
            self._append({"role": "system", "content": request.system})

    def precedes(self, request: ModelRequest) -> bool:
        """Whether the request's messages begin with what is encoded here."""
        count = self._count
        return (
            _fixed(request) == self._fixed
            and len(request.messages) >= count
            and (count == 0 or request.messages[count - 1] == self._last)
        )

    def extend(self, messages: Sequence[Message]) -> None:
        """Encode what comes after the messages that are here already."""
        for message in messages[self._count :]:
            if not isinstance(message, ToolOutput):
                self._show_images()
            self._encode(message)
            self._last = message
        self._show_images()
        self._count = len(messages)

    def _encode(self, message: Message) -> None:
        match message:
            case User(images=images) if images and self._vision:
                text = [_text(message.content)] if message.content else []
                self._append({"role": "user", "content": [*text, *_named_pictures(images)]})
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

    def _call(self, call: ToolCall) -> Json:
        self.call_ids.add(call.id)
        arguments, parsed = _legal_arguments(call.arguments)
        if path := a_text(parsed.get("path")):
            self._paths[call.id] = path
        function = {"name": _legal_name(call.name), "arguments": arguments}
        return {"id": call.id, "type": "function", "function": function}

    def _append(self, message: Json) -> None:
        if self.encoded:
            self.encoded += b","
        self.encoded += encode(message)


class Conversations:
    """The conversations that were sent lately, so that a request costs only its new messages."""

    def __init__(self, *, most: int = MOST_CONVERSATIONS, most_bytes: int = MOST_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._known: OrderedDict[str, Conversation] = OrderedDict()

    def of(self, request: ModelRequest) -> Conversation:
        """Return the request's conversation with all its messages encoded."""
        known = self._known.pop(request.conversation, None)
        if known is None or not known.precedes(request):
            known = Conversation(request)
        known.extend(request.messages)
        self._known[request.conversation] = known
        self._forget()
        return known

    def _forget(self) -> None:
        held = sum(len(known.encoded) for known in self._known.values())
        while len(self._known) > 1 and (len(self._known) > self._most or held > self._most_bytes):
            _, oldest = self._known.popitem(last=False)
            held -= len(oldest.encoded)


def encode_request(request: ModelRequest, conversation: Conversation) -> bytes:
    """Return the body: first what stays from turn to turn, the messages last.

    A server's prompt cache, and ours, can then use the whole body of the last turn as a prefix.
    """
    fields: dict[str, Json] = {"model": request.model}
    if request.stream:
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.reasoning_effort:
        fields["reasoning_effort"] = request.reasoning_effort
    if request.tools:
        fields["tools"] = [{"type": "function", "function": tool} for tool in request.tools]
    return b"".join((encode(fields)[:-1], b',"messages":[', conversation.encoded, b"]}"))


def _fixed(request: ModelRequest) -> tuple[int, str, bool]:
    """What must stay the same for the messages encoded so far to stay as they are."""
    return request.epoch, request.system, request.vision


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _named_pictures(images: Iterable[Image]) -> Iterator[Json]:
    for image in images:
        if image.name:
            yield _text(image.name)
        yield _picture(image)


def _picture(image: Image) -> Json:
    return {"type": "image_url", "image_url": {"url": f"data:{image.mime_type};base64,{image.data}"}}


def _legal_name(name: str) -> str:
    """Return a name that servers accept; models make up others, and the history must still be taken."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unnamed"


def _legal_arguments(text: str) -> tuple[str, dict[str, Json]]:
    """Return arguments as the text of a JSON object, which chat templates demand, and that object."""
    if not text.strip():
        return "{}", {}
    try:
        value = loads(text)
    except InvalidParams:
        value = None
    if isinstance(value, dict):
        return text, an_object(value)
    return encode({"invalid_arguments": text}).decode(), {}
