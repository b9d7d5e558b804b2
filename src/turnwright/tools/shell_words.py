"""What a word of a command line says before the shell expands it."""

import re

from turnwright.tools.shell_tree import Node

Word = str | None
"""A word as the command will get it, or None where only the shell can tell."""

LITERALS = frozenset((
    "ansi_c_string", "arithmetic_expansion", "brace_expression", "command_substitution", "concatenation",
    "expansion", "number", "process_substitution", "raw_string", "simple_expansion", "string", "word",
))  # fmt: skip
"""The types of nodes that stand for a word."""

_EXPANDED = re.compile(r"[*?\[$`]|^~|[=:]~")
_BRACE = re.compile(rb"[{}]")
_ALTERNATIVES = re.compile(rb",|\.\.")

_ESCAPE = re.compile(rb"\\(\n|.)", re.DOTALL)
_ESCAPE_IN_QUOTES = re.compile(rb'\\([$`"\\\n])')


def word(node: Node) -> Word:
    """The literal value of an argument, its quotes and escapes removed."""
    value = _value(node, expands_braces=_ALTERNATIVES.search(node.text) is not None)
    return None if value is None else value.decode(errors="replace")


def _value(node: Node, *, expands_braces: bool) -> bytes | None:
    text = node.text
    match node.type:
        case "word" | "number" | "variable_name" | "test_operator" if not node.children:
            return None if expands_braces and _BRACE.search(text) else _unquoted(text)
        case "raw_string":
            return text[1:-1]
        case "string" if all(child.type in ('"', "string_content") for child in node.children):
            return _ESCAPE_IN_QUOTES.sub(_unescape, text[1:-1])
        case "ansi_c_string" if b"\\" not in text:
            return text[2:-1]
        case "command_name" | "concatenation":
            values = [_value(child, expands_braces=expands_braces) for child in node.children]
            return b"".join(value for value in values if value is not None) if None not in values else None
        case _:
            return None


def _unquoted(text: bytes) -> bytes | None:
    bare = _ESCAPE.sub(b"", text).decode(errors="replace")
    return None if _EXPANDED.search(bare) else _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[bytes]) -> bytes:
    return b"" if match[1] == b"\n" else match[1]
