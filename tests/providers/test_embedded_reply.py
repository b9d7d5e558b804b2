"""What is read out of the local model's JSON."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.protocol.messages import Assistant, Message, ToolCall, ToolOutput, User
from turnwright.providers.embedded_reply import AnswerText, WrittenCall, answer_so_far, goes_in_circles, parse


@given(
    answer=st.text(alphabet=st.characters(exclude_categories=["Cs"])), escaped=st.booleans(), data=st.data()
)
def test_an_answer_that_grows_piece_by_piece_is_told_once_and_whole(
    answer: str, escaped: bool, data: st.DataObject
) -> None:
    written = json.dumps({"answer": answer}, ensure_ascii=escaped)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(written)), max_size=8)) | {0, len(written)})
    text = AnswerText()
    told = "".join(text.feed(written[start:end]) for start, end in pairwise(cuts))
    assert (told, parse(written)) == (answer, answer)


def test_nothing_of_a_tool_call_is_told_as_text() -> None:
    text = AnswerText()
    assert [text.feed('{"tool": "bash", '), text.feed('"arguments": {"answer": "x"}}')] == ["", ""]


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ('{"answer": "half a se', "half a se"),
        ('{"answer": "caf\\u00', "caf"),
        ('{"answer": "\\ud83d', ""),
        ('{"answer": "\\ud83d\\ude00', "\N{GRINNING FACE}"),
        ('{"ans', ""),
    ],
)
def test_an_answer_that_was_cut_off_is_told_as_far_as_it_is_sure(written: str, answer: str) -> None:
    assert (answer_so_far(written), parse(written)) == (answer, None)


def test_a_call_is_read_with_its_arguments_as_json() -> None:
    assert parse('{"tool": "grep", "arguments": {"pattern": "é"}}') == WrittenCall("grep", '{"pattern": "é"}')


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"tool": "grep"}', '{"answer": 3}', "Sure!"])
def test_anything_else_is_neither_call_nor_answer(written: str) -> None:
    assert parse(written) is None


A, B = ToolCall("1", "bash", '{"command":"ls"}'), ToolCall("2", "bash", '{"command":"pwd"}')
AGAIN = ToolCall("4", "bash", '{"command": "ls"}')


def made(*calls: ToolCall) -> list[Message]:
    return [message for call in calls for message in (Assistant("", (call,)), ToolOutput(call.id, "x"))]


@pytest.mark.parametrize(
    ("messages", "circles"),
    [
        ([User("q")], False),
        ([User("q"), *made(A)], False),
        ([User("q"), *made(A, AGAIN)], True),
        ([User("q"), *made(B, A)], False),
        ([User("q"), *made(A, B, AGAIN)], False),
        ([User("q"), *made(A, B, A, B, AGAIN)], True),
        ([User("q"), *made(A, AGAIN), Assistant("done"), User("again, please")], False),
        ([User("q"), *made(ToolCall("3", "bash", "not JSON"))], False),
    ],
)
def test_a_call_goes_in_circles_when_it_repeats_the_last_or_comes_a_third_time(
    messages: list[Message], circles: bool
) -> None:
    assert goes_in_circles(messages) == circles
