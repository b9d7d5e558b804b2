"""Building one reply from what Anthropic's messages answer, whole or in pieces."""

from msgspec import Struct, field

from turnwright.protocol.messages import FinishReason, Reply, ToolCall, Usage
from turnwright.protocol.wire import Json, encode
from turnwright.providers.anthropic_citations import citations_of
from turnwright.providers.base import Progress
from turnwright.providers.loose import a_count, a_text, an_array, an_object
from turnwright.providers.reply_parts import Part, Said, reply_of

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


class _Block(Struct):
    """A block of content: its first form, and what came to it in pieces."""

    first: dict[str, Json]
    pieces: list[str] = field(default_factory=list[str])
    citations: list[Json] = field(default_factory=list[Json])
    signature: str = ""

    @property
    def kind(self) -> str:
        return a_text(self.first.get("type"))

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class MessagesReply:
    """Takes the events of an answer in the order in which they come; `progress` hears of text, if given."""

    def __init__(self, source: str, progress: Progress | None) -> None:
        self.empty = True
        self.finished = False
        self.closed = False
        self._source = source
        self._progress = progress
        self._blocks: dict[int, _Block] = {}
        self._message: dict[str, Json] = {}
        self._usage: dict[str, Json] = {}
        self._end: dict[str, Json] = {}

    def feed(self, answer: Json) -> None:
        """Take one event of a stream, or a whole message."""
        fields = an_object(answer)
        match fields.get("type"):
            case "content_block_delta":
                self._grow(a_count(fields.get("index")), an_object(fields.get("delta")))
            case "content_block_start":
                index = a_count(fields.get("index"))
                self._open(len(self._blocks) if index is None else index, fields.get("content_block"))
            case "message_start":
                self._begin(an_object(fields.get("message")))
            case "message_delta":
                self._count(fields)
                self._finish(an_object(fields.get("delta")))
            case "message_stop":
                self.closed = True
            case "message":
                self._begin(fields)
                for index, block in enumerate(an_array(fields.get("content"))):
                    self._open(index, block)
                self._finish(fields)
                self.closed = True
            case _:
                pass  # a ping, or what a later version adds

    def feed_usual(self, event: bytes) -> bool:
        """Take nothing: the events of this API are of many types, so none has a usual form."""
        return False

    def reply(self, *, taken: set[str], provider_call_id: str | None) -> Reply:
        """Return the whole; a call whose id is missing, or is in `taken` or used twice, gets a new one."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        parts = [part for block in blocks if (part := _part(block)) is not None]
        reason = a_text(self._end.get("stop_reason"))
        rest = Reply(
            content=a_text(an_object(self._end.get("stop_details")).get("explanation")),
            reasoning="".join(block.text for block in blocks if block.kind == "thinking"),
            usage=_usage(self._usage),
            finish_reason=_FINISH.get(reason, "unknown"),
            model=a_text(self._message.get("model")) or None,
            api_call_id=a_text(self._message.get("id")) or None,
            provider_call_id=provider_call_id,
            citations=citations_of((b.text, b.citations) for b in blocks if b.kind == "text"),
        )
        return reply_of(parts, rest, source=self._source, taken=taken)

    def _begin(self, message: dict[str, Json]) -> None:
        self.empty = False
        self._message = message
        self._count(message)

    def _finish(self, end: dict[str, Json]) -> None:
        if a_text(end.get("stop_reason")):
            self._end = end
            self.finished = True

    def _count(self, event: dict[str, Json]) -> None:
        self._usage |= {
            key: value for key, value in an_object(event.get("usage")).items() if value is not None
        }

    def _open(self, index: int, content: Json) -> None:
        first = an_object(content)
        block = self._blocks[index] = _Block(first, signature=a_text(first.get("signature")))
        block.citations += an_array(first.get("citations"))
        self._add(block, a_text(first.get(block.kind)))

    def _grow(self, index: int | None, delta: dict[str, Json]) -> None:
        block = self._blocks.get(-1 if index is None else index)
        if block is None:
            return
        match delta.get("type"):
            case "text_delta":
                self._add(block, a_text(delta.get("text")))
            case "thinking_delta":
                self._add(block, a_text(delta.get("thinking")))
            case "input_json_delta":
                self._add(block, a_text(delta.get("partial_json")))
            case "citations_delta":
                block.citations.append(delta.get("citation"))
            case "signature_delta":
                block.signature += a_text(delta.get("signature"))
            case _:
                pass

    def _add(self, block: _Block, piece: str) -> None:
        if not piece:
            return
        block.pieces.append(piece)
        if self._progress is not None and block.kind == "text":
            self._progress.text(piece)
        elif self._progress is not None and block.kind == "thinking":
            self._progress.reasoning(piece)


def _part(block: _Block) -> Part | None:
    match block.kind:
        case "text":
            return Said(block.text)
        case "tool_use":
            given = an_object(block.first.get("input"))
            arguments = block.text or (encode(given).decode() if given else "{}")
            return ToolCall(a_text(block.first.get("id")), a_text(block.first.get("name")), arguments)
        case "thinking" if block.signature:  # without one, the API refuses it
            return {"type": "thinking", "thinking": block.text, "signature": block.signature}
        case "redacted_thinking" if data := a_text(block.first.get("data")):
            return {"type": "redacted_thinking", "data": data}
        case _:
            return None


def _usage(usage: dict[str, Json]) -> Usage:
    """Count as the other APIs do: what was read from or written to the cache is input too."""
    read = a_count(usage.get("cache_read_input_tokens")) or 0
    written = a_count(usage.get("cache_creation_input_tokens")) or 0
    return Usage(
        input_tokens=(a_count(usage.get("input_tokens")) or 0) + read + written,
        output_tokens=a_count(usage.get("output_tokens")) or 0,
        cache_read_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=a_count(an_object(usage.get("output_tokens_details")).get("thinking_tokens")) or 0,
    )
