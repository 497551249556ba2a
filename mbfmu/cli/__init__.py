"""The command `mbfmu`. Exit codes: 0 all is well, 1 the validation found problems, 2 an error with one message."""

from mbfmu.cli.commands import app, main

__all__ = ["app", "main"]
