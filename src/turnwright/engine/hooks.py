"""Hooks of the client: called before and after what the session does, and checked."""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import msgspec

from turnwright.engine.clients import Client
from turnwright.engine.journal.journal import Journal
from turnwright.errors import InvalidParams, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.events.tools import HookEnd, HookStart
from turnwright.protocol.wire import Wire

HOOK_TIMEOUT = 60.0

log = logging.getLogger(__name__)


class PreToolUse(Wire):
    """What a preToolUse hook may decide."""

    permission_decision: Literal["allow", "deny", "ask"] | None = None
    permission_decision_reason: str | None = None
    modified_args: dict[str, Any] | None = None
    additional_context: str | None = None
    suppress_output: bool | None = None


class PostToolUse(Wire):
    """What a postToolUse or postToolUseFailure hook may change."""

    modified_result: Any = None
    additional_context: str | None = None
    suppress_output: bool | None = None


class PromptSubmitted(Wire):
    """What a userPromptSubmitted hook may change."""

    modified_prompt: str | None = None
    additional_context: str | None = None
    suppress_output: bool | None = None


class PromptTransformed(Wire):
    """What a userPromptTransformed hook may change."""

    modified_transformed_prompt: str | None = None


class SessionStarted(Wire):
    """What a sessionStart hook may add."""

    additional_context: str | None = None
    modified_config: dict[str, Any] | None = None


class AgentStop(Wire):
    """Whether the agent may stop; with `block` the reason goes to the model as a message."""

    decision: Literal["block", "allow"] | None = None
    reason: str | None = None


class Noted(Wire):
    """An answer whose content has no effect."""


Output = TypeVar("Output", bound=Wire)


class HookFailed(TurnwrightError):
    """A hook raised, timed out, hung up or answered in the wrong shape."""


class Hooks:
    """The session's hooks: those of the first attached client that has any."""

    def __init__(self, journal: Journal, session_id: str, find: Callable[[], Client | None]) -> None:
        self._journal = journal
        self._session_id = session_id
        self._find = find

    def __bool__(self) -> bool:
        """Whether any client has hooks now."""
        return self._find() is not None

    async def invoke(
        self, hook_type: str, kind: type[Output], cwd: Path, fields: Mapping[str, Any]
    ) -> Output:
        """Call the hook and return its answer; an empty one when there is no hook. Raises HookFailed."""
        client = self._find()
        if client is None:
            return kind()
        given = {
            **fields,
            "sessionId": self._session_id,
            "timestamp": int(time.time() * 1000),
            "cwd": str(cwd),
        }
        invocation = wire.new_id()
        self._journal.emit(HookStart(invocation, hook_type, given))
        try:
            params = {"sessionId": self._session_id, "hookType": hook_type, "input": given}
            await self._journal.published()
            raw = await client.call("hooks.invoke", params, timeout=HOOK_TIMEOUT)
            output = _output(raw)
            answer = kind() if output is None else wire.convert(output, kind)
        except (TurnwrightError, TimeoutError) as error:
            log.warning("the %s hook of session %s failed: %s", hook_type, self._session_id, error)
            reason = "its answer has the wrong shape" if isinstance(error, InvalidParams) else "it failed"
            self._journal.emit(HookEnd(invocation, hook_type, False, error={"message": reason}))
            raise HookFailed(f"{hook_type} hook: {reason}") from error
        self._journal.emit(HookEnd(invocation, hook_type, True, output=output))
        return answer

    async def notify(
        self, hook_type: str, kind: type[Output], cwd: Path, fields: Mapping[str, Any]
    ) -> Output:
        """Call a hook whose failure changes nothing but leaves a line in the log."""
        try:
            return await self.invoke(hook_type, kind, cwd, fields)
        except HookFailed:
            return kind()


def _output(raw: msgspec.Raw) -> Any:
    """The hook's own answer inside the client's."""
    answer = wire.loads(raw)
    if answer is None:
        return None
    if not isinstance(answer, dict):
        raise InvalidParams("must be an object with an output")
    return cast("dict[str, Any]", answer).get("output")
