"""The tools that touch the machine, all of them."""

from turnwright.tools.base import Tool
from turnwright.tools.files import Create, Edit
from turnwright.tools.search import Glob, Grep
from turnwright.tools.shell import Bash
from turnwright.tools.view import View


def machine_tools() -> tuple[Tool, ...]:
    """View, create, edit, bash, grep and glob; they hold no state, so sessions may share them."""
    return View(), Create(), Edit(), Bash(), Grep(), Glob()
