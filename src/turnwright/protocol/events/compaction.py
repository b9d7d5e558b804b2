"""Events of a conversation that is summarised because it has grown too long, or begun anew."""

from typing import Any, Literal

from turnwright.protocol.events.base import Data, event

Trigger = Literal["threshold", "context_limit", "manual"]


@event("session.compaction_start")
class CompactionStart(Data):
    """A summary was asked for; counts are tokens, estimated, before it."""

    current_tokens: int
    token_limit: int
    system_tokens: int
    conversation_tokens: int
    tool_definitions_tokens: int
    trigger: Trigger
    model: str | None = None


@event("session.compaction_complete")
class CompactionComplete(Data):
    """The first `messages_removed` messages gave way to the summary; or, without success, nothing changed.

    `user_messages` is what the user wrote up to there, as the model is shown it beside the summary. Tokens
    used are estimated where the model's server doesn't count them.
    """

    success: bool
    trigger: Trigger
    error: str | None = None
    summary_content: str | None = None
    messages_removed: int | None = None
    tokens_removed: int | None = None
    pre_compaction_tokens: int | None = None
    pre_compaction_messages_length: int | None = None
    post_compaction_tokens: int | None = None
    system_tokens: int | None = None
    conversation_tokens: int | None = None
    tool_definitions_tokens: int | None = None
    token_limit: int | None = None
    checkpoint_number: int | None = None
    checkpoint_path: str | None = None
    request_id: str | None = None
    custom_instructions: str | None = None
    user_messages: list[str] | None = None
    compaction_tokens_used: Any = None


@event("session.context_cleared")
class ContextCleared(Data):
    """What the model sees begins anew, with the system prompt and `initial_message`.

    That is the user's message `message_id`; it comes first, even if a crash kept it from being logged.
    Without one, as the log was cut before it, whatever is said next comes first.
    """

    messages_cleared: int
    initial_message: str | None = None
    message_id: str | None = None
