"""The session's events for clients that ask for them, and what a client wants to hear of."""

from typing import Any, Literal

import msgspec

from turnwright.engine.journal.event_feed import Page
from turnwright.engine.session import Session
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event
from turnwright.server.methods.base import Methods, SessionParams

methods = Methods()
METHODS = methods.table

MOST_EVENTS = 1000
LONGEST_WAIT = 30.0


class ReadParams(SessionParams):
    """Where to go on, and which events; `wait_ms` only counts at the end, going forward."""

    cursor: str | None = None
    max: int = 200
    wait_ms: float = 0
    types: list[str] | Literal["*"] = "*"
    direction: Literal["forward", "backward"] = "forward"
    include_ephemeral: bool = True
    agent_scope: Literal["primary", "all"] = "all"
    agent_ids: list[str] | None = None


@methods.session("session.eventLog.read", ReadParams)
async def read(session: Session, params: ReadParams) -> dict[str, Any]:
    """A page of events, oldest first. A cursor that points nowhere begins anew, and says so."""
    if not 1 <= params.max <= MOST_EVENTS:
        raise InvalidParams(f"max: must be 1 to {MOST_EVENTS}")

    def wanted(event: Event) -> bool:
        return _is_wanted(event, params)

    if params.direction == "backward":
        return _page(session.feed.read_back(params.cursor, params.max, wanted))
    wait = min(max(params.wait_ms / 1000, 0.0), LONGEST_WAIT)
    return _page(await session.feed.read(params.cursor, params.max, wait, wanted))


@methods.session("session.eventLog.tail", SessionParams)
async def tail(session: Session, params: SessionParams) -> dict[str, str]:
    """A cursor after everything so far."""
    return {"cursor": session.feed.tail()}


class InterestParams(SessionParams):
    """A type of event."""

    event_type: str


@methods.session("session.eventLog.registerInterest", InterestParams)
async def register_interest(session: Session, params: InterestParams) -> dict[str, str]:
    """Say that a client handles a type of event; the handle takes it back."""
    handle = f"interest-{wire.new_id()}"
    session.interests[handle] = params.event_type
    return {"handle": handle}


class ReleaseParams(SessionParams):
    """What `registerInterest` gave."""

    handle: str


@methods.session("session.eventLog.releaseInterest", ReleaseParams)
async def release_interest(session: Session, params: ReleaseParams) -> dict[str, bool]:
    """Take an interest back; doing so twice is fine."""
    session.interests.pop(params.handle, None)
    return {"success": True}


def _is_wanted(event: Event, params: ReadParams) -> bool:
    if event.ephemeral and not params.include_ephemeral:
        return False
    if params.types != "*" and event.type not in params.types:
        return False
    if params.agent_ids:
        return event.agent_id in params.agent_ids
    if params.agent_scope == "primary":
        return event.agent_id is None or event.type.startswith("subagent.")
    return True


def _page(page: Page) -> dict[str, Any]:
    return {
        "events": [msgspec.Raw(event.encoded) for event in page.events],
        "cursor": page.cursor,
        "hasMore": page.has_more,
        "cursorStatus": "expired" if page.expired else "ok",
    }
