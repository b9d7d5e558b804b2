"""Whether bash would read a command line as its syntax tree says.

The grammar differs from bash in known ways: it takes words after a redirection for more targets, joins no
words across a line continuation, leaves substitutions inside patterns and here-documents unparsed, and splits
words at characters that are no blanks to bash. Each of them could hide a command, so a line that may be read
in two ways isn't trusted.
"""

import re
from itertools import pairwise

from turnwright.tools.shell_tree import Node
from turnwright.tools.shell_words import LITERALS
from turnwright.tools.wrapped_commands import RESERVED

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


def is_read_alike(text: str, root: Node) -> bool:
    """Whether bash surely sees in `text` the commands that the tree has."""
    data = text.encode(errors="replace")
    outside = data[: root.start] + data[root.end :]
    return (
        not _ODD_CHARACTER.search(text) and _is_blank(outside) and all(_is_plain(node, data) for node in root)
    )


def _is_plain(node: Node, data: bytes) -> bool:
    if node.faulty:
        return False
    if not node.children:
        return _is_plain_token(node, data)
    match node.type:
        case "string" | "heredoc_body":
            return True
        case "translated_string":
            return False
        case "concatenation":
            plain = all(left.end == right.start for left, right in pairwise(node.children))
        case "file_redirect" | "herestring_redirect":
            plain = sum(child.type in LITERALS for child in node.children) <= 1
        case "heredoc_redirect":
            plain = _is_plain_heredoc(node, data)
        case "command_substitution":
            plain = not (node.text.startswith(b"`") and b"\\" in node.text)
        case "command" | "declaration_command" | "unset_command":
            plain = not _begins_with_keyword(node) and _words_are_apart(node, data)
        case _:
            plain = True
    starts = [*(child.start for child in node.children), node.end]
    ends = [node.start, *(child.end for child in node.children)]
    return plain and all(_is_blank(data[end:start]) for end, start in zip(ends, starts, strict=True))


def _is_plain_token(node: Node, data: bytes) -> bool:
    before, after = data[max(node.start - 2, 0) : node.start], data[node.end : node.end + 1]
    text = node.text
    if node.type == "comment":
        return not before or (before[-1:] in _BLANKS + b";&|" and before[:-1] != b"\\")
    if not node.named:
        is_keyword = text in _KEYWORDS or text.isalpha() or text in (b"[", b"]", b"]]")
        stands_alone = before[-1:] in _BLANKS + _OPERATORS and after in _BLANKS + _OPERATORS
        return not is_keyword or node.parent_type in _NO_KEYWORDS_IN or stands_alone
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
        gap = data[left.end : right.start]
        if b"\n" in gap.replace(b"\\\n", b"") or (not gap and not right.type.endswith("_redirect")):
            return False
    return True


def _begins_with_keyword(command: Node) -> bool:
    name = command.child("command_name")
    return name is not None and name.text in _KEYWORDS


def _is_quoted_heredoc(body: Node) -> bool:
    start = body.parent.child("heredoc_start") if body.parent and body.type == "heredoc_body" else None
    return start is not None and start.text[:1] in b"'\""


def _is_plain_heredoc(redirect: Node, data: bytes) -> bool:
    """Whether its text ends at the line where bash ends it, and no word of the command comes after `<<`."""
    start, end, body = map(redirect.child, ("heredoc_start", "heredoc_end", "heredoc_body"))
    if start is None or end is None or any(child.type in LITERALS for child in redirect.children):
        return False
    delimiter = _DELIMITER.fullmatch(start.text)
    starts = [node for node in redirect if node.type == "heredoc_start"]
    first_row = start.start_row + 1
    if delimiter is None or len(starts) > 1 or (body and body.text and body.start_row != first_row):
        return False
    lines = data.split(b"\n")[first_row:]
    if redirect.child("<<-"):
        lines = [line.lstrip(b"\t") for line in lines]
    return delimiter[2] in lines and lines.index(delimiter[2]) == end.start_row - first_row
