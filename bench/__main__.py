"""Run every benchmark and print one table: `python -m bench [NAME ...]`. What is under way is said on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from bench import (
    burst,
    cached_call,
    coalescing,
    cold_start,
    fallback,
    hostile_pages,
    http,
    memory,
    new_answer,
    pool,
    reading,
    semantic,
    state,
    storm,
)
from bench.table import Row, print_table

BENCHMARKS = {
    "cold_start": cold_start.measure,
    "cached_call": cached_call.measure,
    "new_answer": new_answer.measure,
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


def _measured(name: str, place: str) -> Sequence[Row]:
    """The rows of one benchmark."""
    print(f"[{place}] {name} ...", end="", file=sys.stderr, flush=True)
    began = time.monotonic()
    rows = BENCHMARKS[name]()
    print(f" {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := sorted(set(names) - set(BENCHMARKS)):
        sys.exit(
            f"There is no benchmark {', '.join(unknown)}; choose from {', '.join(BENCHMARKS)}."
        )
    rows: list[Row] = []
    try:
        for number, name in enumerate(names, 1):
            rows += _measured(name, f"{number} of {len(names)}")
    finally:  # one that fails loses only its own rows and the next ones
        print_table(rows)
