"""Lists of sessions come from an index, which may be lost, be damaged or be out of date."""

import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.engine.harness import Recorder, options, running, say
from tests.store.calls import counted
from turnwright.cli.archive import Archive
from turnwright.errors import StoreError
from turnwright.protocol.envelope import seal
from turnwright.protocol.events.conversation import UserMessage
from turnwright.protocol.events.session import Context, Renamed, SessionStart
from turnwright.providers.scripted import Scripted, text
from turnwright.store.base import Note
from turnwright.store.entry import Entry
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.store.state import State

STARTED = "2026-01-02T03:04:05.678Z"
PLACE = Context("/srv/a", git_root="/srv", repository="acme/a", host_type="github", branch="main")


def write(root: Path, session_id: str, *titles: str) -> State:
    """Write a session's log, with a name for each further title; what it says."""
    start = SessionStart(
        session_id, 1, "turnwright", "0", STARTED, None, PLACE, False, False, client_name="app"
    )
    state, parent, lines = State(), None, list[bytes]()
    for data in (start, UserMessage(titles[0]), *map(Renamed, titles[1:])):
        event = seal(data, parent_id=parent)
        state.apply(event)
        lines.append(event.encoded + b"\n")
        parent = event.id
    (root / session_id).mkdir(parents=True, exist_ok=True)
    (root / session_id / LOG_NAME).write_bytes(b"".join(lines))
    return state


def root(home: Path) -> Path:
    return home / "session-state"


def file(home: Path) -> Path:
    return home / "turnwright" / "index.sqlite"


def listed(home: Path) -> dict[str, Entry]:
    """What a process that has just been started lists."""
    store = JsonlStore(root(home))
    try:
        entries = {entry.session_id: entry for entry in store.entries()}
        assert entries == {session_id: store.entry(session_id) for session_id in entries}
        return entries
    finally:
        store.close()


def rows(home: Path) -> dict[str, str]:
    """The titles in the index, by session."""
    index = sqlite3.connect(file(home))
    try:
        stored = dict(index.execute("SELECT session_id, entry FROM sessions"))
        return {name: msgspec.json.decode(entry)["title"] for name, entry in stored.items()}
    finally:
        index.close()


def test_an_entry_says_what_the_log_says(tmp_path: Path) -> None:
    state = write(root(tmp_path), "a", "do it")
    entry = Entry("a", STARTED, state.modified, "do it", None, "app", PLACE)
    assert listed(tmp_path) == {"a": entry}
    assert listed(tmp_path) == {"a": entry}  # from the index


def test_only_a_log_that_has_changed_is_read_again(tmp_path: Path) -> None:
    write(root(tmp_path), "a", "one")
    write(root(tmp_path), "b", "two")
    listed(tmp_path)
    index = sqlite3.connect(file(tmp_path))
    index.execute("UPDATE sessions SET entry = CAST(replace(entry, '\"one\"', '\"from the index\"') AS BLOB)")
    index.commit()
    index.close()
    write(root(tmp_path), "b", "two", "named")
    assert {name: entry.title for name, entry in listed(tmp_path).items()} == {
        "a": "from the index",
        "b": "named",
    }


def test_a_session_that_is_gone_leaves_the_index(tmp_path: Path) -> None:
    write(root(tmp_path), "a", "one")
    write(root(tmp_path), "b", "two")
    listed(tmp_path)
    (root(tmp_path) / "a" / LOG_NAME).unlink()
    assert listed(tmp_path).keys() == {"b"} == rows(tmp_path).keys()
    store = JsonlStore(root(tmp_path))
    store.delete("b")
    store.close()
    assert rows(tmp_path) == {}


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "something else": lambda data: b"no database" * 1000,
    "cut": lambda data: data[:5000],
    "empty": lambda data: b"",
    "bits": lambda data: data.replace(b"sessions", b"ses\0ions"),
    "a later version": lambda data: data[:60] + b"\0\0\0\7" + data[64:],
}


@pytest.mark.parametrize("spoil", [*SPOILED, "deleted"])
def test_an_index_that_is_lost_or_damaged_is_made_anew(tmp_path: Path, spoil: str) -> None:
    for number in range(100):
        write(root(tmp_path), f"s{number}", f"title {number}")
    before = listed(tmp_path)
    data = file(tmp_path).read_bytes()
    file(tmp_path).unlink()
    if spoil in SPOILED:
        file(tmp_path).write_bytes(SPOILED[spoil](data))
    assert listed(tmp_path) == before
    assert rows(tmp_path).keys() == before.keys()


def test_where_there_can_be_no_index_the_logs_are_read(tmp_path: Path) -> None:
    state = write(root(tmp_path), "a", "one")
    (tmp_path / "turnwright").write_bytes(b"in the way")
    assert listed(tmp_path) == {"a": Entry.of("a", state)}


