"""Where in its sources a reply finds what it says, in the wire's shape."""

from typing import Literal

from turnwright.protocol.wire import Wire


class CharacterRange(Wire, tag="char", tag_field="type"):
    """Characters of a plain text, counted from 0; the end isn't in it."""

    start_index: int
    end_index: int


class PageRange(Wire, tag="page", tag_field="type"):
    """Pages of a document, counted from 1; the end isn't in it."""

    start_page: int
    end_page: int


class BlockRange(Wire, tag="block", tag_field="type"):
    """Blocks of content, counted from 0; the end isn't in it."""

    start_block: int
    end_block: int


Location = CharacterRange | PageRange | BlockRange


class Source(Wire):
    """A document that is cited."""

    id: str
    provider: Literal["anthropic", "openai", "client"]
    title: str | None = None


class Reference(Wire):
    """A place in a source, with its words."""

    source_id: str
    cited_text: str | None = None
    location: Location | None = None


class Passage(Wire):
    """A part of the reply's text, in characters from 0, the end not in it, and what it rests on."""

    start_index: int
    end_index: int
    references: list[Reference]


class Citations(Wire):
    """All that a reply cites."""

    sources: list[Source]
    spans: list[Passage]
