"""The configuration on each provider's page reaches a strict server of that provider's API."""

from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from tests.cases.wired import serving
from tests.docs.test_snippets import ROOT, SETTINGS, Snippet, snippets
from tests.server.sessions import prompted, started
from turnwright import config
from turnwright.protocol.messages import User
from turnwright.protocol.options import ProviderOptions
from turnwright.protocol.wire import Json, convert, loads
from turnwright.providers.base import ModelRequest
from turnwright.providers.open import open_provider
from turnwright.testing.answers import say
from turnwright.testing.azure_server import AzureServer
from turnwright.testing.chat_server import ChatServer
from turnwright.testing.messages_server import MessagesServer
from turnwright.testing.model_server import ModelServer
from turnwright.testing.responses_server import ResponsesServer

pytestmark = pytest.mark.anyio

PAGES_FOLDER = ROOT / "docs" / "providers"
PAGES = [snippet for snippet in SETTINGS if snippet.page.parent.name == "providers"]
KEYS = {
    "OPENAI_API_KEY": "sk-documented",
    "ANTHROPIC_API_KEY": "sk-documented",
    "AZURE_OPENAI_API_KEY": "sk-documented",
    "LITELLM_KEY": "sk-documented",
}


SESSIONS = [s for s in snippets() if s.language == "json" and '"providers"' in s.text]


class Unheard:
    """A progress that nobody follows."""

    async def ready(self) -> None:
        pass

    def sent(self) -> None:
        pass

    def text(self, delta: str) -> None:
        pass

    def reasoning(self, delta: str) -> None:
        pass


def server_for(options: ProviderOptions) -> ModelServer:
    """A server of the API that is configured, which wants the key that is."""
    key = options.api_key
    if options.type == "anthropic":
        return MessagesServer([say("Hello!")], api_key=key)
    if options.type == "azure":
        return AzureServer([say("Hello!")], api_key=key)
    if options.wire_api == "responses":
        return ResponsesServer([say("Hello!")], api_key=key)
    return ChatServer([say("Hello!")], api_key=key)


@pytest.mark.parametrize("page", PAGES, ids=str)
async def test_the_endpoint_of_a_page_answers(page: Snippet, tmp_path: Path) -> None:
    file = config.user_file(tmp_path)
    file.parent.mkdir()
    file.write_text(page.text, "utf-8")
    configured = config.load(tmp_path, environment=KEYS)
    assert configured.model is not None
    if configured.model.value == config.LOCAL:
        return
    assert configured.endpoint is not None
    async with server_for(configured.endpoint.options) as server:
        provider = open_provider(
            msgspec.structs.replace(configured.endpoint.options, base_url=server.base_url)
        )
        asked = ModelRequest(configured.model.value, "You help.", [User("Hello?")], (), "docs")
        reply = await provider.respond(asked, Unheard())
        await provider.aclose()
    assert (reply.content, server.violations) == ("Hello!", [])


@pytest.mark.parametrize("page", SESSIONS, ids=str)
async def test_each_model_of_a_session_as_documented_answers(page: Snippet, tmp_path: Path) -> None:
    documented: dict[str, Json] = loads(page.text)
    async with AsyncExitStack() as running:
        server = await running.enter_async_context(serving(tmp_path, None))
        models: list[ModelServer] = []
        for provider in documented["providers"]:
            models.append(await running.enter_async_context(server_for(convert(provider, ProviderOptions))))
            provider["baseUrl"] = models[-1].base_url
        client = server.connect()
        session = await started(client, tmp_path, **documented)
        for model in documented["models"]:
            selection = f"{model['provider']}/{model['id']}"
            await client.call("session.model.switchTo", sessionId=session, modelId=selection)
            await prompted(client, session, "Hello?")
    asked = [request["model"] for model in models for request in model.requests]
    assert asked == [model["wireModel"] for model in documented["models"]]
    assert [wrong for model in models for wrong in model.violations] == []
    assert client.types.count("session.error") == 0


def test_there_is_a_configuration_to_paste_on_every_page_of_a_provider() -> None:
    pages = set(PAGES_FOLDER.glob("*.md"))
    assert {snippet.page for snippet in PAGES} == pages
    assert len(SESSIONS) == 1
