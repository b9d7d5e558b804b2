"""Attachments of a wrong shape, refused by the field."""

from typing import Any

import pytest

from turnwright.engine.prompts.attachment_shapes import parse
from turnwright.errors import InvalidParams


def lines(start: int, end: int) -> dict[str, Any]:
    return {"type": "file", "path": "a", "lineRange": {"start": start, "end": end}}


def selected(*places: tuple[int, int]) -> dict[str, Any]:
    start, end = ({"line": line, "character": character} for line, character in places)
    return {"type": "selection", "filePath": "a", "text": "", "selection": {"start": start, "end": end}}


@pytest.mark.parametrize(
    ("attachment", "fault"),
    [
        ("x", "attachments[0]: Expected `object`, got `str`"),
        ({"type": "file"}, "attachments[0].path: a file needs one"),
        ({"type": "selection", "selection": {"start": 1}}, "attachments[0]: selection.start: Expected"),
        ({"type": "github_reference", "number": 1}, "attachments[0].title: a github_reference needs one"),
        ({"path": "a"}, "attachments[0]: Object missing required field `type`"),
        (lines(0, 3), "attachments[0].lineRange.start: must be at least 1, the first line, and is 0"),
        (lines(-2, 3), "attachments[0].lineRange.start: must be at least 1, the first line, and is -2"),
        (lines(5, 3), "attachments[0].lineRange.end: must not be before lineRange.start, and is 3"),
        (lines(1, -1), "attachments[0].lineRange.end: must not be before lineRange.start, and is -1"),
        (selected((0, -1), (0, 2)), "attachments[0].selection.start: line and character must be at least 0"),
        (selected((0, 0), (-3, 2)), "attachments[0].selection.end: line and character must be at least 0"),
        (selected((4, 2), (4, 1)), "attachments[0].selection.end: must not be before selection.start"),
        (
            {"type": "file", "path": "file://elsewhere/a"},
            "attachments[0].path: a file URL must name a file of this machine, as in file:///a/b, "
            "and has 'elsewhere'",
        ),
        (
            {"type": "file", "path": "file:///caf%E9"},
            "attachments[0].path: the percent escapes of a file URL must be UTF-8",
        ),
    ],
)
def test_an_attachment_of_a_wrong_shape_is_refused_by_its_field(attachment: Any, fault: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        parse([attachment])
    assert str(refused.value).startswith(fault)
