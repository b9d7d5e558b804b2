"""What is configured, and by whom: flags, then the environment, the user's file, the workspace's file.

The user's file is `<home>/turnwright/config.toml`:

    model = "big"                          # of those that an endpoint lists, or `local`
    mode = "interactive"
    deny_tools = ["shell(rm:*)"]
    [endpoints.work]
    base_url = "https://llm.example.com/v1"
    api_key_env = "WORK_LLM_KEY"           # or api_key = "..."
    models = ["big", "small"]
    [models."big"]                         # what the endpoint doesn't say
    context_window = 200000

A workspace's file, `.turnwright.toml`, comes with code that others wrote: it may set a few defaults, and deny
tools, but it can't choose where requests go, with which key, or what is allowed.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, cast

import msgspec

from turnwright.errors import ConfigError, InvalidParams
from turnwright.protocol import wire
from turnwright.protocol.events.session import Mode
from turnwright.protocol.options import Durability, ProviderOptions
from turnwright.protocol.prices import Dollars, LongContext, Prices
from turnwright.providers.model_facts import ModelFacts
from turnwright.providers.open import faults

BASE_URL = "TURNWRIGHT_BASE_URL"
API_KEY = "TURNWRIGHT_API_KEY"
MODEL = "TURNWRIGHT_MODEL"
DURABILITY = "TURNWRIGHT_DURABILITY"
PROVIDER_TYPE = "TURNWRIGHT_PROVIDER_TYPE"
WIRE_API = "TURNWRIGHT_WIRE_API"

LOCAL = "local"
"""The model that needs no endpoint."""

WORKSPACE_FILE = ".turnwright.toml"
WORKSPACE_KEYS = frozenset(["model", "mode", "reasoning_effort", "stream", "deny_tools"])

Tokens = Annotated[int, msgspec.Meta(gt=0)]

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)


class Choices(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one place chooses; None is left to the next."""

    model: str | None = None
    mode: Mode | None = None
    reasoning_effort: str | None = None
    stream: bool | None = None
    durability: Durability | None = None
    allow_tools: tuple[str, ...] = ()
    deny_tools: tuple[str, ...] = ()


class EndpointTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model endpoint in the user's file; its first model is the default."""

    base_url: str
    api_key: str | None = None
    api_key_env: str | None = None
    type: Literal["openai", "azure", "anthropic"] = "openai"
    wire_api: Literal["completions", "responses"] = "completions"
    headers: dict[str, str] | None = None
    models: tuple[str, ...] = ()
    max_prompt_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None


class LongContextTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request of more than `above` tokens of input costs, in US dollars for a million tokens."""

    above: Tokens
    input_price: Dollars
    output_price: Dollars
    cache_read_price: Dollars | None = None
    cache_write_price: Dollars | None = None

    @property
    def prices(self) -> LongContext:
        """The same as the engine reads it."""
        cache = (self.cache_read_price, self.cache_write_price)
        return LongContext(self.input_price, self.output_price, *cache, above=self.above)


class ModelTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the user says of a model: limits in tokens, prices in US dollars for a million tokens."""

    context_window: Tokens | None = None
    max_output_tokens: Tokens | None = None
    vision: bool | None = None
    input_price: Dollars | None = None
    output_price: Dollars | None = None
    cache_read_price: Dollars | None = None
    cache_write_price: Dollars | None = None
    long_context: LongContextTable | None = None

    def facts(self, where: str) -> ModelFacts:
        """The same as the engine reads it. Raises ConfigError when a price stands alone."""
        prices = (self.input_price, self.output_price, self.cache_read_price, self.cache_write_price)
        known = None
        if self.input_price is not None and self.output_price is not None:
            cache = (self.cache_read_price, self.cache_write_price)
            long = self.long_context.prices if self.long_context else None
            known = Prices(self.input_price, self.output_price, *cache, long)
        elif self.long_context is not None or any(price is not None for price in prices):
            raise ConfigError(f"{where}: prices need both input_price and output_price")
        return ModelFacts(self.context_window, self.max_output_tokens, self.vision, known)


class UserFile(Choices, frozen=True, kw_only=True):
    """The user's whole file; `endpoint` names the one of `endpoints` that is used by default."""

    endpoint: str | None = None
    endpoints: dict[str, EndpointTable] = {}
    models: dict[str, ModelTable] = {}


class Chosen(msgspec.Struct, Generic[T], frozen=True):
    """A value, and who chose it."""

    value: T
    source: str


class Endpoint(msgspec.Struct, frozen=True):
    """Where requests go. `source` and `key_source` say who chose that, in words that hold no secret."""

    options: ProviderOptions
    source: str
    key_source: str | None


