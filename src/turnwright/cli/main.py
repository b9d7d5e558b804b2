"""The command `turnwright`."""

import sys


def main() -> int:
    """Run the command line; the result is the exit status."""
    from turnwright.cli import headless

    return headless.main(sys.argv[1:])
