"""A long session's log, made out of a short one that the runtime itself wrote."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import msgspec

from turnwright.protocol.envelope import seal
from turnwright.store.disk import Disk
from turnwright.store.jsonl_log import JsonlLog
from turnwright.store.load import load
from turnwright.store.state_record import record_of

Event = dict[str, Any]

COMPACTED_EVERY = 20_000
MESSAGES_OF_A_TURN = 2
"""A reply with one call, and its result."""


def stretch(short: Path, long: Path, *, events: int, text: int = 0, compacted: bool = False) -> None:
    """Write a log of about `events` events: the turns of `short`, whose second one is repeated.

    Each result of a tool holds `text` bytes. A `compacted` log tells of a compaction every 20,000 events,
    the last of them 5,000 events before its end, each with a record of the state, as the runtime logs it.
    """
    lines = [msgspec.json.decode(line) for line in short.read_bytes().splitlines()]
    starts = [i for i, event in enumerate(lines) if event["type"] == "assistant.turn_start"]
    turn = lines[starts[1] : starts[2]]
    last_id = lines[starts[2] - 1]["id"]
    messages = 1 + 2 * MESSAGES_OF_A_TURN  # the prompt, and two turns
    with _Log(long) as log:
        for event in lines[: starts[2]]:
            log.append(event)
        for count in range(starts[2], events - len(turn), len(turn)):
            if compacted and (events - 5_000 - count) % COMPACTED_EVERY < len(turn):
                event = _compaction(last_id, messages, count // COMPACTED_EVERY + 1)
                log.append(event)
                record = log.recorded(event["id"])
                log.append(record)
                last_id, messages = record["id"], 1
            for event in _again(turn, last_id, count, text):
                last_id = event["id"]
                log.append(event)
            log.note()
            messages += MESSAGES_OF_A_TURN
        lines[starts[2]]["parentId"] = last_id
        for event in lines[starts[2] :]:
            log.append(event)
        log.note()


class _Log:
    """A log that is written, with the checksum at each end of a turn, as the runtime keeps it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._sums = path.with_name(f"{path.name}.sums").open("wb")
        self._size = self._crc = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._sums.close()

    def append(self, event: Event) -> None:
        line = msgspec.json.encode(event) + b"\n"
        self._file.write(line)
        self._size += len(line)
        self._crc = crc32(line, self._crc)

    def recorded(self, parent_id: str) -> Event:
        """The record of the state that all events so far give."""
        self._file.flush()
        log = JsonlLog(self._path, Disk(), new=False)
        found = load(log)
        log.close()
        record = record_of(found.state, found.history)
        assert record is not None
        return msgspec.json.decode(seal(record, parent_id=parent_id).encoded)

    def note(self) -> None:
        self._sums.write(b"%x %08x\n" % (self._size, self._crc))


def beside(short: Path, name: str) -> Path:
    """Make the folder of another session, like that of `short`, and return the path of its log to be."""
    folder = short.parent.with_name(name)
    shutil.copytree(short.parent, folder, dirs_exist_ok=True)
    return folder / short.name


def _again(turn: list[Event], last_id: str, count: int, text: int) -> Iterator[Event]:
    """The events of `turn` once more, with ids of their own."""
    ids = {"toolCallId": f"call_{count}", "requestId": _new_id(), "messageId": _new_id()}
    for event in turn:
        data: Event = {**event["data"], **{name: id for name, id in ids.items() if name in event["data"]}}
        if "toolRequests" in data:
            data["toolRequests"] = [{**data["toolRequests"][0], "toolCallId": ids["toolCallId"]}]
        if "result" in data and text:
            data["result"] = {"content": "x" * text, "detailedContent": "x"}
        own_id = _new_id()
        yield {**event, "data": data, "id": own_id, "parentId": last_id}
        last_id = own_id


def _compaction(last_id: str, messages: int, number: int) -> Event:
    data = {
        "success": True,
        "preCompactionMessagesLength": messages,
        "messagesRemoved": messages,
        "summaryContent": "What was done so far. " * 50,
        "checkpointNumber": number,
        "trigger": "threshold",
    }
    return {
        "type": "session.compaction_complete",
        "data": data,
        "id": _new_id(),
        "timestamp": "2026-01-01T00:00:00.000Z",
        "parentId": last_id,
    }


def _new_id() -> str:
    text = os.urandom(16).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
