"""Asking the person at the terminal whether something may be done."""

from pathlib import Path

from turnwright.cli.output import brief
from turnwright.cli.terminal import Terminal
from turnwright.protocol.permissions import (
    CustomTool,
    Mcp,
    Memory,
    PermissionRequest,
    Read,
    Shell,
    Url,
    Write,
)
from turnwright.tools.paths import inside

CHOICES = "[y]es, [n]o, [a]lways in this session, or say what to do instead: "
CHOICES_ONCE = "[y]es, [n]o, or say what to do instead: "
DIFF_LINES = 40
NOT_AVAILABLE = "user-not-available"


async def decide(terminal: Terminal, request: PermissionRequest, folder: Path) -> dict[str, str]:
    """The decision in the wire's shape. Reading in the folder needs no question."""
    if isinstance(request, Read) and inside(folder, Path(request.path)):
        return {"kind": "approve-once"}
    lasting = not isinstance(request, Write | Shell) or request.can_offer_session_approval
    answer = await terminal.ask(question(request), CHOICES if lasting else CHOICES_ONCE)
    match answer and answer.lower():
        case None:
            return {"kind": NOT_AVAILABLE}
        case "y" | "yes":
            return {"kind": "approve-once"}
        case "a" | "always" if lasting:
            return {"kind": "approve-for-session"}
        case "n" | "no" | "":
            return {"kind": "reject"}
        case _:
            return {"kind": "reject", "feedback": answer or ""}


def question(request: PermissionRequest) -> str:
    """What is asked, with everything that the answer depends on: the whole command, the change itself."""
    match request:
        case Shell(full_command_text=command, warning=warning):
            note = f"\n  ({warning})" if warning else ""
            return f"\nRun this command?\n{_indented(command)}{note}"
        case Write(file_name=name, diff=diff):
            return f"\nWrite {name}?\n{_indented(diff, DIFF_LINES)}"
        case Read(path=path):
            return f"\nRead {path}, outside of the folder?"
        case Url(url=url):
            return f"\nFetch {url}?"
        case Mcp(server_name=server, tool_name=tool, args=arguments):
            return f"\nCall {tool} of {server}?\n{_indented(brief(str(arguments), 1000))}"
        case CustomTool(tool_name=tool, args=arguments):
            return f"\nCall {tool}?\n{_indented(brief(str(arguments), 1000))}"
        case Memory(fact=fact):
            return f"\nRemember this for later sessions?\n{_indented(fact)}"


def _indented(text: str, limit: int | None = None) -> str:
    lines = text.splitlines()
    shown = [f"  {line}" for line in lines[:limit]]
    if len(lines) > len(shown):
        shown.append(f"  ({len(lines) - len(shown)} more lines)")
    return "\n".join(shown)
