"""The names that an app imports from the package itself."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import turnwright


def test_every_public_name_is_there_and_so_it_is_for_type_checkers() -> None:
    assert [name for name in turnwright.__all__ if getattr(turnwright, name, None) is None] == []
    tree = ast.parse(Path(turnwright.__file__).read_text("utf-8"))
    seen_by_type_checkers = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("turnwright.")
        for alias in node.names
    ]
    assert sorted(seen_by_type_checkers) == sorted(turnwright.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = turnwright.nothing  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]


def test_the_package_is_imported_in_less_than_a_tenth_of_a_second() -> None:
    measure = "import time; t = time.process_time(); import turnwright; print(time.process_time() - t)"
    spent = [
        float(subprocess.run([sys.executable, "-c", measure], capture_output=True, check=True).stdout)
        for _ in range(3)
    ]
    assert min(spent) < 0.1
