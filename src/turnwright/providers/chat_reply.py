"""Building one reply from what a chat-completions server answers, whole or in pieces."""

from msgspec import Struct

from turnwright.protocol.messages import FinishReason, Reply, ToolCall, Usage
from turnwright.protocol.wire import Json
from turnwright.providers.base import Progress
from turnwright.providers.chat_chunk import CallPiece, Chunk, Delta, Function, chunk_of, usual_chunk
from turnwright.providers.loose import a_count, an_object
from turnwright.providers.tool_calls import CUT_SHORT, is_json, with_unique_ids

_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "end_turn": "stop",
    "eos": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}
_NOTHING = Function()


class _Call(Struct):
    choice: int
    index: int | None
    id: str
    name: str = ""
    arguments: str = ""


class ChatReply:
    """Takes pieces of an answer in the order in which they come; `progress` hears of text, if given.

    Several choices are one reply: servers that answer with several assistant messages in a row send each
    as a choice, and nobody asks for alternatives.
    """

    def __init__(self, progress: Progress | None) -> None:
        self.finished = False
        self.closed = False
        self.empty = True
        self._progress = progress
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._finish: FinishReason = "stop"
        self._usage = Usage()
        self._model: str | None = None
        self._id: str | None = None

    def feed(self, answer: Json) -> None:
        """Take one chunk of a stream, or a whole answer."""
        self._take(chunk_of(answer))

    def feed_usual(self, event: bytes) -> bool:
        """Take the data of an event of a stream if it has the API's usual form; tell whether it had."""
        chunk = usual_chunk(event)
        if chunk is None:
            return False
        self._take(chunk)
        return True

    def reply(self, *, taken: set[str], provider_call_id: str | None) -> Reply:
        """Return the whole; a call whose id is missing, or is in `taken` or used twice, gets a new one."""
        calls = sorted(self._calls, key=lambda call: call.choice)
        halves = [call for call in calls if self._finish in CUT_SHORT and not is_json(call.arguments)]
        calls = [call for call in calls if call not in halves]
        finish = "tool_calls" if calls and self._finish not in CUT_SHORT else self._finish
        return Reply(
            content="".join(self._text),
            tool_calls=with_unique_ids((ToolCall(c.id, c.name, c.arguments) for c in calls), taken),
            reasoning="".join(self._reasoning),
            usage=self._usage,
            finish_reason=finish,
            model=self._model,
            api_call_id=self._id,
            provider_call_id=provider_call_id,
            cut_call=halves[-1].name if halves else None,
        )

    def _take(self, chunk: Chunk) -> None:
        self._model = chunk.model or self._model
        self._id = chunk.id or self._id
        if chunk.usage:
            self._usage = _usage(chunk.usage)
        for position, choice in enumerate(chunk.choices or ()):
            self.empty = False
            if choice.delta is not None:
                self._add(choice.delta, position if choice.index is None else choice.index)
            if choice.finish_reason:
                self.finished = True
                if self._finish not in CUT_SHORT:
                    self._finish = _FINISH.get(choice.finish_reason, "unknown")

    def _add(self, delta: Delta, choice: int) -> None:
        if reasoning := delta.reasoning_content or delta.reasoning or delta.reasoning_text:
            self._reasoning.append(reasoning)
            if self._progress is not None:
                self._progress.reasoning(reasoning)
        if text := delta.content or delta.refusal:
            self._text.append(text)
            if self._progress is not None:
                self._progress.text(text)
        for piece in delta.tool_calls or ():
            self._add_call(piece, choice)

    def _add_call(self, piece: CallPiece, choice: int) -> None:
        function = piece.function or _NOTHING
        name, call_id = function.name or "", piece.id or ""
        call = self._continued(choice, piece.index, call_id, name)
        if call is None:
            call = _Call(choice, piece.index, call_id)
            self._calls.append(call)
        if name != call.name:
            call.name += name
        call.id = call.id or call_id
        call.arguments += function.arguments or ""

    def _continued(self, choice: int, index: int | None, call_id: str, name: str) -> _Call | None:
        """Find the call that a piece goes on with, if it is not a new one.

        Servers leave out indexes or ids, or number all calls 0: so another id with a name starts a call,
        and so does a name without an index after a call that is complete.
        """
        same = [c for c in self._calls if c.choice == choice and (index is None or c.index == index)]
        if not same:
            return None
        last = same[-1]
        if call_id and last.id and call_id != last.id:
            return next((c for c in same if c.id == call_id), None if name else last)
        if index is None and name and last.name and is_json(last.arguments):
            return None
        return last


def _usage(usage: dict[str, Json]) -> Usage:
    prompt = an_object(usage.get("prompt_tokens_details"))
    completion = an_object(usage.get("completion_tokens_details"))
    return Usage(
        input_tokens=a_count(usage.get("prompt_tokens")) or 0,
        output_tokens=a_count(usage.get("completion_tokens")) or 0,
        cache_read_tokens=a_count(prompt.get("cached_tokens"), usage.get("prompt_cache_hit_tokens")) or 0,
        cache_write_tokens=a_count(
            prompt.get("cache_creation_tokens"), usage.get("cache_creation_input_tokens")
        )
        or 0,
        reasoning_tokens=a_count(completion.get("reasoning_tokens"), usage.get("reasoning_tokens")) or 0,
    )
