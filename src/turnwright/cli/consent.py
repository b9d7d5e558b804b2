"""Asking the person at the terminal: may this be done, what is the answer, is the plan good?"""

from pathlib import Path

from turnwright.cli.output import brief
from turnwright.cli.terminal import Terminal
from turnwright.client.handlers import (
    Invocation,
    PermissionDecision,
    Plan,
    PlanDecision,
    UserQuestion,
    reject,
)
from turnwright.protocol.counted import counted
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
PLAN_CHOICES = "Go on with it? [y]es, [n]o, or say what to change: "
DIFF_LINES = 40


class Consent:
    """The answers of the person at `terminal`, for a session that works in `folder`."""

    def __init__(self, terminal: Terminal, folder: Path) -> None:
        self._terminal = terminal
        self._folder = folder

    async def decide(self, request: PermissionRequest, invocation: Invocation) -> PermissionDecision:
        """Whether something may be done. Reading in the folder needs no question."""
        if isinstance(request, Read) and inside(self._folder, Path(request.path)):
            return PermissionDecision("approve-once")
        lasting = not isinstance(request, Write | Shell) or request.can_offer_session_approval
        said = await self._terminal.ask(question(request), CHOICES if lasting else CHOICES_ONCE)
        match said and said.lower():
            case None:
                return PermissionDecision("user-not-available")
            case "y" | "yes":
                return PermissionDecision("approve-once")
            case "a" | "always" if lasting:
                return PermissionDecision("approve-for-session")
            case "n" | "no" | "":
                return reject()
            case _:
                return reject(said)

    async def answer(self, asked: UserQuestion, invocation: Invocation) -> str:
        """The answer to a question of the model's; a number stands for that choice."""
        choices = [f"  {number}. {choice}" for number, choice in enumerate(asked.choices, 1)]
        said = await self._terminal.ask("\n".join(["", asked.question, *choices]), "> ")
        if said and said.isdecimal() and 0 < int(said) <= len(asked.choices):
            return asked.choices[int(said) - 1]
        return said or "(no answer)"

    async def approve_plan(self, plan: Plan, invocation: Invocation) -> PlanDecision:
        """Whether the model may go on with its plan."""
        said = await self._terminal.ask(f"\nThe plan:\n{plan.plan_content or plan.summary}", PLAN_CHOICES)
        match said and said.lower():
            case "y" | "yes":
                return PlanDecision(True, "interactive")
            case "n" | "no" | "" | None:
                return PlanDecision(False)
            case _:
                return PlanDecision(False, feedback=said)


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
        shown.append(f"  ({counted(len(lines) - len(shown), 'more line')})")
    return "\n".join(shown)
