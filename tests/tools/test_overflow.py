"""Output that is larger than what a model is shown."""

import re
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnwright.tools.overflow import Capture


def captured(folder: Path, pieces: list[bytes], shown: int = 40, kept: int = 1000) -> str:
    capture = Capture(folder, shown=shown, kept=kept)
    for piece in pieces:
        capture.feed(piece)
    capture.close()
    return capture.text()


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=9).map(str.encode), max_size=4))
def test_what_fits_is_shown_as_it_came(pieces: list[bytes]) -> None:
    assert captured(Path("/nowhere"), pieces, shown=200) == b"".join(pieces).decode()


@settings(deadline=None)
@given(cuts=st.lists(st.integers(0, 400), max_size=8), lead=st.integers(0, 3), shown=st.integers(20, 60))
def test_a_cut_never_splits_a_character(cuts: list[int], lead: int, shown: int) -> None:
    """B47."""
    data = b"a" * lead + "🔑".encode() * 100
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(edges)]
    text = captured(Path("/dev/null/nowhere"), pieces, shown=shown)
    found = re.fullmatch(r"(a*🔑*)\n\[\.\.\. the middle of (\d+) bytes is left out; .*\]\n(🔑*)", text)
    assert found
    assert int(found[2]) == len(data)
    assert len(found[1].encode()) + len(found[3].encode()) <= shown


def test_both_ends_are_shown_and_the_file_holds_all(tmp_path: Path) -> None:
    """B45."""
    folder = tmp_path / "made" / "when" / "needed"
    text = captured(folder, [b"0123456789" * 3, b"abcdefghij" * 3])
    (file,) = folder.iterdir()
    assert text == (
        f"01234567890123456789\n[... the middle of 60 bytes is left out; all of it is in {file} ...]\n"
        "abcdefghijabcdefghij"
    )
    assert file.read_bytes() == b"0123456789" * 3 + b"abcdefghij" * 3


@pytest.mark.parametrize("size", [1, 7, 2000])
def test_the_file_is_bounded_too(tmp_path: Path, size: int) -> None:
    """B45."""
    text = captured(tmp_path, [b"x" * size] * (2000 // size + 1), kept=1000)
    (file,) = tmp_path.iterdir()
    assert f"the first 1000 bytes of it is in {file}" in text
    assert file.read_bytes() == b"x" * 1000


def test_output_that_can_not_be_kept_is_still_shown(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert captured(tmp_path / "file", [b"x" * 41]) == (
        f"{'x' * 20}\n"
        "[... the middle of 41 bytes is left out; all of it could not be kept (File exists) ...]\n"
        f"{'x' * 20}"
    )


def test_a_character_that_has_only_begun_is_left_out_until_it_is_whole(tmp_path: Path) -> None:
    """B47."""
    capture = Capture(tmp_path)
    capture.feed("é".encode()[:1])
    assert (capture.text(final=False), capture.text()) == ("", "\ufffd")
    capture.feed("é".encode()[1:])
    assert capture.text(final=False) == "é"


@given(cuts=st.lists(st.integers(0, 300), max_size=8), shown=st.integers(20, 60))
def test_a_secret_is_in_neither_the_text_nor_the_file_however_the_stream_is_cut(
    cuts: list[int], shown: int
) -> None:
    """B81"""
    data = b"key=sk-secret-1 " * 20
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    with TemporaryDirectory() as folder:
        capture = Capture(Path(folder), shown=shown, secrets=["sk-secret-1", "sk-secret-12"])
        for start, end in pairwise(edges):
            capture.feed(data[start:end])
        text = capture.text()
        capture.close()
        (file,) = Path(folder).iterdir()
        assert file.read_bytes() == b"key=****** " * 20
    assert "sk-" not in text
