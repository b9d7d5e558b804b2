"""Event types, one module for each family, and the table of them all."""

from turnwright.protocol.events import (
    agents,
    commands,
    compaction,
    conversation,
    files,
    limits,
    questions,
    session,
    tools,
)
from turnwright.protocol.events.base import EVENTS, Data

__all__ = [
    "EVENTS",
    "Data",
    "agents",
    "commands",
    "compaction",
    "conversation",
    "files",
    "limits",
    "questions",
    "session",
    "tools",
]
