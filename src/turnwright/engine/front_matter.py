"""Markdown files that begin with a block of YAML between lines of `---`, as agents are written."""

import re
from typing import Any, TypeVar

from turnwright.errors import ConfigError, InvalidParams
from turnwright.protocol import wire

T = TypeVar("T")

DEEPEST = 20
"""Levels of a block, far beyond what anyone writes: the parser takes minutes for some thousands."""

_BLOCK = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def split(text: str, kind: type[T]) -> tuple[T, str]:
    """The block as `kind`, and the text after it. Raises ConfigError that says what is wrong.

    Every plain value is read as text and converted to what `kind` wants: no `no` becomes a false, and no date
    a fault. Aliases are refused, as a few of them can stand for gigabytes.
    """
    import yaml  # heavy, and most sessions need none

    found = _BLOCK.match(text)
    if found is None:
        raise ConfigError("it doesn't begin with a block of YAML between lines of ---")
    block = found[1]
    try:
        parse: Any = yaml.parse  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        depth = 0
        for event in parse(block):
            if isinstance(event, yaml.AliasEvent):
                raise ConfigError("aliases aren't read: write the value out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ConfigError(f"it is nested more than {DEEPEST} levels deep")
        values = yaml.load(block, yaml.BaseLoader)
        return wire.convert(values or {}, kind, strict=False), text[found.end() :].strip()
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise ConfigError(f"its block isn't YAML: {error.problem}{line}") from None
    except (yaml.YAMLError, RecursionError):
        raise ConfigError("its block isn't YAML") from None
    except InvalidParams as error:
        raise ConfigError(str(error)) from None
