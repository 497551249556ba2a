"""Ratios of mbfmu to its peers, all measured in one run: `make bench`, described in docs/benchmarks.md."""
