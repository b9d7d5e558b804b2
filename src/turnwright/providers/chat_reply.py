"""Building one reply from what a chat-completions server answers, whole or in pieces."""

from dataclasses import dataclass

from turnwright.protocol.messages import FinishReason, Reply, ToolCall, Usage
from turnwright.protocol.wire import Json, encode
from turnwright.providers.base import Progress
from turnwright.providers.loose import a_count, a_text, an_array, an_object
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
_REASONING = ("reasoning_content", "reasoning", "reasoning_text")


@dataclass
class _Call:
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
        fields = an_object(answer)
        self._model = a_text(fields.get("model")) or self._model
        self._id = a_text(fields.get("id")) or self._id
        if usage := an_object(fields.get("usage")):
            self._usage = _usage(usage)
        for position, choice in enumerate(map(an_object, an_array(fields.get("choices")))):
            self.empty = False
            self._take(choice, position)

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

    def _take(self, choice: dict[str, Json], position: int) -> None:
        message = an_object(choice.get("message"))
        piece = message or an_object(choice.get("delta"))
        # Nearly every piece is a bit of text and nothing else, so what it lacks should cost little.
        for name in _REASONING:
            if name in piece and (reasoning := a_text(piece[name])):
                self._add_reasoning(reasoning)
                break
        self._add_text(_content(piece.get("content")) or a_text(piece.get("refusal")))
        if "tool_calls" in piece:
            number = a_count(choice.get("index"))
            for index, call in enumerate(map(an_object, an_array(piece["tool_calls"]))):
                self._add_call(call, position if number is None else number, index if message else None)
        if reason := a_text(choice.get("finish_reason")):
            self.finished = True
            if self._finish not in CUT_SHORT:
                self._finish = _FINISH.get(reason, "unknown")

    def _add_text(self, delta: str) -> None:
        if delta:
            self._text.append(delta)
            if self._progress is not None:
                self._progress.text(delta)

    def _add_reasoning(self, delta: str) -> None:
        if delta:
            self._reasoning.append(delta)
            if self._progress is not None:
                self._progress.reasoning(delta)

    def _add_call(self, piece: dict[str, Json], choice: int, position: int | None) -> None:
        function = an_object(piece.get("function"))
        name = a_text(function.get("name"))
        arguments = function.get("arguments")
        index = a_count(piece.get("index")) if position is None else position
        call = self._continued(choice, index, a_text(piece.get("id")), name)
        if call is None:
            call = _Call(choice, index, a_text(piece.get("id")))
            self._calls.append(call)
        if name != call.name:
            call.name += name
        call.id = call.id or a_text(piece.get("id"))
        # Some servers send the arguments as an object, which the interface doesn't allow.
        written = an_object(arguments)
        call.arguments += encode(written).decode() if written else a_text(arguments)

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


def _content(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "".join(a_text(an_object(part).get("text")) for part in an_array(content))


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
