"""When a failed model call is worth another turn, and how long to wait before it."""

import random

from turnwright.errors import ProviderError

ATTEMPTS = 5
BASE_DELAY = 0.2
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0


def delay(error: ProviderError, attempt: int, rng: random.Random) -> float | None:
    """Seconds to wait before attempt number `attempt + 1` (the first is 1); None to give up.

    Exponential backoff with full jitter on the upper half; the server's Retry-After is obeyed up to a minute,
    and a longer one ends the run: it says when to come back.
    """
    if not error.retryable or attempt >= ATTEMPTS:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_RETRY_AFTER else None
    ceiling = min(LONGEST_DELAY, BASE_DELAY * 2 ** (attempt - 1))
    return ceiling * (0.5 + rng.random() / 2)
