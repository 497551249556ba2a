"""Solve published problems and write the report: `python -m problems [ID ...]`, or `make validation`."""

import os
import sys

# One thread each, told before numpy reads it: what a run costs is work, not how many processors it is spread over.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from mbfmu import printing  # noqa: E402
from problems.run import main  # noqa: E402

with printing.warnings_told():
    sys.exit(main())
