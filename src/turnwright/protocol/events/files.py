"""Events of the files that tools change, in sessions that keep what those were."""

from turnwright.protocol.events.base import Data, event


@event("session.file_captured")
class FileCaptured(Data):
    """A tool is about to change a file, and what it was is kept in the session's folder.

    `after` and `before` are SHA-256 in hexadecimal of what the file will hold and of what it holds; there is
    no `before` where there is no file. `mode` are its permissions. `left_out` says why what it was is not
    kept. `raw_path` is the path in base64 where it isn't UTF-8, which `path` can't hold.
    """

    path: str
    after: str
    before: str | None = None
    mode: int | None = None
    left_out: str | None = None
    lines_added: int = 0
    lines_removed: int = 0
    raw_path: str | None = None
