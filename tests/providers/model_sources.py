"""Places to fetch a small model file from: a folder of data wheels, and a web server that can break off."""

import re
import threading
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from turnwright.providers.local_model import LocalModel

CONTENT = bytes(range(256)) * 40
HALF = len(CONTENT) // 2


def write_wheel(folder: Path, number: int, content: bytes) -> Path:
    """A wheel that holds `content` in two data files."""
    module = f"small_part{number}"
    info = f"{module}-1.0.dist-info"
    wheel = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{module}/__init__.py", "raise RuntimeError('must not run')\n")
        archive.writestr(f"{module}/data/b.bin", content[100:])
        archive.writestr(f"{module}/data/a.bin", content[:100])
        archive.writestr(f"{module}/data/notes.txt", "not a part of the model")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: small-part{number}\nVersion: 1.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def small_model(*wheels: Path, url: str = "", content: bytes = CONTENT) -> LocalModel:
    """A model of `content` that comes from `url` or, in parts, from `wheels`."""
    lines = [
        f"small-part{number}==1.0 --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}"
        for number, wheel in enumerate(wheels, 1)
    ]
    return LocalModel(
        name="local/small",
        title="Small",
        licence="MIT",
        file_name="small.gguf",
        bytes=len(content),
        sha256=sha256(content).hexdigest(),
        url=url,
        parts_table="\n".join(lines),
    )


class FileServer:
    """Serves one file at `url`; `breaks_after` bytes of an answer it hangs up."""

    def __init__(self, url: str, content: bytes) -> None:
        self.url = url
        self.content = content
        self.honours_ranges = True
        self.breaks_after: int | None = None
        self.ranges: list[str | None] = []


@contextmanager
def serving(content: bytes) -> Generator[FileServer]:
    """A web server on the loopback interface for as long as the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers["Range"]
            served.ranges.append(wanted)
            asked = re.fullmatch(r"bytes=(\d+)-", wanted or "")
            start = int(asked[1]) if asked and served.honours_ranges else 0
            body = served.content[start:]
            self.send_response(206 if served.honours_ranges else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: served.breaks_after])

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        served = FileServer(f"http://127.0.0.1:{server.server_port}/small.gguf", content)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()
