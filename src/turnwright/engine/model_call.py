"""One model call: the request, its deltas, its reply, and what it cost."""

import time
from typing import TYPE_CHECKING, Any

from turnwright.engine.models import routing
from turnwright.errors import InvalidParams, ProviderError
from turnwright.protocol import wire
from turnwright.protocol.events.conversation import (
    AssistantMessage,
    AssistantUsage,
    MessageDelta,
    MessageStart,
    ModelCallFailure,
    ModelCallStart,
    Reasoning,
    ReasoningDelta,
    StreamingDelta,
    ToolRequest,
)
from turnwright.protocol.events.session import UsageInfo, UsageRecord, Warned
from turnwright.protocol.messages import Reply, ToolCall
from turnwright.providers.base import ModelRequest
from turnwright.providers.transport import DIRECT

if TYPE_CHECKING:
    from turnwright.engine.session import Session


HINTS: dict[str, tuple[str, str]] = {
    "length": (
        "output_limit",
        "The reply was cut off at the model's output limit: ask for less at once, or raise the limit.",
    ),
    "content_filter": (
        "content_filter",
        "The model's server withheld the reply, or part of it: its content filter or the model refused.",
    ),
}


class Listener:
    """Turns a call's progress into events; shows deltas only when the session streams."""

    def __init__(self, s: "Session") -> None:
        self._s = s
        self._streaming = s.streaming
        self._started = time.perf_counter()
        self._bytes = 0
        self._reasoning_id: str | None = None
        self._shown = False
        self.message_id = wire.new_id()
        self.was_sent = False
        self.first_token: float | None = None
        self.input_characters = s.input_characters

    async def ready(self) -> None:
        await self._s.journal.settled(self._s.run.refusals)

    def sent(self) -> None:
        self.was_sent = True

    def text(self, delta: str) -> None:
        if self.first_token is None:
            self.first_token = self.elapsed()
        if not self._streaming:
            return
        self._bytes += len(delta.encode("utf-8", "replace"))
        self._s.emit(StreamingDelta(self._bytes))
        if not self._shown:
            self._shown = True
            self._s.emit(MessageStart(self.message_id))
        self._s.emit(MessageDelta(self.message_id, delta))

    def reasoning(self, delta: str) -> None:
        if self.first_token is None:
            self.first_token = self.elapsed()
        if self._streaming:
            self._reasoning_id = self._reasoning_id or wire.new_id()
            self._s.emit(ReasoningDelta(self._reasoning_id, delta))

    def elapsed(self) -> float:
        """Milliseconds since the call began."""
        return (time.perf_counter() - self._started) * 1000

    def finish(self, reply: Reply) -> None:
        """Show the reasoning whole, once the reply is."""
        if reply.reasoning:
            self._s.emit(Reasoning(self._reasoning_id or wire.new_id(), reply.reasoning))


async def call_model(s: "Session", listener: Listener) -> Reply:
    """Send the conversation and log the reply. Raises ProviderError, after saying what went wrong."""
    history, form = s.journal.history, s.run.form
    s.emit(_usage_info(s))
    s.emit(ModelCallStart(s.run.turn_id, s.model))
    route, endpoint = DIRECT, s.endpoint
    try:
        route = await s.route()
        request = ModelRequest(
            model=endpoint.wire_model,
            system=history.system,
            messages=history.messages,
            tools=s.tools.definitions,
            conversation=s.id,
            epoch=history.epoch,
            stream=s.streaming,
            route=route,
            reasoning_effort=s.reasoning_effort,
            vision=endpoint.vision,
            most_pictures=endpoint.pictures.most_in_request,
            documents=endpoint.documents,
            citations=bool(s.options.enable_citations),
            answer_schema=form.schema if form and form.by_endpoint else None,
            answer_only=form is not None and form.repairs > 0,
        )
        reply = await endpoint.provider.respond(request, listener)
    except ProviderError as error:
        s.emit(
            ModelCallFailure(
                source="top_level",
                model=s.model,
                status_code=error.status,
                duration_ms=round(listener.elapsed()),
                failure_kind="api" if error.status else "transport",
                error_message=error.detail or str(error),
                provider_call_id=error.provider_call_id,
                transport=routing.transport(route, endpoint.options),
            )
        )
        raise
    _log_reply(s, reply, listener)
    return reply


def _log_reply(s: "Session", reply: Reply, listener: Listener) -> None:
    s.run.answer = reply.content
    listener.finish(reply)
    usage = _usage(s, reply, listener)
    s.emit(usage)
    record = wire.builtins(usage)
    if usage.cost is not None:
        record["costUsd"] = usage.cost
    record["inputCharacters"] = listener.input_characters
    s.emit(UsageRecord(record))
    s.emit(
        AssistantMessage(
            listener.message_id,
            reply.content,
            [ToolRequest(call.id, call.name, "function", _arguments(call)) for call in reply.tool_calls],
            model=usage.model,
            interaction_id=s.run.interaction_id,
            turn_id=s.run.turn_id,
            output_tokens=reply.usage.output_tokens,
            reasoning_text=reply.reasoning or None,
            reasoning_opaque=reply.reasoning_data,
            request_id=reply.provider_call_id,
            api_call_id=reply.api_call_id,
            originating_message_id=s.run.message_id,
            citations=wire.builtins(reply.citations) if reply.citations else None,
        )
    )
    _hint(s, reply)


def _hint(s: "Session", reply: Reply) -> None:
    """Tell people why a reply is less than they may think."""
    if reply.finish_reason in HINTS:
        s.emit(Warned(*HINTS[reply.finish_reason]))


def _usage(s: "Session", reply: Reply, listener: Listener) -> AssistantUsage:
    counted = reply.usage
    return AssistantUsage(
        s.model,
        counted.input_tokens,
        counted.output_tokens,
        counted.cache_read_tokens,
        counted.cache_write_tokens,
        counted.reasoning_tokens,
        cost=s.endpoint.cost(counted),
        duration=round(listener.elapsed()),
        time_to_first_token_ms=listener.first_token,
        initiator="user" if s.run.turn_id == "0" else "agent",
        interaction_type="conversation-agent",
        api_call_id=reply.api_call_id,
        provider_call_id=reply.provider_call_id,
        finish_reason=reply.finish_reason,
        reasoning_effort=s.reasoning_effort,
    )


def _usage_info(s: "Session") -> UsageInfo:
    sizes = s.context_sizes()
    return UsageInfo(
        token_limit=sizes.limit,
        current_tokens=sizes.total,
        messages_length=len(s.journal.history.messages) + 1,
        system_tokens=sizes.system,
        conversation_tokens=sizes.conversation,
        tool_definitions_tokens=sizes.tools,
        is_initial=s.run.turn_id == "0",
    )


def _arguments(call: ToolCall) -> Any:
    """The call's arguments decoded; what isn't JSON stays text, and goes back to the model as it came."""
    if not call.arguments.strip():
        return {}
    try:
        return wire.loads(call.arguments)
    except InvalidParams:
        return call.arguments
