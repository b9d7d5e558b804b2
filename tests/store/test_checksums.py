"""A log that a disk, or another program, has changed doesn't pass for what was written."""

from pathlib import Path

import pytest

from tests.cases.scene import scene
from tests.engine.harness import Recorder, options, running
from turnwright.cli.main import main
from turnwright.protocol.events.session import Warned
from turnwright.providers.scripted import Scripted, text
from turnwright.store.checksums import SUMS_NAME, Altered, Sum, verify
from turnwright.store.disk import Disk
from turnwright.store.jsonl import LOG_NAME, JsonlStore
from turnwright.store.jsonl_log import JsonlLog
from turnwright.store.load import load


def a_log(folder: Path, *lines: bytes) -> JsonlLog:
    """A new log, held, whose lines are synced one by one."""
    log = JsonlLog(folder / LOG_NAME, Disk(), new=True)
    log.hold()
    for line in lines:
        log.append(line)
        log.begin_sync()()
    return log


def spoil(folder: Path, old: bytes, new: bytes) -> None:
    """Change the log as a disk might: in place, and without a word."""
    file = folder / LOG_NAME
    data = file.read_bytes()
    assert old in data
    file.write_bytes(data.replace(old, new))


def test_a_log_as_it_was_written_is_verified_however_it_is_read() -> None:
    whole = b"one\ntwo\nthree\n"
    sums = [Sum(0, 0).after(whole[:end]) for end in (4, 8, len(whole))]
    for size in range(1, len(whole) + 1):
        blocks = [whole[at : at + size] for at in range(0, len(whole), size)]
        assert verify(blocks, sums) == (sums[-1], None)


def test_what_was_altered_lies_between_the_last_right_sum_and_the_first_wrong_one() -> None:
    whole = b"one\ntwo\nthree\n"
    sums = [Sum(0, 0).after(whole[:end]) for end in (4, 8, len(whole))]
    assert verify([b"one\ntwO\nthree\n"], sums).altered == Altered(4, 8)
    assert verify([b"one\n", b"two\n"], sums).altered is None


def test_a_changed_letter_is_told_and_appending_goes_on(tmp_path: Path) -> None:
    a_log(tmp_path, b'"one"', b'"two"', b'"three"').close()
    spoil(tmp_path, b"two", b"twO")
    log = JsonlLog(tmp_path / LOG_NAME, Disk(), new=False)
    log.hold()
    assert log.verify() == Altered(6, 12)
    log.append(b'"four"')
    log.begin_sync()()
    assert log.verify() == Altered(6, 12)
    log.close()


def test_a_log_that_is_cut_back_or_rewritten_has_sums_of_what_it_is_then(tmp_path: Path) -> None:
    log = a_log(tmp_path, b'"one"', b'"two"')
    log.rewrite([b'"eins"'])
    log.append(b'"zwei"')
    log.begin_sync()()
    assert log.verify() is None
    assert len((tmp_path / SUMS_NAME).read_bytes().splitlines()) == 1
    log.end_at(7)
    assert log.verify() is None
    log.append(b'"drei"')
    log.begin_sync()()
    log.close()
    spoil(tmp_path, b"drei", b"drEi")
    log = JsonlLog(tmp_path / LOG_NAME, Disk(), new=False)
    assert log.verify() == Altered(0, 14)
    log.close()


def test_sums_that_are_lost_or_spoiled_say_nothing(tmp_path: Path) -> None:
    log = a_log(tmp_path, b'"one"', b'"two"')
    (tmp_path / SUMS_NAME).write_bytes(b"\xff\n1 2 3\nzz\n")
    assert log.verify() is None
    (tmp_path / SUMS_NAME).unlink()
    assert log.verify() is None
    log.close()


@pytest.mark.anyio
async def test_the_client_that_resumes_an_altered_session_is_warned_and_an_audit_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = JsonlStore(tmp_path / "session-state")
    async with scene(tmp_path, [text("Paris it is")], store=store) as at:
        await at.prompt("go")
        session_id = at.session.id
    folder = store.folder(session_id)
    spoil(folder, b"Paris it is", b"Paris it iz")
    client = Recorder()
    async with running(Scripted([]), tmp_path, store) as runtime:
        await runtime.resume(session_id, options(tmp_path), client)
    warned = [e.data for e in client.events if isinstance(e.data, Warned)]
    assert [w.warning_type for w in warned] == ["log_altered"]
    log = store.open(session_id)
    assert load(log).altered is not None
    log.close()
    monkeypatch.setenv("COPILOT_HOME", str(tmp_path))
    assert main(["audit", session_id]) == 1
    assert "sum: here or below" in capsys.readouterr().out
    assert main(["sessions", "repair", session_id]) == 0
    assert "is accepted" in capsys.readouterr().out
    assert main(["audit", session_id]) == 0


def test_from_a_byte_on_only_what_follows_is_compared(tmp_path: Path) -> None:
    a_log(tmp_path, b'"one"', b'"two"', b'"three"').close()
    spoil(tmp_path, b"one", b"onE")
    log = JsonlLog(tmp_path / LOG_NAME, Disk(), new=False)
    assert log.verify(7) is None
    spoil(tmp_path, b"three", b"threE")
    assert log.verify(7) == Altered(12, 20)
    assert log.verify() == Altered(0, 6)
    log.close()


def test_a_log_that_is_rewritten_while_it_is_synced_gets_no_sum_of_what_it_was(tmp_path: Path) -> None:
    class Rewriting(Disk):
        def sync(self, fd: int) -> None:
            super().sync(fd)
            if not rewritten:
                rewritten.append(fd)
                log.rewrite([b'"eins"', b'"zwei"', b'"drei"'])

    rewritten: list[int] = []
    log = JsonlLog(tmp_path / LOG_NAME, Rewriting(), new=True)
    log.hold()
    log.append(b'"one"')
    log.begin_sync()()
    assert rewritten
    assert log.verify() is None
    log.close()


def test_a_sync_that_ends_when_another_may_write_notes_no_sum(tmp_path: Path) -> None:
    first = a_log(tmp_path)
    first.append(b'"one"')
    first.release()
    first.begin_sync()()
    other = JsonlLog(tmp_path / LOG_NAME, Disk(), new=False)
    other.hold()
    other.rewrite([b'"eins"', b'"zwei"'])
    other.close()
    first.hold()
    for number in range(5):
        first.append(b"%d" % number)
    first.close()
    log = JsonlLog(tmp_path / LOG_NAME, Disk(), new=False)
    assert log.verify() is None
    log.close()
