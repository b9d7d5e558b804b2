"""`turnwright record` and `turnwright replay`: the model's side of a session, kept and run again."""

import os
import tempfile
from argparse import Namespace
from pathlib import Path

import anyio
import msgspec

from turnwright import config
from turnwright.cli import pillow
from turnwright.cli.archive import Archive
from turnwright.cli.output import show, tell
from turnwright.engine.models.endpoints import ConfiguredEndpoints, Defaults
from turnwright.engine.secrets import Secrets
from turnwright.errors import InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.counted import counted
from turnwright.protocol.options import SessionOptions
from turnwright.providers.open import open_local, open_provider
from turnwright.recording import form
from turnwright.recording.from_log import recording_of
from turnwright.recording.places import Places
from turnwright.recording.replay import Plan, Replayed, replay
from turnwright.server.settings import Settings, from_environment

FAILED = 1


def record(given: Namespace) -> int:
    """Write the recording of a session, to stdout or a file. Raises SessionNotFound or StoreError."""
    settings = from_environment(os.environ)
    write(Archive(settings.home).find(given.id), settings, given.output)
    return 0


def write(session_id: str, settings: Settings, output: Path | None) -> None:
    """Write the recording of a session, to stdout without a file. Raises SessionNotFound or StoreError."""
    archive = Archive(settings.home)
    context = archive.state(session_id).context
    folder = Path(context.cwd) if context else None
    places = Places(
        folder=folder, state=settings.home, session_id=session_id, secrets=_secrets(settings, folder)
    )
    recording = recording_of(archive.events(session_id), places)
    if output is None:
        show(msgspec.json.format(wire.encode(recording), indent=2).decode())
    else:
        form.write(recording, output)
        tell(f"{output} has {counted(len(recording.exchanges), 'request')} of session {session_id}")


def _secrets(settings: Settings, folder: Path | None) -> Secrets:
    secrets = Secrets([settings.connection_token, settings.github_token])
    configured = config.load(settings.home, folder)
    secrets.add_keys_of(configured.endpoint.options if configured.endpoint else None)
    return secrets


def main(given: Namespace) -> int:
    """Replay a recording; 1 when something differs. Raises StoreError, InvalidParams or ConfigError."""
    pillow.silence()
    recording = form.read(given.file)
    plan = Plan(
        recording=recording,
        folder=(given.folder or Path.cwd()).resolve(),
        tools=given.tools,
        keep_system=given.system == "recorded",
        allow_tools=given.allow_tool,
        deny_tools=given.deny_tool,
        allow_all=given.allow_all,
        fork=given.fork,
    )
    settings = from_environment(os.environ)
    if given.fork is not None:
        if not 1 <= given.fork <= len(recording.exchanges):
            raise InvalidParams(
                f"--from: must be 1 to {len(recording.exchanges)}, the requests in {given.file}"
            )
        return anyio.run(_fork, plan, settings, given.model)
    with tempfile.TemporaryDirectory(prefix="turnwright-replay-") as home:
        settings.home = Path(home)
        return _report(anyio.run(replay, plan, settings), plan)


async def _fork(plan: Plan, settings: Settings, model: str | None) -> int:
    """Replay the beginning, and let a real model go on; the session stays."""
    configured = config.load(settings.home, plan.folder, flags=config.Choices(model=model))
    chosen = configured.model.value if configured.model else None
    options = configured.endpoint.options if configured.endpoint and chosen != config.LOCAL else None
    defaults = Defaults(options, chosen, settings.api_url, settings.github_token)
    endpoints = ConfiguredEndpoints(defaults, open_provider, open_local)
    try:
        found = await endpoints.find(SessionOptions(), chosen)
        plan = msgspec.structs.replace(plan, then=found.provider, model=found.wire_model)
        done = await replay(plan, settings)
    finally:
        await endpoints.aclose()
    if done.difference is None and done.failure is None:
        show(done.answer)
        tell(f"From request {plan.fork} on {found.model} replied. The session: {done.session_id}")
        return 0
    return _report(done, plan)


def _report(done: Replayed, plan: Plan) -> int:
    if done.difference is not None:
        show(str(done.difference))
        tell(f"As recorded: {done.requests} of {counted(len(plan.recording.exchanges), 'request')}.")
        return FAILED
    if done.failure is not None and not _failed_then(plan):
        tell(f"turnwright: {done.failure}")
        return FAILED
    show(f"{counted(done.requests, 'request')}, all as recorded")
    return 0


def _failed_then(plan: Plan) -> bool:
    """Whether the recording itself ends in a failure."""
    last = plan.recording.exchanges[-1] if plan.recording.exchanges else None
    return last is not None and last.failure is not None
