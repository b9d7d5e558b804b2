"""Event types, one module for each family, and the table of them all."""

from turnwright.protocol.events import conversation, questions, session, tools
from turnwright.protocol.events.base import EVENTS, Data

__all__ = ["EVENTS", "Data", "conversation", "questions", "session", "tools"]
