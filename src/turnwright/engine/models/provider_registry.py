"""The named providers of a session, and the models that each of them serves."""

from collections.abc import Sequence

import msgspec

from turnwright.errors import ConfigError
from turnwright.protocol.options import ModelOptions, ProviderOptions
from turnwright.providers.base import ModelInfo


class Served(msgspec.Struct, frozen=True):
    """A model, with the options of the provider that serves it."""

    model: ModelOptions
    provider: ProviderOptions


class Registry:
    """What a session's options name. Raises ConfigError naming the field where they contradict themselves."""

    def __init__(
        self, providers: Sequence[ProviderOptions] | None, models: Sequence[ModelOptions] | None
    ) -> None:
        self._providers: dict[str, ProviderOptions] = {}
        self._models: dict[str, ModelOptions] = {}
        self.add(providers or (), models or ())

    def add(self, providers: Sequence[ProviderOptions], models: Sequence[ModelOptions]) -> None:
        """Name more; fields are named as these arguments have them."""
        for index, provider in enumerate(providers):
            name = _checked_name(f"providers[{index}].name", provider.name)
            if name in self._providers:
                raise ConfigError(f"providers[{index}].name: {name!r} is taken")
            self._providers[name] = provider
        for index, model in enumerate(models):
            if model.provider not in self._providers:
                raise ConfigError(f"models[{index}].provider: there is no provider {model.provider!r}")
            if not model.id:
                raise ConfigError(f"models[{index}].id: must not be empty")
            if model.selection in self._models:
                raise ConfigError(f"models[{index}].id: {model.selection!r} is taken")
            self._models[model.selection] = model

    @property
    def first(self) -> str | None:
        """The model that is used when none is chosen and nothing else is configured."""
        return next(iter(self._models), None)

    def find(self, selection: str | None) -> Served | None:
        """The model of that name; None when of no named provider. Raises ConfigError if it isn't served."""
        model = self._models.get(selection or "")
        if model is not None:
            provider = self._providers[model.provider]
            return Served(
                model,
                msgspec.structs.replace(
                    provider,
                    max_output_tokens=model.max_output_tokens or provider.max_output_tokens,
                ),
            )
        name, found, _ = (selection or "").partition("/")
        if found and name in self._providers:
            served = ", ".join(known for known in self._models if known.startswith(f"{name}/"))
            raise ConfigError(
                f"model: {selection!r} is not served; of provider {name!r} are: {served or 'none'}"
            )
        return None

    def listed(self) -> list[ModelInfo]:
        """The models, as they are listed."""
        return [described(model) for model in self._models.values()]


def described(model: ModelOptions) -> ModelInfo:
    """A model's entry in a list, by its options."""
    return ModelInfo(
        model.selection,
        model.name or model.selection,
        context_window=model.max_context_window_tokens or model.max_prompt_tokens,
        output_limit=model.max_output_tokens,
        vision=True,
        raw={"capabilities": model.capabilities} if model.capabilities else None,
    )


def _checked_name(field: str, name: str | None) -> str:
    if not name or "/" in name:
        raise ConfigError(f"{field}: must be a name without '/', not {name!r}")
    return name
