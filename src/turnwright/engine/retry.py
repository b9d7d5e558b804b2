"""When a failed model call is worth another turn, and how long to wait before it."""

import random

from turnwright.errors import ProviderError

ATTEMPTS = 5
BASE_DELAY = 0.2
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
LONGEST_TOTAL = 600.0
"""Seconds from the first failure to the last attempt's begin."""


def delay(error: ProviderError, attempt: int, failing: float, rng: random.Random) -> float | None:
    """Seconds to wait before attempt number `attempt + 1` (the first is 1); None to give up.

    Exponential backoff with full jitter on the upper half; the server's Retry-After is obeyed up to a minute,
    and a longer one ends the run: it says when to come back. `failing` is how many seconds ago the first
    attempt failed.
    """
    if not error.retryable or attempt >= ATTEMPTS:
        return None
    ceiling = min(LONGEST_DELAY, BASE_DELAY * 2 ** (attempt - 1))
    pause = ceiling * (0.5 + rng.random() / 2)
    if error.retry_after is not None:
        if error.retry_after > LONGEST_RETRY_AFTER:
            return None
        pause = error.retry_after
    return pause if failing + pause <= LONGEST_TOTAL else None
