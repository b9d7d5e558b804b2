"""Which pictures give way, where a model takes only so many."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwright.protocol.messages import Assistant, Image, Message, ToolOutput, User
from turnwright.providers.shown_pictures import Tally, without_first

REPLY = Assistant("I see")


def showing(count: int) -> User:
    return User("look", (Image("image/png", "AAAA"),) * count)


def hidden(most: int, *counts: int | None) -> list[int]:
    """How many are hidden after each message; None is a reply, a number the pictures of a message."""
    tally, found = Tally(), list[int]()
    for count in counts:
        tally = tally.after([REPLY if count is None else showing(count)], most)
        found.append(tally.hidden)
    return found


def test_the_oldest_half_gives_way_at_once() -> None:
    assert hidden(4, 1, None, 1, None, 1, None, 1, None, 1, None, 1, None, 1) == [0] * 8 + [2, 2, 2, 2, 4]


def test_of_one_picture_in_a_request_the_newest_is_shown() -> None:
    assert hidden(1, 1, None, 1, None, 0, None, 1) == [0, 0, 1, 1, 1, 1, 2]


def test_new_pictures_that_there_is_room_for_are_all_shown() -> None:
    assert hidden(6, 1, None, 6) == [0, 0, 1]
    assert hidden(6, 2, None, 1, 1, 1, 1, 1) == [0, 0, 0, 0, 0, 0, 2]


def test_of_more_new_pictures_than_there_is_room_for_the_first_give_way() -> None:
    assert hidden(3, 1, None, 8) == [0, 0, 6]


@given(st.integers(1, 9), st.lists(st.one_of(st.none(), st.integers(0, 12)), max_size=40))
def test_never_are_there_too_many_and_what_is_hidden_stays_so(most: int, counts: list[int | None]) -> None:
    messages: list[Message] = [REPLY if count is None else showing(count) for count in counts]
    steps = [Tally()]
    for message in messages:
        steps.append(steps[-1].after([message], most))
    assert steps[-1] == Tally().after(messages, most)
    assert all(step.total - step.hidden <= most for step in steps)
    assert [step.hidden for step in steps] == sorted(step.hidden for step in steps)
    assert all(step.hidden < step.total for step in steps if step.total)


PICTURES = (Image("image/png", "AAAA", "a.png"), Image("image/png", "BBBB"))
LEFT_OUT = "is left out: a request may hold 1, and later ones took its place.]"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, ["drawn"]),
        (1, ["drawn", f"[The picture a.png {LEFT_OUT}"]),
        (9, ["drawn", f"[The picture a.png {LEFT_OUT}", f"[The picture {LEFT_OUT}"]),
    ],
)
def test_a_word_stands_for_a_picture_that_gave_way(count: int, shown: Sequence[str]) -> None:
    made = without_first(ToolOutput("c", "drawn", PICTURES), count, 1)
    assert made == ToolOutput("c", "\n".join(shown), PICTURES[count:])


def test_a_message_of_nothing_but_pictures_that_gave_way_is_the_words_alone() -> None:
    assert without_first(User("", PICTURES[:1]), 1, 1) == User(f"[The picture a.png {LEFT_OUT}")
