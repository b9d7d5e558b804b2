"""Documents in requests of each API, where they can be shown and where not, and the citations of answers."""

from typing import Any

import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from apis import APIS, Spoken
from exchange import KEY, Heard, request
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming as ChatParams,
)
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from vendors import assert_fits

from turnwright.protocol import wire
from turnwright.protocol.messages import Document, Image, Message, User
from turnwright.protocol.options import ProviderOptions
from turnwright.protocol.wire import Json
from turnwright.providers.anthropic import Anthropic
from turnwright.providers.base import ModelRequest
from turnwright.providers.media_limits import reads_documents
from turnwright.testing.answers import Say, say, send_json
from turnwright.testing.messages_answers import send_events
from turnwright.testing.messages_server import MessagesServer

pytestmark = pytest.mark.anyio

NAMED = Document("application/pdf", "AAAA", "report.pdf")
HISTORY: list[Message] = [User("read", (Image("image/png", "BBBB", "a.png"),), (NAMED,))]
URL = "data:application/pdf;base64,AAAA"
SHOWN: dict[str, Json] = {
    "chat": {"type": "file", "file": {"filename": "report.pdf", "file_data": URL}},
    "responses": {"type": "input_file", "filename": "report.pdf", "file_data": URL},
    "messages": {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
        "title": "report.pdf",
    },
}
SHOWN["azure"] = SHOWN["chat"]
TYPES: dict[str, Any] = {
    "chat": ChatParams,
    "azure": ChatParams,
    "messages": MessageCreateParamsNonStreaming,
    "responses": ResponseCreateParamsNonStreaming,
}
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def sent(api: Spoken, asked: ModelRequest) -> Json:
    """The body that the API's server got and found right."""
    async with api.serve([say("ok")], api_key=KEY) as server:
        provider = api.provider(server)
        await provider.respond(asked, Heard())
        await provider.aclose()
    assert server.violations == []
    return server.requests[0]


def parts(body: Json) -> list[Json]:
    """The parts of the one message of the user, marks aside."""
    message = (body.get("messages") or body.get("input"))[-1]
    for part in message["content"]:
        part.pop("cache_control", None)
    return message["content"]


@pytest.mark.parametrize("api", APIS, ids=str)
async def test_a_document_is_sent_in_the_words_of_each_api_before_the_pictures(api: Spoken) -> None:
    body = await sent(api, request(HISTORY, documents=True))
    assert_fits(TypeAdapter(TYPES[api.name]), body)
    _, document, name, _ = parts(body)
    assert document == SHOWN[api.name]
    assert name["text"] == "a.png"


@pytest.mark.parametrize("vision", [True, False])
@pytest.mark.parametrize("api", APIS, ids=str)
async def test_where_documents_are_not_taken_they_are_named(api: Spoken, vision: bool) -> None:
    text, note, *pictures = parts(await sent(api, request(HISTORY, vision=vision)))
    assert (text["text"], note["text"], len(pictures)) == (
        "read",
        "The document report.pdf (application/pdf) can't be shown here.",
        2 * vision,
    )


@pytest.mark.parametrize("api", APIS, ids=str)
async def test_a_document_without_a_name_is_sent_too(api: Spoken) -> None:
    body = await sent(api, request([User("", (), (Document("application/pdf", "AAAA"),))], documents=True))
    assert "AAAA" in wire.encode(parts(body)).decode()


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (ProviderOptions("https://api.anthropic.com", "anthropic"), True),
        (ProviderOptions("https://api.openai.com/v1"), True),
        (ProviderOptions("http://127.0.0.1:11434/v1"), False),
        (ProviderOptions("http://127.0.0.1:11434/v1", wire_api="responses"), True),
        (ProviderOptions("https://x.openai.azure.com", "azure"), False),
    ],
)
def test_who_takes_documents_is_told_by_the_api_and_the_host(options: ProviderOptions, taken: bool) -> None:
    assert reads_documents(options) is taken


async def test_citations_are_asked_for_with_each_document_and_no_format_beside_them() -> None:
    messages = next(api for api in APIS if api.name == "messages")
    body = await sent(messages, request(HISTORY, documents=True, citations=True, answer_schema=SCHEMA))
    assert parts(body)[1] == {**SHOWN["messages"], "citations": {"enabled": True}}
    assert "output_config" not in body
    plain = await sent(messages, request([User("hi")], documents=True, citations=True, answer_schema=SCHEMA))
    assert "format" in plain["output_config"]


PAGE = {
    "type": "page_location",
    "cited_text": "It grew.",
    "document_index": 0,
    "document_title": "report.pdf",
    "start_page_number": 2,
    "end_page_number": 3,
}
CHARACTERS = {
    "type": "char_location",
    "cited_text": "So.",
    "document_index": 1,
    "document_title": None,
    "start_char_index": 5,
    "end_char_index": 8,
}
BLOCK = {"type": "content_block_location", "document_index": 1, "start_block_index": 0, "end_block_index": 1}
CITED = {
    "sources": [
        {"id": "document-0", "provider": "anthropic", "title": "report.pdf"},
        {"id": "document-1", "provider": "anthropic"},
    ],
    "spans": [
        {
            "startIndex": 5,
            "endIndex": 13,
            "references": [
                {
                    "sourceId": "document-0",
                    "citedText": "It grew.",
                    "location": {"type": "page", "startPage": 2, "endPage": 3},
                },
                {
                    "sourceId": "document-1",
                    "citedText": "So.",
                    "location": {"type": "char", "startIndex": 5, "endIndex": 8},
                },
                {"sourceId": "document-1", "location": {"type": "block", "startBlock": 0, "endBlock": 1}},
            ],
        }
    ],
}


@pytest.mark.parametrize("stream", [True, False])
async def test_what_an_answer_cites_is_told_by_its_place_in_the_whole_text(stream: bool) -> None:
    def delta(index: int, kind: str, **more: Json) -> Json:
        return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}

    usage: Json = {"input_tokens": 3, "output_tokens": 2}
    message: Json = {"id": "msg", "type": "message", "model": "m", "usage": usage, "stop_reason": "end_turn"}
    blocks: list[Json] = [
        {"type": "text", "text": "Yes: "},
        {"type": "text", "text": "it grew.", "citations": [PAGE, CHARACTERS, BLOCK]},
        {"type": "text", "text": " Well."},
    ]
    answer = send_json({**message, "content": blocks})
    if stream:
        answer = send_events(
            {"type": "message_start", "message": {**message, "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            delta(0, "text_delta", text="Yes: "),
            {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
            delta(1, "citations_delta", citation=PAGE),
            delta(1, "text_delta", text="it "),
            delta(1, "text_delta", text="grew."),
            delta(1, "citations_delta", citation=CHARACTERS),
            delta(1, "citations_delta", citation=BLOCK),
            {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
            delta(2, "text_delta", text=" Well."),
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        )
    async with MessagesServer([answer, Say("plain")]) as server:
        provider = Anthropic(server.base_url)
        reply = await provider.respond(request(stream=stream), Heard())
        plain = await provider.respond(request(stream=stream), Heard())
        await provider.aclose()
    assert reply.content == "Yes: it grew. Well."
    assert wire.builtins(reply.citations) == CITED
    assert plain.citations is None
