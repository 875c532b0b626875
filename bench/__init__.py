"""Benchmarks that anyone can run: `make bench`. Every figure is compared within one run; quote the ratios."""
