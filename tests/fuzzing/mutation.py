"""Inputs that are nearly right: samples with a few changes."""

import random
from collections.abc import Iterator, Sequence

LONGEST = 2048
MOST_CHANGES = 6
REPEATS = 20


def mutations(samples: Sequence[bytes], tokens: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Yield the samples, and then changed ones without end; the same ones for the same seed."""
    yield from samples
    chance = random.Random(seed)
    while True:
        data = bytearray(chance.choice(samples))
        for _ in range(chance.randint(1, MOST_CHANGES)):
            _change(data, samples, tokens, chance)
        yield bytes(data[:LONGEST])


def _change(
    data: bytearray, samples: Sequence[bytes], tokens: Sequence[bytes], chance: random.Random
) -> None:
    start = chance.randint(0, len(data))
    end = min(len(data), start + int(chance.expovariate(1 / 20)))
    match chance.randrange(8):
        case 0 if start < len(data):
            data[start] ^= 1 << chance.randrange(8)
        case 1 if start < len(data):
            data[start] = chance.randrange(256)
        case 2:
            data[start:start] = chance.choice(tokens)
        case 3:
            data[start:start] = chance.choice(tokens) * (2 + int(chance.expovariate(1 / REPEATS)))
        case 4:
            del data[start:end]
        case 5:
            data[start:start] = data[start:end] * chance.randint(1, 4)
        case 6:
            other = chance.choice(samples)
            data[start:] = other[chance.randint(0, len(other)) :]
        case _:
            data[start:end] = chance.choice(tokens)
