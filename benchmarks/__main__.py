"""Measure everything in one run: `python -m benchmarks [SECTION ...]`, or `make bench`."""

import os
import sys

# One thread each, told before numpy reads it: what is measured is work, not how many processors it is spread over.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from benchmarks.run import main  # noqa: E402
from mbfmu import printing  # noqa: E402

with printing.warnings_told():
    sys.exit(main())
