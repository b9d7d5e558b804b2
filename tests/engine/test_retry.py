"""When a failed model call is worth another turn, and how long it waits."""

import random

import pytest

from turnwright.engine import retry
from turnwright.errors import ProviderError


class Drawn(random.Random):
    """Chance that always draws the same."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self._value = value

    def random(self) -> float:
        return self._value


def failed(retry_after: float | None = None, *, retryable: bool = True) -> ProviderError:
    return ProviderError("no", retryable=retryable, retry_after=retry_after)


def pauses(chance: float) -> list[float | None]:
    return [retry.delay(failed(), attempt, 0, Drawn(chance)) for attempt in range(1, retry.ATTEMPTS + 1)]


def test_pauses_double_with_chance_in_their_upper_half_and_the_last_attempt_has_none() -> None:
    assert pauses(0.0) == [0.1, 0.2, 0.4, 0.8, None]
    assert pauses(1.0) == [0.2, 0.4, 0.8, 1.6, None]


def test_a_pause_is_never_longer_than_the_longest() -> None:
    assert retry.LONGEST_DELAY >= retry.BASE_DELAY * 2 ** (retry.ATTEMPTS - 2)


def test_what_can_not_help_is_not_tried_again() -> None:
    assert retry.delay(failed(retryable=False), 1, 0, Drawn(0.5)) is None


@pytest.mark.parametrize(
    ("asked", "pause"), [(0.0, 0.0), (1.5, 1.5), (60.0, 60.0), (60.1, None), (7200.0, None)]
)
def test_the_servers_wait_is_obeyed_up_to_a_minute(asked: float, pause: float | None) -> None:
    assert retry.delay(failed(asked), 1, 0, Drawn(0.5)) == pause


@pytest.mark.parametrize(("failing", "pause"), [(540.0, 60.0), (540.5, None), (600.0, None)])
def test_all_attempts_together_are_bounded_in_time(failing: float, pause: float | None) -> None:
    assert retry.delay(failed(60.0), 2, failing, Drawn(0.5)) == pause
    assert retry.delay(failed(), 2, retry.LONGEST_TOTAL, Drawn(0.5)) is None
