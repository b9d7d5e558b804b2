"""From a provider's options to the provider."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from turnwright.errors import ConfigError
from turnwright.protocol.options import ProviderOptions
from turnwright.providers import certificates
from turnwright.providers.base import Provider
from turnwright.providers.endpoint import check_headers, split_url

if TYPE_CHECKING:
    from turnwright.providers.api import Api
    from turnwright.providers.conversation import C

_VERSION = re.compile(r"[\w.-]+")


def check_provider(options: ProviderOptions, where: str = "provider") -> None:
    """Look for what can't work in a provider's options; nothing is sent. Raises ConfigError naming the field,
    as one of `where`.
    """
    for field, fault in faults(options):
        raise ConfigError(f"{where}.{field}: {fault}")


def faults(options: ProviderOptions) -> Iterator[tuple[str, str]]:
    """What can't work in a provider's options: each field by its name on the wire, with what is wrong."""
    yield from _unusable("baseUrl", partial(split_url, options.base_url))
    yield from _unusable("headers", partial(check_headers, options.headers or {}))
    for field, secret in (("apiKey", options.api_key), ("bearerToken", options.bearer_token)):
        if secret is not None and not secret.strip().isprintable():
            yield field, "holds a control character"
    if options.type == "anthropic" and options.wire_api == "responses":
        yield "wireApi", "'responses' is an API of openai and azure, not of 'anthropic'"
    if options.transport == "websockets" and options.wire_api != "responses":
        yield "transport", "'websockets' needs wireApi 'responses'"
    version = options.azure.api_version if options.azure else None
    if version is not None and not _VERSION.fullmatch(version):
        yield "azure.apiVersion", "must be a version such as 2024-10-21"
    for field, bound in (
        ("maxPromptTokens", options.max_prompt_tokens),
        ("maxContextWindowTokens", options.max_context_window_tokens),
        ("maxOutputTokens", options.max_output_tokens),
    ):
        if bound is not None and bound < 1:
            yield field, "must be at least 1"


def open_provider(options: ProviderOptions) -> Provider:
    """The provider that the options describe; nothing is sent yet. Raises ConfigError naming the field."""
    check_provider(options)
    if options.has_bearer_token_provider:  # each request brings a token, which goes before keys that last
        options = msgspec.structs.replace(options, api_key=None, bearer_token=None)
    with certificates.unread():  # the first one loads aiohttp
        match options.type:
            case "anthropic":
                return _anthropic(options)
            case "azure":
                return _azure(options)
            case "openai":
                return _openai(options)


def open_local() -> Provider:
    """The local model. Raises ProviderError on use when its extra or its file is missing."""
    from turnwright.providers.embedded import Embedded

    return Embedded()


def _openai(options: ProviderOptions) -> Provider:
    if options.wire_api == "responses":
        from turnwright.providers.responses import OpenAIResponses

        return OpenAIResponses(
            options.base_url,
            api_key=options.api_key,
            bearer_token=options.bearer_token,
            headers=options.headers or {},
            name=options.name or "openai",
            max_output_tokens=options.max_output_tokens,
            websockets=options.transport == "websockets",
        )
    from turnwright.providers.openai_chat import OpenAIChat

    return OpenAIChat(
        options.base_url,
        api_key=options.api_key,
        bearer_token=options.bearer_token,
        headers=options.headers or {},
        name=options.name or "openai",
    )


def _azure(options: ProviderOptions) -> Provider:
    from turnwright.providers.azure import AzureOpenAI
    from turnwright.providers.openai_chat import chat_api
    from turnwright.providers.responses import responses_api

    def opened(api: "Api[C]", *, by_deployment: bool) -> Provider:
        return AzureOpenAI(
            options.base_url,
            api,
            by_deployment=by_deployment,
            api_version=options.azure.api_version if options.azure else None,
            api_key=options.api_key,
            bearer_token=options.bearer_token,
            headers=options.headers or {},
            name=options.name or "azure",
        )

    if options.wire_api == "responses":
        websockets = options.transport == "websockets"
        api = responses_api(options.max_output_tokens, websockets=websockets)
        return opened(api, by_deployment=False)
    return opened(chat_api(format_is_of_answers=True), by_deployment=True)


def _anthropic(options: ProviderOptions) -> Provider:
    from turnwright.providers.anthropic import Anthropic

    return Anthropic(
        options.base_url,
        api_key=options.api_key,
        bearer_token=options.bearer_token,
        headers=options.headers or {},
        name=options.name or "anthropic",
        max_output_tokens=options.max_output_tokens,
    )


def _unusable(field: str, check: Callable[[], object]) -> Iterator[tuple[str, str]]:
    try:
        check()
    except ConfigError as error:
        yield field, str(error)
