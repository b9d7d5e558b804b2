"""The three ways to see which process is whose."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from turnwright.tools import process_tree
from turnwright.tools.process_tree import descendants


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A child that has a child of its own: the pids of both."""
    with subprocess.Popen(
        ["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        yield parent.pid, child
        os.killpg(parent.pid, 9)


@pytest.mark.parametrize(("platform", "lists"), [("linux", True), ("linux", False), ("darwin", False)])
def test_children_of_children_are_found(
    family: tuple[int, int], monkeypatch: pytest.MonkeyPatch, platform: str, lists: bool
) -> None:
    """B60."""
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(process_tree, "kernel_lists_children", lambda: lists)
    parent, child = family
    assert {one.pid for one in descendants({parent})} == {child}
    assert {one.pid for one in descendants({os.getpid()})} >= {parent, child}
