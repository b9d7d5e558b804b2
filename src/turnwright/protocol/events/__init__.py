"""Event types, one module for each family, and the table of them all."""

from turnwright.protocol.events import (
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
    "commands",
    "compaction",
    "conversation",
    "files",
    "limits",
    "questions",
    "session",
    "tools",
]
