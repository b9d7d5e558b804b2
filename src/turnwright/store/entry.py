"""What a list tells of a session."""

import msgspec

from turnwright.protocol.events.session import Context
from turnwright.store.state import State


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One session in a list; times are ISO 8601. `title` is its name, or else what it was first asked."""

    session_id: str
    start: str
    modified: str
    title: str | None
    name: str | None
    client_name: str | None
    context: Context | None

    @classmethod
    def of(cls, session_id: str, state: State) -> "Entry":
        """A session's entry, from its state."""
        start = state.start
        return cls(
            session_id,
            start.start_time if start else state.modified,
            state.modified,
            state.name or state.title,
            state.name,
            start.client_name if start else None,
            state.context,
        )