class Config(msgspec.Struct, frozen=True):
    """Everything that holds, the strongest of `layers` first; `warnings` are for the user to read."""

    layers: tuple[Chosen[Choices], ...]
    endpoint: Endpoint | None
    default_model: Chosen[str] | None
    warnings: tuple[str, ...]
    models: Mapping[str, ModelFacts] = {}

    @property
    def model(self) -> Chosen[str] | None:
        """The model, by default the first that the endpoint lists."""
        return self._first(lambda choices: choices.model) or self.default_model

    @property
    def mode(self) -> Chosen[Mode] | None:
        return self._first(lambda choices: choices.mode)

    @property
    def reasoning_effort(self) -> Chosen[str] | None:
        return self._first(lambda choices: choices.reasoning_effort)

    @property
    def stream(self) -> Chosen[bool] | None:
        return self._first(lambda choices: choices.stream)

    @property
    def durability(self) -> Chosen[Durability] | None:
        return self._first(lambda choices: choices.durability)

    @property
    def allow_tools(self) -> list[str]:
        """The rules of every place: they add up."""
        return [rule for layer in self.layers for rule in layer.value.allow_tools]

    @property
    def deny_tools(self) -> list[str]:
        """The rules of every place: they add up."""
        return [rule for layer in self.layers for rule in layer.value.deny_tools]

    def _first(self, pick: Callable[[Choices], T | None]) -> Chosen[T] | None:
        for layer in self.layers:
            value = pick(layer.value)
            if value is not None:
                return Chosen(value, layer.source)
        return None


def user_file(home: Path) -> Path:
    """Where the user's file is, or would be."""
    return home / "turnwright" / "config.toml"


def workspace_file(folder: Path) -> Path | None:
    """The file of the workspace around `folder`: there, or above it up to the root of its git checkout."""
    folder = folder.resolve()
    above = [folder, *folder.parents]
    root = next((place for place in above if (place / ".git").exists()), folder)
    candidates = [place / WORKSPACE_FILE for place in above if place.is_relative_to(root)]
    return next((file for file in candidates if file.is_file()), None)


