"""Which model answers."""

from typing import Any

from turnwright.engine.session import Session
from turnwright.protocol.events.session import ModelChange
from turnwright.server.methods.base import Methods, SessionParams

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
    session.switch_model(params.model_id, params.reasoning_effort, params.model_capabilities)
    session.emit(ModelChange(params.model_id, previous, params.reasoning_effort))
    return {"modelId": params.model_id, "deferred": False}


@methods.session("session.model.getCurrent", SessionParams)
async def current(session: Session, params: SessionParams) -> dict[str, Any]:
    """The model that answers next."""
    state = session.journal.state
    found = {"modelId": state.model or session.model or None, "reasoningEffort": session.reasoning_effort}
    return {name: value for name, value in found.items() if value is not None}
