"""`python -m mbfmu` is the command `mbfmu`."""

import sys

from mbfmu.cli import main

if __name__ == "__main__":
    sys.exit(main())