def load(
    home: Path,
    folder: Path | None = None,
    *,
    flags: Choices | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Config:
    """Read and merge everything; `folder` is the workspace's, None for no workspace.

    Raises ConfigError that names the file or variable, and the key.
    """
    file = user_file(home)
    user = _user(file)
    layers = [
        Chosen(flags or Choices(), "flag"),
        Chosen(Choices(model=environment.get(MODEL) or None), MODEL),
        Chosen(Choices(durability=_durability(environment)), DURABILITY),
        Chosen[Choices](user, str(file)),
    ]
    warnings: list[str] = []
    found = workspace_file(folder) if folder else None
    if found is not None:
        layers.append(Chosen(_workspace(found, user, file, warnings), str(found)))
    merged = Config(tuple(layers), None, None, tuple(warnings))
    name = _endpoint_name(file, user, merged.model.value if merged.model else None)
    table = user.endpoints.get(name) if name else None
    if environment.get(BASE_URL):
        table = None
    default = Chosen(table.models[0], str(file)) if table and table.models else None
    endpoint = _endpoint(f"{file}: {_dotted('endpoints', name or '')}", name, table, environment)
    models = {name: told.facts(f"{file}: {_dotted('models', name)}") for name, told in user.models.items()}
    return Config(merged.layers, endpoint, default, merged.warnings, models)


def _user(file: Path) -> UserFile:
    """The user's file; a mistake in one of its tables is told with the table's name."""
    values = _read(file)
    kinds: dict[str, type[EndpointTable | ModelTable]] = {"endpoints": EndpointTable, "models": ModelTable}
    for name, kind in kinds.items():
        tables: Any = values.get(name)
        if isinstance(tables, dict):
            for key, entry in cast("dict[str, Any]", tables).items():
                _convert(f"{file}: {_dotted(name, key)}", entry, kind)
    user = _convert(str(file), values, UserFile)
    _check_rules(file, user)
    return user


def _dotted(table: str, key: str) -> str:
    """A table's name as TOML writes it."""
    return f"{table}.{key}" if re.fullmatch(r"[A-Za-z0-9_-]+", key) else f'{table}."{key}"'


def _check_rules(file: Path, choices: Choices) -> None:
    given = {"allow_tools": choices.allow_tools, "deny_tools": choices.deny_tools}
    if not any(given.values()):
        return
    from turnwright.engine.permissions.rules import Rule

    for name, rules in given.items():
        for number, rule in enumerate(rules):
            try:
                Rule.parse(rule)
            except ConfigError as error:
                raise ConfigError(f"{file}: {name}[{number}]: {error}") from None


def _durability(environment: Mapping[str, str]) -> Durability | None:
    chosen = environment.get(DURABILITY) or None
    try:
        return wire.convert({"durability": chosen}, Choices).durability
    except InvalidParams:
        raise ConfigError(f"{DURABILITY}: must be turn, event or none, not {chosen!r}") from None


def _workspace(found: Path, user: UserFile, file: Path, warnings: list[str]) -> Choices:
    values = _read(found)
    known = set(UserFile.__struct_fields__)
    refused = sorted(values.keys() & known - WORKSPACE_KEYS)
    unknown = sorted(values.keys() - known)
    if refused:
        warnings.append(
            f"{found}: ignored {', '.join(refused)}: a workspace's file can't choose endpoints or keys, "
            f"loosen permissions or risk the log; {file} can"
        )
    if unknown:
        warnings.append(
            f"{found}: ignored {', '.join(unknown)}: there is no such setting; "
            f"a workspace's file may set {', '.join(sorted(WORKSPACE_KEYS))}"
        )
    choices = _convert(str(found), {key: values[key] for key in values.keys() & WORKSPACE_KEYS}, Choices)
    _check_rules(found, choices)
    configured = {model for table in user.endpoints.values() for model in table.models}
    if choices.model not in (None, LOCAL, user.model, *configured):
        warnings.append(
            f"{found}: ignored model {choices.model!r}: it is not among the `models` of an endpoint in {file}"
        )
        choices = msgspec.structs.replace(choices, model=None)
    return choices


def _endpoint_name(file: Path, user: UserFile, model: str | None) -> str | None:
    """The endpoint that lists the model, or else the user's default, or else the first."""
    if user.endpoint is not None and user.endpoint not in user.endpoints:
        raise ConfigError(f"{file}: endpoint: there is no [endpoints.{user.endpoint}]")
    listing = [name for name, table in user.endpoints.items() if model in table.models]
    if not listing or user.endpoint in listing:
        return user.endpoint or next(iter(user.endpoints), None)
    return listing[0]


def _endpoint(
    source: str, name: str | None, table: EndpointTable | None, environment: Mapping[str, str]
) -> Endpoint | None:
    url = environment.get(BASE_URL) or (table.base_url if table else None)
    if not url:
        return None
    key, key_source = _key(source, table, environment)
    values: dict[str, Any] = {
        "baseUrl": url,
        "apiKey": key,
        "type": environment.get(PROVIDER_TYPE) or (table.type if table else "openai"),
        "wireApi": environment.get(WIRE_API) or (table.wire_api if table else "completions"),
    }
    if table is not None:
        values["name"] = name  # by which messages about its failures call it
        values["headers"] = table.headers
        values["maxPromptTokens"] = table.max_prompt_tokens
        values["maxOutputTokens"] = table.max_output_tokens
    kind = f"{PROVIDER_TYPE} or {WIRE_API}"
    try:
        options = wire.convert(values, ProviderOptions)
    except InvalidParams as error:
        raise ConfigError(f"{kind}: {error}") from None
    places = {
        "baseUrl": BASE_URL if environment.get(BASE_URL) else f"{source}: base_url",
        "headers": f"{source}: headers",
        "apiKey": key_source if key_source != source else f"{source}: api_key",
        "wireApi": kind
        if environment.get(PROVIDER_TYPE) or environment.get(WIRE_API)
        else f"{source}: wire_api",
    }
    for field, fault in faults(options):
        raise ConfigError(f"{places.get(field, source)}: {fault}")
    return Endpoint(options, source if table else BASE_URL, key_source)


def _key(
    source: str, table: EndpointTable | None, environment: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """The key and where it came from. The file's keys are for the file's endpoints alone."""
    if environment.get(API_KEY):
        return environment[API_KEY], API_KEY
    if table is None:
        return None, None
    if table.api_key_env:
        return environment.get(table.api_key_env) or None, table.api_key_env
    return table.api_key, source if table.api_key else None


def _read(file: Path) -> dict[str, Any]:
    try:
        if file.exists() and not file.is_file():  # a pipe would be waited for
            raise ConfigError(f"{file} is no regular file")
        text = file.read_text("utf-8-sig")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8, at byte {error.start}") from error
    return _parsed(text, file)


def _parsed(text: str, file: Path) -> dict[str, Any]:
    import tomllib  # most starts find no file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{file} is not TOML that can be read: nested too deeply") from None


def _convert(place: str, values: Any, kind: type[S]) -> S:
    try:
        return wire.convert(values, kind)
    except InvalidParams as error:
        raise ConfigError(f"{place}: {error}") from None
