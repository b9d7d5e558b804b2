"""The syntax tree of a command line, and whether bash would read the text as the tree says.

The grammar differs from bash in known ways: it takes words after a redirection for more targets, joins no
words across a line continuation, leaves substitutions inside patterns and here-documents unparsed, and splits
words at characters that are no blanks to bash. Each of them could hide a command, so a line that may be read
in two ways isn't trusted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from turnwright.tools.shell_words import source
from turnwright.tools.wrapped_commands import RESERVED

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LITERALS = frozenset((
    "ansi_c_string", "arithmetic_expansion", "brace_expression", "command_substitution", "concatenation",
    "expansion", "number", "process_substitution", "raw_string", "simple_expansion", "string", "word",
))  # fmt: skip
"""The types of nodes that stand for a word."""

_ODD_CHARACTER = re.compile(r"[^\S \t\n]|[\0-\x08\x0e-\x1f\x7f]")
_SUBSTITUTION = re.compile(rb"\$[({\[]|`|[<>]\(")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_DELIMITER = re.compile(rb"(['\"]?)(\w+)\1")
_PLAIN_PATTERN = re.compile(rb"[^\s'\"\\$`{}()<>&;|]*")
_BLANKS = b" \t\n"
_OPERATORS = b";&|()<>"

_KEEPS_ITS_TEXT = frozenset(["raw_string", "ansi_c_string", "heredoc_start", "heredoc_end"])
_KEYWORDS = frozenset(word.encode() for word in RESERVED - {"time", "coproc"})
_NO_KEYWORDS_IN = frozenset(
    ["arithmetic_expansion", "brace_expression", "concatenation", "expansion", "subscript"]
)


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # a compiled grammar, which most processes never need
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse_tree(text: str) -> Node:
    """Parse a command line; what can't be parsed is in nodes of type ERROR."""
    return _parser().parse(text.encode(errors="replace")).root_node


def descendants(root: Node) -> Iterator[Node]:
    """The node itself and all below it, in the order of the text."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(node.children))


def is_read_alike(text: str, root: Node) -> bool:
    """Whether bash surely sees in `text` the commands that the tree has."""
    if root.has_error or _ODD_CHARACTER.search(text):
        return False
    data = text.encode(errors="replace")
    outside = data[: root.start_byte] + data[root.end_byte :]
    return _is_blank(outside) and all(_is_plain(node, data) for node in descendants(root))


def _is_plain(node: Node, data: bytes) -> bool:
    if not node.children:
        return _is_plain_token(node, data)
    match node.type:
        case "string" | "heredoc_body":
            return True
        case "translated_string":
            return False
        case "concatenation":
            plain = all(left.end_byte == right.start_byte for left, right in pairwise(node.children))
        case "file_redirect" | "herestring_redirect":
            plain = sum(child.type in LITERALS for child in node.children) <= 1
        case "heredoc_redirect":
            plain = _is_plain_heredoc(node, data)
        case "command_substitution":
            plain = not (source(node).startswith(b"`") and b"\\" in source(node))
        case "command" | "declaration_command" | "unset_command":
            plain = not _begins_with_keyword(node) and _words_are_apart(node, data)
        case _:
            plain = True
    starts = [*(child.start_byte for child in node.children), node.end_byte]
    ends = [node.start_byte, *(child.end_byte for child in node.children)]
    return plain and all(_is_blank(data[end:start]) for end, start in zip(ends, starts, strict=True))


def _is_plain_token(node: Node, data: bytes) -> bool:
    before, after = (
        data[max(node.start_byte - 2, 0) : node.start_byte],
        data[node.end_byte : node.end_byte + 1],
    )
    text = source(node)
    if node.type == "comment":
        return not before or (before[-1:] in _BLANKS + b";&|" and before[:-1] != b"\\")
    if not node.is_named:
        is_keyword = text in _KEYWORDS or text.isalpha() or text in (b"[", b"]", b"]]")
        within = node.parent.type if node.parent else ""
        stands_alone = before[-1:] in _BLANKS + _OPERATORS and after in _BLANKS + _OPERATORS
        return not is_keyword or within in _NO_KEYWORDS_IN or stands_alone
    if node.type in _KEEPS_ITS_TEXT or _is_quoted_heredoc(node):
        return True
    if node.type == "regex":
        return _PLAIN_PATTERN.fullmatch(text) is not None
    bare = _ESCAPED.sub(b"", text)
    return not _SUBSTITUTION.search(bare) and not (node.type == "word" and set(bare) & set(_BLANKS))


def _is_blank(gap: bytes) -> bool:
    """Whether nothing is there but blanks; a continued line alone joins the words around it."""
    joined = gap.replace(b"\\\n", b"")
    return not joined.strip(_BLANKS) and (bool(joined) or not gap)


def _words_are_apart(command: Node, data: bytes) -> bool:
    """Whether blanks stand between any two words, and no end of a line."""
    for left, right in pairwise(command.children):
        gap = data[left.end_byte : right.start_byte]
        if b"\n" in gap.replace(b"\\\n", b"") or (not gap and not right.type.endswith("_redirect")):
            return False
    return True


def _begins_with_keyword(command: Node) -> bool:
    name = command.child_by_field_name("name")
    return name is not None and source(name) in _KEYWORDS


def _is_quoted_heredoc(body: Node) -> bool:
    redirect = body.parent
    if body.type != "heredoc_body" or redirect is None:
        return False
    return any(child.type == "heredoc_start" and source(child)[:1] in b"'\"" for child in redirect.children)


def _is_plain_heredoc(redirect: Node, data: bytes) -> bool:
    """Whether its text ends at the line where bash ends it, and no word of the command comes after `<<`."""
    parts = {child.type: child for child in redirect.children}
    start, end = parts.get("heredoc_start"), parts.get("heredoc_end")
    if start is None or end is None or not LITERALS.isdisjoint(parts):
        return False
    delimiter = _DELIMITER.fullmatch(source(start))
    if delimiter is None or _others_begin(redirect, start):
        return False
    lines = data.split(b"\n")[start.start_point.row + 1 :]
    if "<<-" in parts:
        lines = [line.lstrip(b"\t") for line in lines]
    length = end.start_point.row - start.start_point.row - 1
    return delimiter[2] in lines and lines.index(delimiter[2]) == length


def _others_begin(redirect: Node, start: Node) -> bool:
    """Whether anything on the line of `<<` may move the text's beginning: another one, or quoted newlines."""
    body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
    first = body.start_point.row if body is not None and source(body) else start.start_point.row + 1
    inner = [node.type for child in redirect.children for node in descendants(child)]
    return first != start.start_point.row + 1 or inner.count("heredoc_start") > 1
