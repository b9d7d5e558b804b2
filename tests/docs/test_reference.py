"""The reference pages are what the tables in the source say."""

import subprocess
import sys
from pathlib import Path

from turnwright.protocol.events import EVENTS
from turnwright.server.table import METHODS

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_reference_pages_are_up_to_date() -> None:
    command = [sys.executable, str(REFERENCE / "generate.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_event_and_method_has_an_entry() -> None:
    pages = {"events.md": EVENTS, "methods.md": METHODS}
    for page, names in pages.items():
        headings = {
            line for line in (REFERENCE / page).read_text("utf-8").splitlines() if line.startswith("### `")
        }
        assert {f"### `{name}`" for name in names} <= headings
