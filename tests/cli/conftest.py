"""What tests of the command line share."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder to work in, apart from the home of sessions."""
    folder = tmp_path / "folder"
    folder.mkdir()
    return folder.resolve()
