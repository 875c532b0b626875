"""One row shape and one table for all benchmarks."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: the measured value, the reference, and their ratio."""

    name: str
    measured: str
    reference: str
    ratio: str
    wanted: str


def median_ratio(ours: Sequence[float], reference: Sequence[float]) -> float:
    """The median of the pairwise ratios, which is robust against changes of the machine's speed during the run."""
    return statistics.median(a / b for a, b in zip(ours, reference, strict=True))


def milliseconds(seconds: Sequence[float]) -> str:
    """Median in ms."""
    return f"{statistics.median(seconds) * 1000:.2f} ms"


def print_table(rows: Sequence[Row]) -> None:
    """Print rows in aligned columns."""
    lines = [("benchmark", "measured", "reference", "ratio", "wanted")]
    lines += [(row.name, row.measured, row.reference, row.ratio, row.wanted) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    for line in lines:
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
