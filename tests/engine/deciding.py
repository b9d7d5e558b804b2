"""Permission requests, and what rules say of them."""

from pathlib import Path
from typing import Literal

from turnwright.engine.permissions.rules import Rule, Rules
from turnwright.protocol.permissions import CustomTool, Mcp, PermissionRequest, Read, Shell, Url, Write

Decision = Literal["allow", "deny"] | None
ANYWHERE = Path("/nowhere")


def shell(text: str) -> Shell:
    return Shell(
        full_command_text=text,
        intention="",
        commands=[],
        possible_paths=[],
        possible_urls=[],
        has_write_file_redirection=False,
        can_offer_session_approval=False,
    )


def write(path: str) -> Write:
    return Write(intention="", file_name=path, diff="", can_offer_session_approval=False)


def read(path: str) -> Read:
    return Read(intention="", path=path)


def url(address: str) -> Url:
    return Url(intention="", url=address)


def mcp(server: str, tool: str) -> Mcp:
    return Mcp(server_name=server, tool_name=tool, tool_title=tool)


def custom(tool: str) -> CustomTool:
    return CustomTool(tool_name=tool, tool_description="")


def decide(request: PermissionRequest, *, allow: str = "", deny: str = "", cwd: Path = ANYWHERE) -> Decision:
    """Decide by rules that are separated by commas."""
    rules = Rules(
        allow=tuple(Rule.parse(rule) for rule in allow.split(",") if rule),
        deny=tuple(Rule.parse(rule) for rule in deny.split(",") if rule),
    )
    return rules.decide(request, cwd)
