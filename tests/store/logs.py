"""Logs as another runtime of the protocol writes them, with events and fields that are not ours."""

import shutil
from pathlib import Path

from turnwright.protocol.envelope import Event, parse

FIXTURES = Path(__file__).with_name("fixtures")


def lines_of(name: str) -> list[bytes]:
    """A log's lines, with their newlines."""
    return (FIXTURES / f"{name}.jsonl").read_bytes().splitlines(keepends=True)


def events_of(name: str) -> list[Event]:
    """A log's events."""
    return [parse(line.rstrip(b"\n")) for line in lines_of(name)]


def bring(name: str, home: Path) -> str:
    """Put a log where a runtime with that home finds it; the session's id."""
    session_id = str(events_of(name)[0].data.session_id)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    folder = home / "session-state" / session_id
    folder.mkdir(parents=True)
    shutil.copy(FIXTURES / f"{name}.jsonl", folder / "events.jsonl")
    return session_id
