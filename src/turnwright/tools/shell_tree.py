"""The syntax tree of a command line, as tree-sitter's grammar for bash sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from tree_sitter import Node as ParsedNode
    from tree_sitter import Parser

_UNUSUAL = re.compile(rb"[^\t\n -~]")


class Node(Struct, eq=False):
    """A part of a command line; `start` and `end` are offsets of bytes, rows are counted from 0.

    `type` is the grammar's: the name of a construct, or for a token that isn't `named` its own text. `faulty`
    marks what is no syntax and what is missing.
    """

    type: str
    text: bytes
    start: int
    end: int
    start_row: int
    end_row: int
    named: bool
    faulty: bool
    parent: Node | None
    children: list[Node] = field(default_factory=list["Node"])

    @property
    def parent_type(self) -> str:
        return self.parent.type if self.parent else ""

    def child(self, type: str) -> Node | None:
        """The first child of that type."""
        return next((child for child in self.children if child.type == type), None)

    def __iter__(self) -> Iterator[Node]:
        """The node itself and all below it, in the order of the text."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


def parse_tree(data: bytes) -> Node:
    """Parse a command line in UTF-8.

    The grammar's scanner looks characters up in tables for ASCII and may crash the process on others, so it
    sees an underscore for each of their bytes, which bash too takes for parts of words.
    """
    tree = _parser().parse(_UNUSUAL.sub(b"_", data))
    return _copy(tree.root_node, data)


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # a compiled grammar, which most processes never need
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _copy(root: ParsedNode, data: bytes) -> Node:
    copied = _node(root, data, None)
    pending = [(root, copied)]
    while pending:
        parsed, node = pending.pop()
        for child in parsed.children:
            node.children.append(_node(child, data, node))
            pending.append((child, node.children[-1]))
    return copied


def _node(parsed: ParsedNode, data: bytes, parent: Node | None) -> Node:
    return Node(
        type=parsed.type,
        text=data[parsed.start_byte : parsed.end_byte],
        start=parsed.start_byte,
        end=parsed.end_byte,
        start_row=parsed.start_point.row,
        end_row=parsed.end_point.row,
        named=parsed.is_named,
        faulty=parsed.is_error or parsed.is_missing,
        parent=parent,
    )