def test_an_index_that_another_process_locks_is_done_without(tmp_path: Path) -> None:
    state = write(root(tmp_path), "a", "one")
    listed(tmp_path)
    lock = sqlite3.connect(file(tmp_path), isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
        state = write(root(tmp_path), "a", "one", "named")
        assert listed(tmp_path) == {"a": Entry.of("a", state)}
    finally:
        lock.close()
    assert listed(tmp_path) == {"a": Entry.of("a", state)}


def test_a_log_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    write(root(tmp_path), "a", "one")
    (root(tmp_path) / "b" / LOG_NAME).mkdir(parents=True)
    (root(tmp_path) / "no session").mkdir()
    assert listed(tmp_path).keys() == {"a"}


def test_the_index_is_the_users_alone(tmp_path: Path) -> None:
    write(root(tmp_path), "a", "one")
    listed(tmp_path)
    assert (file(tmp_path).parent.stat().st_mode & 0o777, file(tmp_path).stat().st_mode & 0o777) == (
        0o700,
        0o600,
    )


def test_a_list_reads_no_log_that_it_has_read_before_and_decodes_the_index_at_once(tmp_path: Path) -> None:
    for number in range(50):
        write(root(tmp_path), f"s{number}", f"title {number}")
    store = JsonlStore(root(tmp_path))
    found: list[Entry] = []
    try:
        before = store.entries()
        calls = counted(lambda: found.extend(store.entries()))
    finally:
        store.close()
    assert found == before
    asked = (
        "open",
        "BufferedReader.readlines",
        "listdir",
        "stat",
        "Connection.executemany",
        "Decoder.decode",
        "Decoder.decode_lines",
    )
    assert {name: calls[name] for name in asked if calls[name]} == {
        "open": 1,  # the folder of all sessions
        "listdir": 1,
        "stat": 50,
        "Decoder.decode_lines": 1,
    }


@pytest.mark.parametrize("stored", [b"no JSON", b"{}", b"", "text", b'{"session_id":"a"}\n{}'])
def test_a_row_that_is_no_entry_is_damage_of_the_index(tmp_path: Path, stored: bytes | str) -> None:
    write(root(tmp_path), "a", "one")
    before = listed(tmp_path)
    index = sqlite3.connect(file(tmp_path))
    index.execute("UPDATE sessions SET entry = ?", (stored,))
    index.commit()
    index.close()
    assert listed(tmp_path) == before
    assert rows(tmp_path) == {"a": "one"}


class Noting(JsonlStore):
    """A store that tells when it has put a session into its index."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.noted = anyio.Event()
        self.at_once: list[set[str]] = []

    def note(self, notes: Iterable[Note]) -> None:
        together = [*notes]
        super().note(together)
        self.at_once.append({note.session_id for note in together})
        self.noted.set()


@pytest.mark.anyio
async def test_a_session_that_has_become_idle_is_in_the_index(tmp_path: Path) -> None:
    client = Recorder()
    store = Noting(root(tmp_path))
    with anyio.fail_after(20):
        async with running(Scripted([text("one")]), tmp_path, store) as runtime:
            session = await runtime.create(options(tmp_path, session_id="s"), client)
            say(session, "hello")
            await client.until("session.idle")
            await store.noted.wait()
            assert rows(tmp_path) == {"s": "hello"}
            assert [entry.session_id for entry in runtime.list()] == [runtime.last()] == ["s"]
            live = runtime.metadata("s")
            await runtime.unload("s")
            stored = runtime.metadata("s")
            assert (stored.summary, stored.context) == (live.summary, live.context) == ("hello", live.context)


@pytest.mark.anyio
async def test_sessions_that_changed_in_one_moment_come_into_the_index_at_once(tmp_path: Path) -> None:
    store = Noting(root(tmp_path))
    with anyio.fail_after(20):
        async with running(Scripted([]), tmp_path, store) as runtime:
            for name in ("a", "b", "c"):
                await runtime.create(options(tmp_path, session_id=name), Recorder())
            await store.noted.wait()
            assert store.at_once == [{"a", "b", "c"}]
            assert rows(tmp_path).keys() == {"a", "b", "c"}


def test_a_pipe_in_the_place_of_a_log_is_not_waited_for(tmp_path: Path) -> None:
    write(root(tmp_path), "a", "hello")
    (root(tmp_path) / "p").mkdir()
    os.mkfifo(root(tmp_path) / "p" / LOG_NAME)
    assert [*listed(tmp_path)] == ["a"]
    with pytest.raises(StoreError, match="it is no regular file"):
        JsonlStore(root(tmp_path)).open("p")
    with pytest.raises(StoreError, match="it is no regular file"):
        Archive(tmp_path).state("p")
