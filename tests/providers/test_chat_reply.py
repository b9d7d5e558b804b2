"""A reply out of chunks: the same whether they are decoded at once or read tolerantly."""

from typing import Any

import msgspec
import pytest
from exchange import Heard
from hypothesis import given, settings
from hypothesis import strategies as st
from vendors import events_of

from turnwright.protocol.messages import ToolCall
from turnwright.protocol.wire import Json, encode, loads
from turnwright.providers.chat_reply import ChatReply
from turnwright.testing.answers import Say
from turnwright.testing.chat_server import render_chat

Given = st.SearchStrategy[Any]

ANYTHING: Given = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


MISSING = object()


@st.composite
def or_anything(draw: st.DrawFn, right: Given, least: int = 0) -> Any:
    """Mostly what belongs there, else null or what may be wrong; unless `least` is more, perhaps nothing."""
    match draw(st.integers(least, 30)):
        case 0:
            return MISSING
        case 1:
            return None
        case 2:
            return draw(ANYTHING)
        case _:
            return draw(right)


def some(item: Given) -> Given:
    """A list, mostly of what belongs there."""
    return st.lists(or_anything(item, least=1), max_size=3)


def an_object_of(**fields: Given) -> Given:
    """An object that has most of the fields, and one that nobody knows."""
    drawn = {name: or_anything(value) for name, value in fields.items()}
    return st.fixed_dictionaries({**drawn, "x": or_anything(ANYTHING)}).map(
        lambda made: {name: value for name, value in made.items() if value is not MISSING}
    )


NUMBER = st.integers(0, 3) | st.integers(-1, 3) | st.sampled_from([0, 1, 2, 1.0, 1.5, 2**53])
GIVEN_TEXTS = ["a", "b", "é 😀"]
TEXT = st.sampled_from(["", *GIVEN_TEXTS])
FUNCTION = an_object_of(name=TEXT, arguments=st.sampled_from(["", "{", "}", "{}"]) | st.just({"n": 1}))
CALLS = some(an_object_of(index=NUMBER, id=TEXT, function=FUNCTION))
PARTS = some(an_object_of(type=st.just("text"), text=TEXT))
PIECE = {
    "refusal": TEXT,
    "reasoning_content": TEXT,
    "reasoning": TEXT,
    "reasoning_text": TEXT,
    "tool_calls": CALLS,
}
REASON = st.sampled_from(["", "stop", "tool_calls", "length", "new"])
CHOICE = an_object_of(
    index=NUMBER,
    delta=an_object_of(content=TEXT, **PIECE),
    message=st.none() | st.none() | an_object_of(content=TEXT | PARTS, **PIECE),
    finish_reason=REASON,
)
USAGE = an_object_of(
    prompt_tokens=NUMBER, completion_tokens=NUMBER, prompt_tokens_details=an_object_of(cached_tokens=NUMBER)
)
CHUNK = an_object_of(id=TEXT, model=TEXT, choices=some(CHOICE), usage=USAGE)


@settings(max_examples=60, deadline=None)
@given(some(CHUNK))
def test_a_reply_is_the_same_decoded_at_once_or_read_tolerantly(chunks: list[Json]) -> None:
    events = [encode(chunk) for chunk in chunks]
    assert read(events, at_once=True) == read(events, at_once=False)


def read(events: list[bytes], *, at_once: bool) -> dict[str, Any]:
    """The reply, without the ids that were made up for it, and all else that a builder tells."""
    heard = Heard()
    builder = ChatReply(heard)
    for event in events:
        if not (at_once and builder.feed_usual(event)):
            builder.feed(loads(event))
    reply = msgspec.to_builtins(builder.reply(taken=set(), provider_call_id=None))
    for call in reply["tool_calls"]:
        if call["id"] not in GIVEN_TEXTS:
            call["id"] = "made up"
    return {
        "reply": reply,
        "texts": heard.texts,
        "reasonings": heard.reasonings,
        "empty": builder.empty,
        "finished": builder.finished,
    }


def test_pieces_of_calls_go_to_their_index_in_every_form() -> None:
    pieces = [(0, "a", "{"), (1, "b", "["), (0, "", "}"), (1, "", "]")]
    chunks = [
        {
            "choices": [
                {"delta": {"tool_calls": [{"index": n, "function": {"name": name, "arguments": text}}]}}
            ]
        }
        for n, name, text in pieces
    ]
    usual, other = ChatReply(None), ChatReply(None)
    for chunk in chunks:
        assert usual.feed_usual(encode(chunk))
        other.feed(chunk)
    for builder in (usual, other):
        calls = builder.reply(taken=set(), provider_call_id=None).tool_calls
        assert [(call.name, call.arguments) for call in calls] == [("a", "{}"), ("b", "[]")]


def test_each_call_of_a_whole_message_is_one_whatever_its_index() -> None:
    call = {"index": 0, "function": {"name": "a", "arguments": "{}"}}
    builder = ChatReply(None)
    builder.feed({"choices": [{"message": {"tool_calls": [call, call]}}]})
    calls = builder.reply(taken=set(), provider_call_id=None).tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("a", "{}"), ("a", "{}")]


def test_every_event_of_a_usual_stream_is_decoded_at_once() -> None:
    answer = Say("Look.", calls=[("view", {"path": "a"}), ("view", {})], reasoning="Two.")
    asked = {"model": "m", "stream": True, "stream_options": {"include_usage": True}}
    builder = ChatReply(None)
    taken = [builder.feed_usual(encode(event)) for event in events_of(render_chat(answer, asked, 0))]
    assert taken == [True] * len(taken)
    assert builder.reply(taken=set(), provider_call_id=None).tool_calls == (
        ToolCall("call_0_0", "view", '{"path":"a"}'),
        ToolCall("call_0_1", "view", "{}"),
    )


@pytest.mark.parametrize(
    "event",
    [
        b'{"error": {"message": "no"}, "choices": [{"delta": {"content": "a"}}]}',
        b'{"type": "error", "choices": [{"delta": {"content": "a"}}]}',
        b'{"type": "ping"}',
        b'{"choices": [{"message": {"content": "a"}}]}',
        b'{"choices": [{"delta": {"content": ["a"]}}]}',
        b'{"choices": [{"delta": {"content": "half of an emoji: \\ud83d"}}]}',
        b'{"choices": [{"delta": {"content": "a"}}]',
        b"[" * 2000,
    ],
)
def test_what_has_another_form_is_left_to_be_read_as_json(event: bytes) -> None:
    builder = ChatReply(None)
    assert not builder.feed_usual(event)
    assert builder.empty
