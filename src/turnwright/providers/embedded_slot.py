"""Keeps on disk what the engine made of a prompt's start, so that the next process needn't read it again."""

import hashlib
import json
import socket
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from turnwright.providers.local_check import pieces_of

KEPT = 8
"""Starts that are kept; each takes some 15 MB."""

_PATIENCE = 30.0


class Slot:
    """The engine's memory of one conversation, saved to and restored from files in `folder`.

    Whatever fails here costs time only, so nothing is raised. A file's name holds its digest, since the
    engine ends the process when it is given a damaged one.
    """

    def __init__(self, address: Path, folder: Path, engine_id: str) -> None:
        """`address` is the Unix socket of the engine; `engine_id` names its version and its model."""
        self._address = address
        self._folder = folder
        self._engine_id = engine_id

    def restore(self, start: str) -> bool:
        """Have the engine remember `start`; False if that isn't kept."""
        for file in self._folder.glob(f"{self._key(start)}-*.kv"):
            if file.stem.endswith(f"-{_digest(file)}"):
                file.touch()
                return self._post("restore", file.name)
            file.unlink(missing_ok=True)
        return False

    def keep(self, start: str) -> None:
        """Save what the engine has just read, `start`, and drop what was used longest ago."""
        unchecked = self._folder / f"{self._key(start)}.unchecked"
        if not self._post("save", unchecked.name):
            return
        unchecked.replace(self._folder / f"{self._key(start)}-{_digest(unchecked)}.kv")
        by_age = sorted(self._folder.glob("*.kv"), key=lambda file: file.stat().st_mtime)
        for file in by_age[:-KEPT]:
            file.unlink(missing_ok=True)

    def _key(self, start: str) -> str:
        return hashlib.sha256(f"{self._engine_id}\n{start}".encode()).hexdigest()[:16]

    def _post(self, action: str, file_name: str) -> bool:
        connection = HTTPConnection("localhost")
        try:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.settimeout(_PATIENCE)
            connection.sock.connect(str(self._address))
            body = json.dumps({"filename": file_name})
            connection.request(
                "POST", f"/slots/0?action={action}", body, {"Content-Type": "application/json"}
            )
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            connection.close()


def _digest(file: Path) -> str:
    digest = hashlib.sha256()
    for piece in pieces_of(file):
        digest.update(piece)
    return digest.hexdigest()[:32]
