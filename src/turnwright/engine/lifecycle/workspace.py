"""`workspace.yaml` beside a log: what programs that list sessions read, so that they needn't read the log."""

import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path

from turnwright.protocol import wire
from turnwright.store.state import State

NAME = "workspace.yaml"

log = logging.getLogger(__name__)

_WORD = re.compile(
    r"[A-Za-z/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z")
_RESERVED = frozenset(["true", "false", "yes", "no", "on", "off", "y", "n", "null"])
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

Value = str | int | bool | None


class WorkspaceFile:
    """The file of one session. It is derived from the log: when it can't be written, the session goes on."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._file = f"{folder}/{NAME}"
        self._session_id = session_id
        self._told: object = None

    def follow(self, state: State) -> None:
        """Write the file if the session's name or place is another than when it was written last."""
        tells = (state.name, state.title, state.context)
        if tells != self._told and state.start is not None:
            self._told = tells
            self.write(state)

    def write(self, state: State) -> None:
        """Write the file, all of it or nothing. A session that has no folder gets no file."""
        # Every session writes it: the methods of a Path would take as long as the system does.
        draft = f"{self._file}.{os.getpid()}.new"
        try:
            with open(draft, "wb", buffering=0) as file:  # noqa: PTH123
                file.write(as_yaml(describe(self._session_id, state)).encode())
            os.replace(draft, self._file)  # noqa: PTH105
        except FileNotFoundError:
            return
        except OSError as error:
            log.warning("can't write %s: %s", self._file, error.strerror)
            Path(draft).unlink(missing_ok=True)


def describe(session_id: str, state: State) -> dict[str, Value]:
    """The file's fields; those without a value are left out."""
    start, context = state.start, state.context
    fields: dict[str, Value] = {
        "id": session_id,
        "cwd": context and context.cwd,
        "git_root": context and context.git_root,
        "repository": context and context.repository,
        "host_type": context and context.host_type,
        "branch": context and context.branch,
        "client_name": start and start.client_name,
        "name": state.name or state.title,
        "user_named": state.name is not None,
        "summary_count": 0,
        "fork_count": 0,
        "created_at": start.start_time if start else state.modified,
        "updated_at": state.modified,
    }
    return {name: value for name, value in fields.items() if value is not None}


def as_yaml(fields: Mapping[str, Value]) -> str:
    """Fields as YAML, one a line. Any text comes back as it was, in YAML 1.1 and 1.2.

    Words and times stand as they are, so that a reader of lines has use of them too; other text is quoted
    as in JSON, which YAML understands once what it takes for unprintable, or for a line's end, is escaped.
    """
    return "".join(f"{name}: {_scalar(value)}\n" for name, value in fields.items())


def _scalar(value: Value) -> str:
    if isinstance(value, str) and (_TIME.fullmatch(value) or _is_word(value)):
        return value
    text = wire.encode(value).decode()
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None and text.lower() not in _RESERVED
