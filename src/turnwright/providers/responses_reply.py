"""Building one reply from what OpenAI's responses answer, whole or in pieces."""

from turnwright.protocol.messages import FinishReason, Reply, ToolCall, Usage
from turnwright.protocol.wire import Json
from turnwright.providers.base import Progress
from turnwright.providers.loose import a_count, a_text, an_array, an_object
from turnwright.providers.reply_parts import Part, Said, reply_of

_INCOMPLETE: dict[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_REASONING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete")
_KEPT = ("type", "id", "summary", "content", "encrypted_content")
_BETWEEN_SUMMARIES = "\n\n"


class ResponsesReply:
    """Takes the events of an answer in the order in which they come; `progress` hears of text, if given.

    The items that the stream gave whole are the reply; an answer that was not streamed has them all in one.
    """

    def __init__(self, source: str, progress: Progress | None) -> None:
        self.empty = True
        self.finished = False
        self.closed = False
        self._source = source
        self._progress = progress
        self._heard = False
        self._items: dict[int, dict[str, Json]] = {}
        self._response: dict[str, Json] = {}

    def feed(self, answer: Json) -> None:
        """Take one event of a stream, or a whole response."""
        fields = an_object(answer)
        kind = a_text(fields.get("type"))
        if kind in _TEXT:
            self._hear(text=a_text(fields.get("delta")))
        elif kind in _REASONING:
            self._hear(reasoning=a_text(fields.get("delta")))
        elif kind == "response.reasoning_summary_part.added" and a_count(fields.get("summary_index")):
            self._hear(reasoning=_BETWEEN_SUMMARIES)
        elif kind == "response.output_item.done":
            self.empty = False
            index = a_count(fields.get("output_index"))
            self._items[len(self._items) if index is None else index] = an_object(fields.get("item"))
        elif kind in _ENDS:
            self._finish(an_object(fields.get("response")))
        elif fields.get("object") == "response":
            self._finish(fields)

    def feed_usual(self, event: bytes) -> bool:
        """Take nothing: the events of this API are of many types, so none has a usual form."""
        return False

    def reply(self, *, taken: set[str], provider_call_id: str | None) -> Reply:
        """Return the whole; a call whose id is missing, or is in `taken` or used twice, gets a new one."""
        items = self._whole_items()
        parts = [part for item in items for part in _parts(item)]
        rest = Reply(
            reasoning=_reasoning(items),
            usage=_usage(an_object(self._response.get("usage"))),
            finish_reason=self._finish_reason(),
            model=a_text(self._response.get("model")) or None,
            api_call_id=a_text(self._response.get("id")) or None,
            provider_call_id=provider_call_id,
        )
        return reply_of(parts, rest, source=self._source, taken=taken)

    def _finish(self, response: dict[str, Json]) -> None:
        self.empty = False
        self.finished = self.closed = True
        self._response = response
        if not self._heard:
            items = self._whole_items()
            self._hear(reasoning=_reasoning(items))
            said = (part.text for item in items for part in _parts(item) if isinstance(part, Said))
            self._hear(text="".join(said))

    def _whole_items(self) -> list[dict[str, Json]]:
        if self._items:
            return [self._items[index] for index in sorted(self._items)]
        return list(map(an_object, an_array(self._response.get("output"))))

    def _finish_reason(self) -> FinishReason:
        match self._response.get("status"):
            case "completed":
                return "stop"
            case "incomplete":
                reason = a_text(an_object(self._response.get("incomplete_details")).get("reason"))
                return _INCOMPLETE.get(reason, "unknown")
            case _:
                return "unknown"

    def _hear(self, *, text: str = "", reasoning: str = "") -> None:
        self._heard = True
        if self._progress is None:
            return
        if reasoning:
            self._progress.reasoning(reasoning)
        if text:
            self._progress.text(text)


def _parts(item: dict[str, Json]) -> list[Part]:
    match item.get("type"):
        case "message":
            return [Said(_texts(item.get("content")), a_text(item.get("phase")))]
        case "function_call":
            call_id, name = a_text(item.get("call_id")), a_text(item.get("name"))
            return [ToolCall(call_id, name, a_text(item.get("arguments")))]
        case "reasoning" if _can_go_back(item):
            return [{name: item[name] for name in _KEPT if item.get(name) is not None}]
        case _:
            return []


def _can_go_back(reasoning: dict[str, Json]) -> bool:
    """Whether a reasoning item has what the API demands when it gets it back, and is of use to it then.

    That is its text encrypted, as OpenAI gives it, or open, as servers of open models do.
    """
    is_whole = a_text(reasoning.get("id")) and isinstance(reasoning.get("summary"), list)
    return bool(
        is_whole and (a_text(reasoning.get("encrypted_content")) or _is_open(reasoning.get("content")))
    )


def _is_open(content: Json) -> bool:
    parts = list(map(an_object, an_array(content)))
    return bool(parts) and all(
        part.get("type") == "reasoning_text" and a_text(part.get("text")) for part in parts
    )


def _texts(content: Json) -> str:
    parts = map(an_object, an_array(content))
    return "".join(a_text(part.get("text")) or a_text(part.get("refusal")) for part in parts)


def _reasoning(items: list[dict[str, Json]]) -> str:
    """The summaries of the model's reasoning, or the reasoning itself where a server shows it."""
    return "".join(
        _BETWEEN_SUMMARIES.join(a_text(an_object(part).get("text")) for part in an_array(item.get("summary")))
        or _texts(item.get("content"))
        for item in items
        if item.get("type") == "reasoning"
    )


def _usage(usage: dict[str, Json]) -> Usage:
    read = an_object(usage.get("input_tokens_details"))
    written = an_object(usage.get("output_tokens_details"))
    return Usage(
        input_tokens=a_count(usage.get("input_tokens")) or 0,
        output_tokens=a_count(usage.get("output_tokens")) or 0,
        cache_read_tokens=a_count(read.get("cached_tokens")) or 0,
        cache_write_tokens=a_count(read.get("cache_write_tokens")) or 0,
        reasoning_tokens=a_count(written.get("reasoning_tokens")) or 0,
    )
