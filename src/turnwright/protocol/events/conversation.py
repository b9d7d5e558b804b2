"""Events of the conversation: system, user, assistant, and the turns."""

from typing import Any, Literal

import msgspec

from turnwright.protocol.events.base import Data, event
from turnwright.protocol.wire import Wire


@event("system.message")
class SystemMessage(Data):
    """The system prompt from here on."""

    content: str
    role: Literal["system", "developer"]
    interaction_id: str | None = None


@event("user.message")
class UserMessage(Data):
    """What the user said; the model reads `transformed_content` where there is one.

    The final answer of its run must fit `response_schema`, if there is one.
    """

    content: str
    transformed_content: str | None = None
    source: str | None = None
    message_id: str | None = None
    attachments: list[Any] = msgspec.field(default_factory=list[Any])
    supported_native_document_mime_types: list[str] = msgspec.field(default_factory=list[str])
    agent_mode: str | None = None
    is_autopilot_continuation: bool | None = None
    delivery: str | None = None
    interaction_id: str | None = None
    turn_id: str | None = None
    parent_agent_task_id: str | None = None
    response_schema: dict[str, Any] | None = None


class ToolRequest(Wire):
    """A call that the model asked for; `arguments` is decoded, or the text as it came if it isn't JSON."""

    tool_call_id: str
    name: str
    type: str
    arguments: Any = None
    intention_summary: str | None = None
    tool_title: str | None = None


@event("assistant.turn_start")
class TurnStart(Data):
    """A model call begins; turn ids count from "0" with every prompt."""

    turn_id: str
    interaction_id: str | None = None


@event("assistant.turn_end")
class TurnEnd(Data):
    """A model call and its tools are done.

    `request_sent` is false when no connection could be made, or when the disk refused what was logged before.
    """

    turn_id: str
    request_sent: bool = True


@event("assistant.turn_retry", ephemeral=True)
class TurnRetry(Data):
    """The next turn repeats a call that failed."""

    turn_id: str
    model: str | None = None
    reason: str | None = None


@event("assistant.intent", ephemeral=True)
class Intent(Data):
    """What the model is about to do, in its own words."""

    intent: str


@event("assistant.streaming_delta", ephemeral=True)
class StreamingDelta(Data):
    """How much of the reply has come, in bytes of UTF-8."""

    total_response_size_bytes: int


@event("assistant.message_start", ephemeral=True)
class MessageStart(Data):
    """The reply's first text."""

    message_id: str


@event("assistant.message_delta", ephemeral=True)
class MessageDelta(Data):
    """More of the reply's text."""

    message_id: str
    delta_content: str


@event("assistant.reasoning_delta", ephemeral=True)
class ReasoningDelta(Data):
    """More of the model's reasoning."""

    reasoning_id: str
    delta_content: str


@event("assistant.reasoning", ephemeral=True)
class Reasoning(Data):
    """The model's whole reasoning."""

    reasoning_id: str
    content: str


@event("assistant.message")
class AssistantMessage(Data):
    """One whole reply of the model, with the calls it asks for.

    `citations` has the shape of `turnwright.protocol.citations`, in logs of others what they have there.
    """

    message_id: str
    content: str
    tool_requests: list[ToolRequest]
    model: str | None = None
    interaction_id: str | None = None
    turn_id: str | None = None
    output_tokens: int | None = None
    reasoning_text: str | None = None
    reasoning_opaque: str | None = None
    request_id: str | None = None
    api_call_id: str | None = None
    originating_message_id: str | None = None
    citations: Any = None
    parent_tool_call_id: str | None = None


@event("assistant.usage", ephemeral=True)
class AssistantUsage(Data):
    """What one model call cost: tokens, and milliseconds."""

    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int | None = None
    cost: float | None = None
    duration: int | None = None
    time_to_first_token_ms: float | None = None
    inter_token_latency_ms: float | None = None
    initiator: str | None = None
    interaction_type: str | None = None
    api_call_id: str | None = None
    provider_call_id: str | None = None
    api_endpoint: str | None = None
    finish_reason: str | None = None
    parent_tool_call_id: str | None = None
    reasoning_effort: str | None = None


@event("model.call_start", ephemeral=True)
class ModelCallStart(Data):
    """The request is about to go out."""

    turn_id: str
    model: str | None = None


@event("model.call_failure", ephemeral=True)
class ModelCallFailure(Data):
    """A model call failed; a retry or `session.error` follows."""

    source: str
    model: str | None = None
    status_code: int | None = None
    duration_ms: int | None = None
    failure_kind: str | None = None
    error_message: str | None = None
    provider_call_id: str | None = None
    transport: str | None = None
