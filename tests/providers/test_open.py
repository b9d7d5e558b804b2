"""From a provider's options to the provider: which one it is, and how wrong options are told."""

import pytest

from turnwright.errors import ConfigError
from turnwright.protocol.options import AzureOptions, ProviderOptions
from turnwright.providers.anthropic import Anthropic
from turnwright.providers.azure import AzureOpenAI
from turnwright.providers.open import check_provider, open_provider
from turnwright.providers.openai_chat import OpenAIChat
from turnwright.providers.responses import OpenAIResponses

URL = "http://localhost/v1"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (ProviderOptions(URL), OpenAIChat),
        (ProviderOptions(URL, wire_api="responses"), OpenAIResponses),
        (ProviderOptions(URL, wire_api="responses", transport="websockets"), OpenAIResponses),
        (ProviderOptions(URL, type="anthropic", headers={"anthropic-beta": "x"}), Anthropic),
        (ProviderOptions(URL, type="azure", azure=AzureOptions("2024-10-21")), AzureOpenAI),
        (ProviderOptions(URL, type="azure", wire_api="responses"), AzureOpenAI),
    ],
)
def test_type_and_wire_api_choose_the_provider(options: ProviderOptions, kind: type) -> None:
    check_provider(options)
    assert type(open_provider(options)) is kind


SECRET = "a-secret\nkey"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ProviderOptions("localhost:11434"),
         "provider.baseUrl: the base URL of a model endpoint must be http://HOST or https://HOST, "
         "with a path"),
        (ProviderOptions(URL, headers={"bad name": "x"}),
         "provider.headers: 'bad name' is no name for a header"),
        (ProviderOptions(URL, api_key=SECRET), "provider.apiKey: holds a control character"),
        (ProviderOptions(URL, bearer_token=SECRET), "provider.bearerToken: holds a control character"),
        (ProviderOptions(URL, type="anthropic", wire_api="responses"),
         "provider.wireApi: 'responses' is an API of openai and azure, not of 'anthropic'"),
        (ProviderOptions(URL, transport="websockets"),
         "provider.transport: 'websockets' needs wireApi 'responses'"),
        (ProviderOptions(URL, type="azure", azure=AzureOptions("2024&x=1")),
         "provider.azure.apiVersion: must be a version such as 2024-10-21"),
        (ProviderOptions(URL, max_prompt_tokens=0), "provider.maxPromptTokens: must be at least 1"),
        (ProviderOptions(URL, max_context_window_tokens=0),
         "provider.maxContextWindowTokens: must be at least 1"),
        (ProviderOptions(URL, max_output_tokens=-1), "provider.maxOutputTokens: must be at least 1"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_told_by_its_field_before_anything_is_sent(
    options: ProviderOptions, message: str
) -> None:
    for check in (check_provider, open_provider):
        with pytest.raises(ConfigError) as raised:
            check(options)
        assert str(raised.value) == message
