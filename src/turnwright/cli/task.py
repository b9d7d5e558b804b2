"""What a command line asks to be run, once everything that was configured is settled."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from turnwright import config
from turnwright.cli.archive import Archive
from turnwright.cli.attach import reading
from turnwright.engine.answer_form import check_schema
from turnwright.engine.models.endpoints import NOTHING_CONFIGURED
from turnwright.errors import ConfigError, InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode
from turnwright.protocol.options import Durability, ProviderOptions
from turnwright.server.settings import Settings

T = TypeVar("T")


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt; `resumed` is the id of the session to go on with. None is left to the runtime.

    `key_source` says where the provider's key was found, in words that hold no secret.
    """

    prompt: str
    attachments: Sequence[dict[str, str]]
    schema: dict[str, Any] | None
    folder: Path
    resumed: str | None
    provider: ProviderOptions | None
    key_source: str | None
    model: str | None
    agent: str | None
    mode: Mode | None
    reasoning_effort: str | None
    streaming: bool
    durability: Durability | None
    allow_all: bool
    allow_tools: list[str]
    deny_tools: list[str]
    warnings: tuple[str, ...]


def read_schema(file: Path) -> dict[str, Any]:
    """The JSON Schema in a file. Raises InvalidParams."""
    try:
        schema = wire.decode(file.read_bytes(), dict[str, Any])
    except OSError as error:
        raise InvalidParams(f"--schema: can't read {file}: {error.strerror}") from error
    except InvalidParams as error:
        raise InvalidParams(f"--schema: {file} doesn't hold a JSON object: {error}") from error
    check_schema(f"--schema: {file}", schema)
    return schema


def settle(
    given: Namespace,
    prompt: str,
    settings: Settings,
    schema: dict[str, Any] | None = None,
    attachments: Sequence[dict[str, str]] = (),
) -> Task:
    """Put together the command line, the configuration and the log of a session to go on with.

    A session that goes on keeps its folder, model, effort and mode, unless the command line says otherwise.
    Raises ConfigError, also when nobody is configured who could answer, and SessionNotFound.
    """
    archive = Archive(settings.home)
    folder = (given.folder or Path.cwd()).resolve()
    model: str | None = given.model
    resumed: str | None = None
    if given.continue_last:
        resumed = archive.last_in(folder)
    elif given.resume is not None:
        resumed = archive.find(given.resume)
    if resumed is not None:
        state = archive.state(resumed)
        model = model or state.model
        if given.folder is None and state.context is not None:
            folder = Path(state.context.cwd)
    configured = config.load(settings.home, folder, flags=_flags(given, model))
    chosen = configured.model.value if configured.model else None
    endpoint = configured.endpoint if chosen != config.LOCAL else None
    has_github = settings.api_url is not None and settings.github_token is not None
    if endpoint is None and chosen != config.LOCAL and not has_github:
        raise ConfigError(NOTHING_CONFIGURED)
    return Task(
        prompt=prompt,
        attachments=attachments,
        schema=schema,
        folder=folder,
        resumed=resumed,
        provider=endpoint.options if endpoint else None,
        key_source=endpoint.key_source if endpoint else None,
        model=chosen,
        agent=given.agent,
        mode=given.mode if resumed else _value(configured.mode),
        reasoning_effort=_value(configured.reasoning_effort),
        streaming=bool(_value(configured.stream)),
        durability=_value(configured.durability),
        allow_all=given.allow_all,
        allow_tools=[*configured.allow_tools, *reading(attachments)],
        deny_tools=configured.deny_tools,
        warnings=configured.warnings,
    )


def _flags(given: Namespace, model: str | None) -> config.Choices:
    return config.Choices(
        model=model,
        mode=given.mode,
        reasoning_effort=given.reasoning_effort,
        stream=given.stream,
        durability=given.durability,
        allow_tools=tuple(given.allow_tool),
        deny_tools=tuple(given.deny_tool),
    )


def _value(chosen: config.Chosen[T] | None) -> T | None:
    return chosen.value if chosen else None
