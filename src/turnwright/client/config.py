"""What an app sets for a session, and how that goes over the wire."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict, cast

import msgspec

from turnwright.client.handlers import Hooks, PermissionHandler, PlanHandler, UserInputHandler
from turnwright.client.subscriptions import EventHandler
from turnwright.client.tool import AppTool
from turnwright.errors import InvalidParams
from turnwright.protocol.events.session import Mode
from turnwright.protocol.explanation import no_field
from turnwright.protocol.options import (
    AutopilotLimits,
    CustomAgent,
    InfiniteSessions,
    ProviderOptions,
    SessionOptions,
    SystemMessageOptions,
)


class SessionConfig(TypedDict, total=False):
    """Options of `create_session` and `resume_session`; what is left out is the runtime's default.

    Without `on_permission` nothing is asked: reading in the working directory is allowed, all else is denied.
    `working_directory` is by default the current one. A `system_message` that is a text is appended to the
    runtime's own. `agent` names the one that is to answer: of `custom_agents`, or of a file. `on_event` hears
    of every event from the first one on.
    """

    model: str | None
    provider: ProviderOptions | None
    reasoning_effort: str | None
    streaming: bool
    mode: Mode | None
    client_name: str | None
    working_directory: str | Path | None
    system_message: str | SystemMessageOptions | None
    tools: Sequence[AppTool[..., Any]]
    available_tools: Sequence[str] | None
    excluded_tools: Sequence[str] | None
    allow_tools: Sequence[str]
    deny_tools: Sequence[str]
    custom_agents: Sequence[CustomAgent] | None
    agent: str | None
    autopilot: AutopilotLimits
    infinite_sessions: InfiniteSessions | None
    enable_citations: bool
    enable_file_change_tracking: bool
    on_permission: PermissionHandler | None
    on_user_input: UserInputHandler | None
    on_exit_plan: PlanHandler | None
    on_event: EventHandler | None
    hooks: Hooks


class Handlers(msgspec.Struct, frozen=True):
    """The part of a session's options that stays in the app."""

    tools: dict[str, AppTool[..., Any]] = {}
    on_permission: PermissionHandler | None = None
    on_user_input: UserInputHandler | None = None
    on_exit_plan: PlanHandler | None = None
    hooks: Hooks = msgspec.field(default_factory=lambda: Hooks())


_PLAIN = (
    "model",
    "provider",
    "reasoning_effort",
    "streaming",
    "mode",
    "client_name",
    "agent",
    "infinite_sessions",
    "enable_citations",
    "enable_file_change_tracking",
)
_LISTS = ("available_tools", "excluded_tools", "allow_tools", "deny_tools", "custom_agents")


def handlers(config: SessionConfig) -> Handlers:
    """The app's functions. Raises InvalidParams when a name is given twice, or there is no such option."""
    _check_names("options", config, SessionConfig)
    tools: dict[str, AppTool[..., Any]] = {}
    for tool in config.get("tools", ()):
        if tool.spec.name in tools:
            raise InvalidParams(f"tools: two of them are named {tool.spec.name}")
        tools[tool.spec.name] = tool
    hooks = config.get("hooks") or Hooks()
    _check_names("hooks", hooks, Hooks)
    return Handlers(
        tools, config.get("on_permission"), config.get("on_user_input"), config.get("on_exit_plan"), hooks
    )


def _check_names(where: str, given: Iterable[str], kind: type[Any]) -> None:
    for name in given:
        if name not in kind.__annotations__:
            raise InvalidParams(f"{where}: {no_field(name, kind.__annotations__)}")


def options(config: SessionConfig, session_id: str) -> SessionOptions:
    """The options as the runtime takes them; relative folders are this process's."""
    given = cast("dict[str, Any]", config)
    found = SessionOptions(session_id=session_id)
    for name in _PLAIN:
        if name in given:
            setattr(found, name, given[name])
    for name in _LISTS:
        if given.get(name) is not None:
            setattr(found, name, list(given[name]))
    if "autopilot" in config:
        found.autopilot = config["autopilot"]
    folder = config.get("working_directory")
    if folder is not None:
        found.working_directory = str(Path(folder).expanduser().absolute())
    message = config.get("system_message")
    found.system_message = SystemMessageOptions(content=message) if isinstance(message, str) else message
    if "tools" in config:
        found.tools = [tool.spec for tool in config["tools"]]
    found.request_permission = config.get("on_permission") is not None
    found.request_user_input = config.get("on_user_input") is not None
    found.request_exit_plan_mode = config.get("on_exit_plan") is not None
    found.hooks = bool(config.get("hooks"))
    return found
