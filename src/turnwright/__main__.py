"""`python -m turnwright`: the same as the command `turnwright`."""

import sys

from turnwright.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
