"""From a provider's options to the provider."""

from turnwright.errors import ConfigError
from turnwright.protocol.options import ProviderOptions
from turnwright.providers.base import Provider


def open_provider(options: ProviderOptions) -> Provider:
    """The provider that the options describe; nothing is sent yet. Raises ConfigError naming the field."""
    if options.type == "openai" and options.wire_api == "completions":
        from turnwright.providers.openai_chat import OpenAIChat

        return OpenAIChat(
            options.base_url,
            api_key=options.api_key,
            bearer_token=options.bearer_token,
            headers=options.headers or {},
            name=options.name or "openai",
        )
    raise ConfigError(
        f"provider.type: {options.type!r} with wireApi {options.wire_api!r} is not supported yet; "
        "'openai' with 'completions' is"
    )


def open_local() -> Provider:
    """The local model. Raises ProviderError on use when its extra or its file is missing."""
    from turnwright.providers.embedded import Embedded

    return Embedded()
