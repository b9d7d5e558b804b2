"""What a tool asks leave for, in the wire's shapes."""

from typing import Any

from turnwright.protocol.wire import Wire


class Read(Wire, tag="read", tag_field="kind"):
    """Read a file or search a folder."""

    intention: str
    path: str
    tool_call_id: str | None = None


class Write(Wire, tag="write", tag_field="kind"):
    """Create or change a file; `diff` is in git's form."""

    intention: str
    file_name: str
    diff: str
    can_offer_session_approval: bool
    new_file_contents: str | None = None
    tool_call_id: str | None = None


class ShellCommand(Wire):
    """A command as the reference names it: the whole text, and whether it only reads."""

    identifier: str
    read_only: bool


class ShellSegment(Wire):
    """One simple command of a command line; `identifier` is its first word."""

    identifier: str
    full_command_text: str


class PossibleUrl(Wire):
    """An address that a command mentions."""

    url: str


class Shell(Wire, tag="shell", tag_field="kind"):
    """Run a command line."""

    full_command_text: str
    intention: str
    commands: list[ShellCommand]
    possible_paths: list[str]
    possible_urls: list[PossibleUrl]
    has_write_file_redirection: bool
    can_offer_session_approval: bool
    command_segments: list[ShellSegment] | None = None
    warning: str | None = None
    tool_call_id: str | None = None


class CustomTool(Wire, tag="custom-tool", tag_field="kind"):
    """Call a tool of the app."""

    tool_name: str
    tool_description: str
    args: Any = None
    tool_call_id: str | None = None


class Url(Wire, tag="url", tag_field="kind"):
    """Fetch an address."""

    intention: str
    url: str
    tool_call_id: str | None = None


class Mcp(Wire, tag="mcp", tag_field="kind"):
    """Call a tool of an MCP server."""

    server_name: str
    tool_name: str
    tool_title: str
    args: Any = None
    read_only: bool = False
    tool_call_id: str | None = None


class Memory(Wire, tag="memory", tag_field="kind"):
    """Store a fact for later sessions."""

    action: str
    fact: str
    subject: str | None = None
    citations: str | None = None
    tool_call_id: str | None = None


PermissionRequest = Read | Write | Shell | CustomTool | Url | Mcp | Memory


PERMISSION_KINDS = ("read", "write", "shell", "url", "mcp", "custom-tool", "memory")
