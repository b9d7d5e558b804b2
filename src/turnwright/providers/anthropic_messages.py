"""Conversations in the form of Anthropic's messages."""

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
from turnwright.providers.answer_schema import anthropic_format
from turnwright.providers.anthropic_thinking import thinking
from turnwright.providers.base import ModelRequest
from turnwright.providers.conversation import Conversation, unshown
from turnwright.providers.reply_parts import Part, Said, parts_of
from turnwright.providers.tool_calls import legal_arguments, legal_id, legal_name

_MARK: dict[str, Json] = {"cache_control": {"type": "ephemeral"}}
_MARK_INSIDE = b"," + encode(_MARK)[1:-1]
_LOOKBACK = 20
"""Blocks before a mark among which the server looks for the end of what it cached last."""

_NOTHING_SAID = "(no text)"
_THINKING = ("thinking", "redacted_thinking")


def source(model: str) -> str:
    """Name the origin of a reply's own parts."""
    return f"anthropic/{model}"


class MessagesConversation(Conversation):
    """The `messages` of a request, with roles that alternate.

    The last block of `encoded` and its message stay open, for a mark or for more of the same role.
    `bare_calls` tells whether the last calls were made without thinking first, `cites` whether answers come
    with citations of documents.
    """

    def __init__(self, request: ModelRequest) -> None:
        super().__init__(request)
        self.bare_calls = False
        self.cites = False
        self._citations = request.citations
        self._role = b""
        self._new_blocks = 0
        self._known_end = 0

    def extend(self, messages: Sequence[Message]) -> None:
        self._known_end = len(self.encoded)
        self._new_blocks = 0
        super().extend(messages)

    def marked(self) -> Iterator[bytes | bytearray]:
        """Yield the inside of the array: closed, and marked so that the next request finds it cached.

        The mark is the last thing in it, so that all before it can stay as it is. Only where the server
        would not find the last request's mark, as too much came since, that one is repeated.
        """
        known = self._known_end
        if known and self._new_blocks >= _LOOKBACK:
            yield self.encoded[:known]
            yield _MARK_INSIDE
            yield self.encoded[known:]
        else:
            yield self.encoded
        yield _MARK_INSIDE
        yield b"}]}"

    def _encode(self, message: Message) -> None:
        match message:
            case User():
                self._append(b"user", self._said_by_user(message) or [_text(_NOTHING_SAID)])
            case ToolOutput():
                self._append(b"user", [self._result(message)])
            case Assistant():
                blocks = [*map(self._block, _sendable(parts_of(message, source(self._model))))]
                while blocks and blocks[-1]["type"] in _THINKING:
                    blocks.pop()  # the API refuses a message that ends in it
                self.bare_calls = bool(message.tool_calls) and blocks[0].get("type") not in _THINKING
                self._append(b"assistant", blocks)

    def _said_by_user(self, message: User) -> list[Json]:
        text = [_text(message.content)] if message.content.strip() else []
        return [*text, *map(self._document, message.documents), *self._shown(message.images)]

    def _document(self, document: Document) -> Json:
        if not self._documents:
            return _text(unshown(document))
        self.cites = self.cites or self._citations
        source = {"type": "base64", "media_type": document.mime_type, "data": document.data}
        title = {"title": document.name} if document.name else {}
        citations = {"citations": {"enabled": True}} if self._citations else {}
        return {"type": "document", "source": source, **title, **citations}

    def _result(self, output: ToolOutput) -> Json:
        result = {"type": "tool_result", "tool_use_id": legal_id(output.call_id)}
        images = list(self._shown(output.images))
        if not output.content.strip():
            return {**result, "content": images} if images else result
        return {**result, "content": [_text(output.content), *images] if images else output.content}

    def _shown(self, images: Iterable[Image]) -> Iterator[Json]:
        for image in images if self._vision else ():
            if image.name.strip():
                yield _text(image.name)
            source = {"type": "base64", "media_type": image.mime_type, "data": image.data}
            yield {"type": "image", "source": source}

    def _block(self, part: Part) -> dict[str, Json]:
        match part:
            case Said():
                return _text(part.text)
            case ToolCall():
                self.call_ids.add(part.id)
                _, arguments = legal_arguments(part.arguments)
                call = {"type": "tool_use", "id": legal_id(part.id), "name": legal_name(part.name)}
                return {**call, "input": arguments}
            case _:
                return part

    def _append(self, role: bytes, blocks: Sequence[Json]) -> None:
        for block in blocks:
            if role == self._role:
                self.encoded += b"},"
            else:
                self.encoded += b'%b{"role":"%b","content":[' % (b"}]}," if self._role else b"", role)
                self._role = role
            self.encoded += encode(block)[:-1]
            self._new_blocks += 1


def encode_request(request: ModelRequest, conversation: MessagesConversation, most: int | None) -> bytes:
    """Return the body, the messages last; `most` is the bound of the output in tokens, None for ours."""
    fields: dict[str, Json] = {"model": request.model}
    fields |= thinking(request.model, request.reasoning_effort, most, possible=not conversation.bare_calls)
    wanted = anthropic_format(request.answer_schema)
    if wanted and not conversation.cites:  # the API refuses both at once
        fields["output_config"] = {**fields.get("output_config", {}), "format": wanted}
    if request.stream:
        fields["stream"] = True
    if request.system.strip():
        fields["system"] = [{**_text(request.system), **_MARK}]
    tools = conversation.tools(request, _tools)
    return b"".join((encode(fields)[:-1], tools, b',"messages":[', *conversation.marked(), b"]}"))


def _tools(tools: Iterable[ToolDefinition]) -> Json:
    shaped: list[dict[str, Json]] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in tools
    ]
    shaped[-1] |= _MARK
    return shaped


def _sendable(parts: Iterable[Part]) -> Iterator[Part]:
    """Leave out text that the API refuses: none, or nothing but space."""
    return (part for part in parts if not isinstance(part, Said) or part.text.strip())


def _text(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}
