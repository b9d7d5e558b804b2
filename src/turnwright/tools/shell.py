"""The tool `bash`: one command line in a fresh shell."""

import asyncio
import shutil
import sys
from collections.abc import Mapping
from typing import Annotated

import anyio
import msgspec
from msgspec import Meta

from turnwright.protocol.messages import ToolDefinition
from turnwright.protocol.permissions import PossibleUrl, Shell, ShellCommand, ShellSegment
from turnwright.protocol.wire import convert
from turnwright.tools import process
from turnwright.tools.base import Call, Progress, ToolResult, failure
from turnwright.tools.overflow import Capture

DEFAULT_TIMEOUT = 120.0
LONGEST_TIMEOUT = 1800.0

PROGRESS_INTERVAL = 0.1
"""Seconds between two reports of a running command; each is all the output, as the model would see it."""

Seconds = Annotated[float, Meta(gt=0)]


class Arguments(msgspec.Struct, frozen=True):
    """What a model passes. `initial_wait`, which the reference's models know, can only lengthen the limit."""

    command: str
    description: str = ""
    timeout: Seconds | None = None
    initial_wait: Seconds | None = None

    def __post_init__(self) -> None:
        process.check_argument("command", self.command)

    @property
    def limit(self) -> float:
        """Seconds that the command may take."""
        wanted = self.timeout or max(DEFAULT_TIMEOUT, self.initial_wait or 0)
        return min(wanted, LONGEST_TIMEOUT)


class Bash:
    """Runs a command line; its output comes as it is written, standard error included."""

    definition = ToolDefinition(
        name="bash",
        description=(
            "Runs a command in a new bash shell in the working directory and returns its output and exit "
            "code. Nothing carries over to the next call: chain with '&&' what belongs together. There is "
            "no input and no terminal. A background process outlives the call only if its output is "
            "redirected to a file."
        ),
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command line."},
                "description": {"type": "string", "description": "What it does, in a few words."},
                "timeout": {
                    "type": "number",
                    "description": f"Seconds until it is stopped; {DEFAULT_TIMEOUT:.0f} unless given, "
                    f"{LONGEST_TIMEOUT:.0f} at most.",
                },
            },
            "required": ["command"],
        },
    )
    read_only = False
    terminal = False

    def permission(self, call: Call) -> Shell:
        """Ask for the whole command line, with the simple commands that it is made of."""
        from turnwright.tools.command_line import parse  # loads a grammar

        arguments = convert(call.arguments, Arguments)
        command = arguments.command
        line = parse(command)
        return Shell(
            full_command_text=command,
            intention=arguments.description or f"Run {command}",
            commands=[ShellCommand(identifier=command, read_only=False)],
            command_segments=[
                ShellSegment(identifier=segment.name or segment.text, full_command_text=segment.text)
                for segment in line.segments
            ],
            possible_paths=list(line.paths),
            possible_urls=[PossibleUrl(url=url) for url in line.urls],
            has_write_file_redirection=line.has_write_redirection,
            can_offer_session_approval=line.complete and bool(line.segments),
            tool_call_id=call.id,
        )

    async def run(self, call: Call) -> ToolResult:
        """Run the command to its end, its time limit or cancellation; the output may be partial."""
        arguments = convert(call.arguments, Arguments)
        capture = Capture(call.overflow, secrets=call.secrets)
        reports = _Reports(capture, call.progress)
        result: ToolResult | None = None
        try:
            with anyio.move_on_after(arguments.limit):
                result = await _execute(arguments.command, call, capture, reports)
            if result is None:
                outcome = f"timed out after {arguments.limit:g} seconds and was stopped"
                result = _result(capture, outcome, error=f"The command {outcome}.")
            return result
        finally:
            reports.close()
            capture.close()


async def _execute(command: str, call: Call, capture: Capture, reports: "_Reports") -> ToolResult:
    shell = shutil.which("bash", path=call.env.get("PATH")) or "/bin/sh"
    try:
        status = await process.run(
            [shell, "-c", command],
            cwd=call.cwd,
            env=with_utf8(call.env),
            output=reports.feed,
            notes=call.processes,
        )
    except OSError as error:
        return failure(f"The command could not be started: {error.strerror or error}")
    return _result(capture, f"exited with exit code {status}")


class _Reports:
    """Keeps what a command writes, and reports it while it runs; a task for that would have to be ended."""

    def __init__(self, capture: Capture, progress: Progress) -> None:
        self._capture = capture
        self._progress = progress
        self._last = ""
        self._timer: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        """Take the next bytes; they are reported with what comes soon after."""
        self._capture.feed(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PROGRESS_INTERVAL, self._report)

    def close(self) -> None:
        """Report what has not been."""
        if self._timer is not None:
            self._timer.cancel()
            self._report()

    def _report(self) -> None:
        self._timer = None
        text = self._capture.text(final=False)
        if text != self._last:
            self._last = text
            self._progress(text)


def _result(capture: Capture, outcome: str, error: str | None = None) -> ToolResult:
    output = capture.text()
    end = "" if not output or output.endswith("\n") else "\n"
    text = f"{output}{end}<{outcome}>"
    return ToolResult(text=text, kind="timeout" if error else "success", detail=text, error=error)


def with_utf8(env: Mapping[str, str]) -> dict[str, str]:
    """`env`, with a locale whose characters are UTF-8 if its own is not: others lose text."""
    locale = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "C"
    if locale.upper().replace("-", "").endswith("UTF8"):
        return dict(env)
    return {**env, "LC_ALL": "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"}
