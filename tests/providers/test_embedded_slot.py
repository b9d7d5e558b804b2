"""What was read of a prompt's start outlives the process; a damaged file never reaches the engine."""

import os
import re
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from turnwright.protocol.wire import loads
from turnwright.providers.embedded_slot import KEPT, Slot


class Engine:
    """Saves and restores as llama.cpp's server does, over a Unix socket."""

    def __init__(self, address: Path, folder: Path) -> None:
        self.address = address
        self.folder = folder
        self.restored: list[bytes] = []
        self.memory = b"what was read"
        self.status = 200

    def answer(self, action: str, file: Path) -> None:
        if action == "save":
            file.write_bytes(self.memory)
        else:
            self.restored.append(file.read_bytes())


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    folder = tmp_path / "starts"
    folder.mkdir()
    engine = Engine(tmp_path / "s", folder)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = re.fullmatch(r"/slots/0\?action=(save|restore)", self.path)
            if asked and engine.status == 200:
                engine.answer(asked[1], folder / body["filename"])
            self.send_response(engine.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with socketserver.UnixStreamServer(str(engine.address), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield engine
        finally:
            server.shutdown()
            thread.join()


def slot(engine: Engine, engine_id: str = "1") -> Slot:
    return Slot(engine.address, engine.folder, engine_id)


def test_a_start_that_was_kept_is_restored_by_another_process(engine: Engine) -> None:
    slot(engine).keep("Rules.")
    assert slot(engine).restore("Rules.")
    assert engine.restored == [b"what was read"]


def test_another_start_and_another_engine_find_nothing(engine: Engine) -> None:
    slot(engine).keep("Rules.")
    found = [slot(engine).restore("Other rules."), slot(engine, "2").restore("Rules.")]
    assert (found, engine.restored) == ([False, False], [])


def test_a_damaged_file_is_deleted_and_not_given_to_the_engine(engine: Engine) -> None:
    slot(engine).keep("Rules.")
    (file,) = engine.folder.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert not slot(engine).restore("Rules.")
    assert (engine.restored, list(engine.folder.iterdir())) == ([], [])


def test_only_the_starts_used_last_are_kept(engine: Engine) -> None:
    for number in range(KEPT):
        slot(engine).keep(f"Rules {number}.")
        (newest,) = set(engine.folder.iterdir()) - {*engine.folder.glob("old-*")}
        os.utime(newest, (number, number))
        newest.rename(newest.with_name(f"old-{number}.kv"))
    slot(engine).keep("New rules.")
    assert sorted(file.name for file in engine.folder.glob("old-*")) == [
        f"old-{number}.kv" for number in range(1, KEPT)
    ]
    assert slot(engine).restore("New rules.")


def test_an_engine_that_refuses_costs_nothing_but_time(engine: Engine) -> None:
    engine.status = 501
    slot(engine).keep("Rules.")
    assert (slot(engine).restore("Rules."), list(engine.folder.iterdir())) == (False, [])


def test_an_engine_that_is_not_there_costs_nothing_but_time(tmp_path: Path) -> None:
    lonely = Slot(tmp_path / "nobody", tmp_path, "1")
    lonely.keep("Rules.")
    assert not lonely.restore("Rules.")
