"""Numbers with what they count."""


def counted(number: int, noun: str) -> str:
    """The number and the noun, in the plural unless it is one: `1 turn`, `2 turns`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
