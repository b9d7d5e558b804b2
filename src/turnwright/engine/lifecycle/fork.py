"""A new session that starts as a copy of another's log, or of its beginning."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from turnwright.engine.journal.journal import Journal
from turnwright.engine.lifecycle import summary
from turnwright.engine.lifecycle.workspace import WorkspaceFile
from turnwright.engine.rewind.first_message import given_up
from turnwright.engine.rewind.kept_files import KeptFiles
from turnwright.engine.rewind.points import needed
from turnwright.errors import InvalidParams, StoreError, TurnwrightError
from turnwright.protocol import wire
from turnwright.protocol.envelope import Event, countable, parse
from turnwright.protocol.events.session import Renamed, TitleChanged

if TYPE_CHECKING:
    from turnwright.engine.runtime import Runtime


def fork(
    runtime: "Runtime", session_id: str, *, before: str | None = None, name: str | None = None
) -> summary.SessionMetadata:
    """Write a new log that holds another's events, under their ids, up to just before the event `before`.

    The session's own files come along; the copy isn't live until it is resumed, which answers as interrupted
    what was open. Raises SessionNotFound, StoreError, and InvalidParams when nothing would be left.
    """
    kept, gone = _parted(runtime.events(session_id), session_id, before)
    fork_id = wire.new_id()
    store = runtime.store
    journal = Journal(store.create(fork_id))
    try:
        with journal.writing():
            journal.rewrite([_started(kept[0], fork_id), *kept[1:]], then=given_up(kept, gone))
            if name:
                journal.emit(Renamed(name))
            elif title := journal.state.name or journal.state.title:
                journal.emit(TitleChanged(f"{title} (fork)"), ephemeral=False)
        _copy_files(store.folder(session_id), store.folder(fork_id), needed(kept))
        WorkspaceFile(store.folder(fork_id), fork_id).write(journal.state)
        return summary.metadata(fork_id, journal.state)
    except TurnwrightError:
        store.discard(fork_id, journal.log)
        raise
    finally:
        journal.log.close()


def _parted(
    events: Sequence[Event], session_id: str, before: str | None
) -> tuple[Sequence[Event], Sequence[Event]]:
    """The events that the fork has, and those that it doesn't."""
    end = len(events)
    if before is not None:
        found = next((index for index, event in enumerate(events) if event.id == before), None)
        if found is None:
            raise StoreError(f"Event {before} not found in session {session_id}")
        end = found
    if not end:
        raise InvalidParams("toEventId: nothing is before that event")
    return events[:end], events[end:]


def _started(event: Event, session_id: str) -> Event:
    """The first event, which says whose log it is."""
    if event.type != "session.start":
        return event
    envelope = wire.loads(event.encoded)
    envelope["data"]["sessionId"] = session_id
    return parse(countable(event.type, wire.encode(envelope)))


def _copy_files(source: Path, target: Path, contents: set[str]) -> None:
    try:
        KeptFiles(source).hand_down(contents, KeptFiles(target))
        if (source / "files").is_dir():
            shutil.copytree(source / "files", target / "files", dirs_exist_ok=True)
        if (source / "plan.md").is_file():
            shutil.copy2(source / "plan.md", target / "plan.md")
    except OSError as error:
        raise StoreError(f"can't copy the session's files to {target}: {error.strerror}") from error
