"""The session's plan, a file that people and the model share."""

from typing import Any

import anyio.to_thread

from turnwright.engine.session import Session
from turnwright.protocol.events.session import PlanChanged
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table


@methods.session("session.plan.read", SessionParams)
async def read(session: Session, params: SessionParams) -> dict[str, Any]:
    """The plan, if there is one."""
    path = session.folder / "plan.md"
    try:
        content = await anyio.to_thread.run_sync(path.read_text, "utf-8", "replace")
    except FileNotFoundError:
        return {"exists": False, "content": None, "path": str(path)}
    return {"exists": True, "content": content, "path": str(path)}


class PlanParams(SessionParams):
    """A plan's text."""

    content: str


@methods.session("session.plan.update", PlanParams)
async def update(session: Session, params: PlanParams) -> None:
    """Write the plan."""
    path = session.folder / "plan.md"
    existed = path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    await anyio.to_thread.run_sync(path.write_text, params.content, "utf-8")
    session.emit(PlanChanged("update" if existed else "create"))


@methods.session("session.plan.delete", SessionParams)
async def delete(session: Session, params: SessionParams) -> None:
    """Remove the plan."""
    path = session.folder / "plan.md"
    if path.exists():
        path.unlink()
    session.emit(PlanChanged("delete"))
