"""The citations in a reply of Anthropic's messages, as those of the whole text."""

from collections.abc import Iterable

from turnwright.protocol.citations import (
    BlockRange,
    CharacterRange,
    Citations,
    Location,
    PageRange,
    Passage,
    Reference,
    Source,
)
from turnwright.protocol.wire import Json
from turnwright.providers.loose import a_count, a_text, an_object


def citations_of(texts: Iterable[tuple[str, list[Json]]]) -> Citations | None:
    """Put together what blocks of text cite, given with it in their order; None where nothing is cited."""
    sources: dict[str, Source] = {}
    passages: list[Passage] = []
    start = 0
    for text, cited in texts:
        end = start + len(text)
        references = [_reference(citation, sources) for citation in map(an_object, cited)]
        if references:
            passages.append(Passage(start, end, references))
        start = end
    return Citations(list(sources.values()), passages) if passages else None


def _reference(citation: dict[str, Json], sources: dict[str, Source]) -> Reference:
    number = a_count(citation.get("document_index"))
    source_id = f"document-{number or 0}"
    title = a_text(citation.get("document_title")) or None
    sources.setdefault(source_id, Source(source_id, "anthropic", title))
    return Reference(source_id, a_text(citation.get("cited_text")) or None, _location(citation))


def _location(citation: dict[str, Json]) -> Location | None:
    def number(name: str) -> int:
        return a_count(citation.get(name)) or 0

    match citation.get("type"):
        case "page_location":
            return PageRange(number("start_page_number"), number("end_page_number"))
        case "char_location":
            return CharacterRange(number("start_char_index"), number("end_char_index"))
        case "content_block_location":
            return BlockRange(number("start_block_index"), number("end_block_index"))
        case _:
            return None
