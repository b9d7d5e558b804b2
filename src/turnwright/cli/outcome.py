"""What a run came to, gathered from its events."""

from typing import Any

from turnwright.errors import ConfigError, SessionFailed, TurnwrightError
from turnwright.protocol.counted import counted
from turnwright.protocol.envelope import Event
from turnwright.protocol.events.conversation import AssistantMessage, AssistantUsage, TurnStart
from turnwright.protocol.events.session import SessionError, TaskComplete, UsageRecord, Warned
from turnwright.store.usage import Usage

EMPTY_REPLY = "empty_reply"
"""The type of the warning, and of the error, for a run whose last reply was empty and stayed so."""


class Outcome:
    """The answer, the turns and the tokens, so far."""

    def __init__(self) -> None:
        self.turns = 0
        self.emptiness: SessionFailed | None = None
        self._answer = ""
        self._summary: str | None = None
        self._status: int | None = None
        self._paid = Usage()
        self._usage = dict.fromkeys(
            ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"), 0
        )

    def hear(self, event: Event) -> None:
        """Take the next event."""
        match event.data:
            case TurnStart():
                self.turns += 1
                self._status = self.emptiness = None
            case AssistantMessage(content=content) if content.strip() and event.agent_id is None:
                self._answer = content
            case AssistantMessage(tool_requests=[]) if event.agent_id is None:
                self.emptiness = SessionFailed(EMPTY_REPLY, "The model gave no answer: its reply was blank.")
            case AssistantUsage() as usage:
                self._usage["inputTokens"] += usage.input_tokens
                self._usage["outputTokens"] += usage.output_tokens
                self._usage["cacheReadTokens"] += usage.cache_read_tokens
                self._usage["cacheWriteTokens"] += usage.cache_write_tokens
                self._usage["reasoningTokens"] += usage.reasoning_tokens or 0
            case UsageRecord(usage=usage):
                self._paid.record(usage)
            case TaskComplete(summary=summary):
                self._summary = summary
            case Warned(warning_type=kind, message=message) if kind == EMPTY_REPLY and event.agent_id is None:
                self.emptiness = SessionFailed(EMPTY_REPLY, message)
            case SessionError(status_code=status) if event.agent_id is None:
                self._status = status
            case _:
                pass

    @property
    def text(self) -> str:
        """The last answer, or else the summary with which the model ended its task."""
        return self._answer or self._summary or ""

    @property
    def cost(self) -> float | None:
        """US dollars, sub-agents and summaries included; None when no price is known."""
        return self._paid.cost or None

    def summary(self, seconds: float) -> str:
        """Turns, tokens, time, and money where it is known, in a line."""
        used = self._usage
        turns = counted(self.turns, "turn")
        line = f"{turns}, {used['inputTokens']:,} tokens in, {used['outputTokens']:,} out, {seconds:.1f} s"
        return line if self.cost is None else f"{line}, ${self.cost:.4f}"

    def as_object(self, session_id: str | None, failure: TurnwrightError | None) -> dict[str, Any]:
        """What `--output-format json` prints; without a session nothing was run."""
        error: dict[str, Any] | None = None
        if failure is not None:
            error = {"type": _kind(failure), "message": str(failure), "statusCode": self._status}
        return {
            "result": self.text,
            "sessionId": session_id,
            "turns": self.turns,
            "usage": self._usage,
            "cost": self.cost,
            "taskComplete": self._summary,
            "error": error,
        }


def _kind(failure: TurnwrightError) -> str:
    match failure:
        case SessionFailed(error_type=kind):
            return kind
        case ConfigError():
            return "configuration"
        case _:
            return "runtime"
