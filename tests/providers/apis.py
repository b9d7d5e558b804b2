"""Every API with its server and its provider, for what must hold on each."""

from collections.abc import Callable
from dataclasses import dataclass

from exchange import KEY, PATIENT

from turnwright.providers.anthropic import Anthropic
from turnwright.providers.azure import AzureOpenAI
from turnwright.providers.base import Provider
from turnwright.providers.openai_chat import OpenAIChat, chat_api
from turnwright.providers.responses import OpenAIResponses
from turnwright.providers.transport import Timeouts
from turnwright.testing.answers import Say, Send
from turnwright.testing.azure_server import AzureServer
from turnwright.testing.chat_server import ChatServer, render_chat
from turnwright.testing.messages_server import MessagesServer, render_messages
from turnwright.testing.model_server import ModelServer
from turnwright.testing.responses_server import ResponsesServer, render_responses

Serve = type[ChatServer] | type[MessagesServer] | type[ResponsesServer] | type[AzureServer]


@dataclass(frozen=True)
class Spoken:
    """One API: its server, its provider at a URL, and how the server renders an answer."""

    name: str
    serve: Serve
    at: Callable[[str, Timeouts], Provider]
    render: Callable[[Say, dict[str, object], int], Send]

    def provider(self, server: ModelServer, timeouts: Timeouts = PATIENT) -> Provider:
        """A provider that asks `server`."""
        return self.at(server.base_url, timeouts)

    def pieces(self, answer: Say) -> list[bytes]:
        """The events of an answer, each by itself."""
        return list(self.render(answer, {"model": "m", "stream": True}, 0).pieces)

    def __str__(self) -> str:
        return self.name


APIS = [
    Spoken("chat", ChatServer, lambda url, t: OpenAIChat(url, api_key=KEY, timeouts=t), render_chat),
    Spoken(
        "messages",
        MessagesServer,
        lambda url, t: Anthropic(url, api_key=KEY, timeouts=t),
        render_messages,
    ),
    Spoken(
        "responses",
        ResponsesServer,
        lambda url, t: OpenAIResponses(url, api_key=KEY, timeouts=t),
        render_responses,
    ),
    Spoken(
        "azure",
        AzureServer,
        lambda url, t: AzureOpenAI(
            url,
            chat_api(format_is_of_answers=True),
            by_deployment=True,
            api_version="2024-10-21",
            api_key=KEY,
            timeouts=t,
        ),
        render_chat,
    ),
]
