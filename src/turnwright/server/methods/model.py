"""Which model answers."""

from typing import Any

from turnwright.engine.session import Session
from turnwright.protocol.events.session import ModelChange
from turnwright.server.methods.base import Methods, SessionParams
from turnwright.server.methods.models import describe

methods = Methods()
METHODS = methods.table


class SwitchParams(SessionParams):
    """A model, and how hard it shall think."""

    model_id: str
    reasoning_effort: str | None = None
    model_capabilities: dict[str, Any] | None = None


@methods.session("session.model.switchTo", SwitchParams)
async def switch(session: Session, params: SwitchParams) -> dict[str, Any]:
    """Let another model answer from the next call on."""
    previous = session.journal.state.model
    session.choice.switch(params.model_id, params.reasoning_effort, params.model_capabilities)
    session.emit(ModelChange(params.model_id, previous, params.reasoning_effort))
    return {"modelId": params.model_id, "deferred": False}


@methods.session("session.model.getCurrent", SessionParams)
async def current(session: Session, params: SessionParams) -> dict[str, Any]:
    """The model that answers next."""
    state = session.journal.state
    found = {"modelId": state.model or session.model or None, "reasoningEffort": session.reasoning_effort}
    return {name: value for name, value in found.items() if value is not None}


class EffortParams(SessionParams):
    """How hard the model shall think."""

    reasoning_effort: str


@methods.session("session.model.setReasoningEffort", EffortParams)
async def set_reasoning_effort(session: Session, params: EffortParams) -> dict[str, str]:
    """Let the model that answers think as hard, from the next call on."""
    session.options.reasoning_effort = params.reasoning_effort
    model = session.journal.state.model
    if model:
        session.emit(ModelChange(model, model, params.reasoning_effort))
    return {"reasoningEffort": params.reasoning_effort}


@methods.session("session.model.list", SessionParams)
async def listing(session: Session, params: SessionParams) -> dict[str, Any]:
    """The models that the session can switch to: of the endpoint that it uses, and of its named providers."""
    return {"list": [describe(info) for info in await session.choice.listed()]}
