"""Run every benchmark and print one table: `python -m bench [NAME ...]`."""

from __future__ import annotations

import sys

from bench import (
    burst,
    cached_call,
    coalescing,
    cold_start,
    fallback,
    hostile_pages,
    http,
    memory,
    pool,
    reading,
    semantic,
    state,
    storm,
)
from bench.table import print_table

BENCHMARKS = {
    "cold_start": cold_start.measure,
    "cached_call": cached_call.measure,
    "memory": memory.measure,
    "fallback": fallback.measure,
    "coalescing": coalescing.measure,
    "burst": burst.measure,
    "http": http.measure,
    "reading": reading.measure,
    "pool": pool.measure,
    "semantic": semantic.measure,
    "state": state.measure,
    "storm": storm.measure,
    "hostile_pages": hostile_pages.measure,
}

if __name__ == "__main__":
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        sys.exit(f"There is no benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}.")
    print_table([row for name in names for row in BENCHMARKS[name]()])
