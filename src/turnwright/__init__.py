"""Turnwright: an agent runtime that accounts for every turn.

What an app needs is here; each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "AppTool",
    "AutopilotLimits",
    "BinaryResult",
    "Client",
    "ConfigError",
    "ConnectionClosed",
    "CustomAgent",
    "Event",
    "Hooks",
    "InfiniteSessions",
    "InvalidParams",
    "Invocation",
    "PermissionDecision",
    "PermissionRequest",
    "Plan",
    "PlanDecision",
    "ProviderOptions",
    "RequestFailed",
    "SectionOverride",
    "Session",
    "SessionFailed",
    "SessionInfo",
    "SessionNotFound",
    "SystemMessageOptions",
    "ToolResult",
    "TurnwrightError",
    "UserAnswer",
    "UserQuestion",
    "approve_all",
    "reject",
    "tool",
]

if TYPE_CHECKING:
    from turnwright.client.client import Client
    from turnwright.client.handlers import (
        Hooks,
        Invocation,
        PermissionDecision,
        Plan,
        PlanDecision,
        UserAnswer,
        UserQuestion,
        approve_all,
        reject,
    )
    from turnwright.client.listing import SessionInfo
    from turnwright.client.session import Session
    from turnwright.client.tool import AppTool, BinaryResult, ToolResult, tool
    from turnwright.errors import (
        ConfigError,
        ConnectionClosed,
        InvalidParams,
        RequestFailed,
        SessionFailed,
        SessionNotFound,
        TurnwrightError,
    )
    from turnwright.protocol.envelope import Event
    from turnwright.protocol.options import (
        AutopilotLimits,
        CustomAgent,
        InfiniteSessions,
        ProviderOptions,
        SectionOverride,
        SystemMessageOptions,
    )
    from turnwright.protocol.permissions import PermissionRequest

_HOMES = {
    "turnwright.client.client": ("Client",),
    "turnwright.client.handlers": (
        "Hooks",
        "Invocation",
        "PermissionDecision",
        "Plan",
        "PlanDecision",
        "UserAnswer",
        "UserQuestion",
        "approve_all",
        "reject",
    ),
    "turnwright.client.listing": ("SessionInfo",),
    "turnwright.client.session": ("Session",),
    "turnwright.client.tool": ("AppTool", "BinaryResult", "ToolResult", "tool"),
    "turnwright.errors": (
        "ConfigError",
        "ConnectionClosed",
        "InvalidParams",
        "RequestFailed",
        "SessionFailed",
        "SessionNotFound",
        "TurnwrightError",
    ),
    "turnwright.protocol.envelope": ("Event",),
    "turnwright.protocol.options": (
        "AutopilotLimits",
        "CustomAgent",
        "InfiniteSessions",
        "ProviderOptions",
        "SectionOverride",
        "SystemMessageOptions",
    ),
    "turnwright.protocol.permissions": ("PermissionRequest",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
