"""The command `mbfmu`. Exit codes: 0 all is well, 1 the validation found problems, 2 an error with one message."""

import sys

try:
    from mbfmu.cli.commands import app, main
except KeyboardInterrupt:  # Ctrl-C while libraries are loaded
    print("mbfmu: stopped", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["app", "main"]
