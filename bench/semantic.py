"""The semantic cache: the pairs of questions that it takes for the same, and the cost of a lookup.

`python -m bench.semantic [FILE]` prints rates by category for a file of JSON lines `{"a", "b", "same", "category"}`
(or `kind` for `category`); by default for the pairs beside this file. Those marked `tune` were seen while the rules
were written, those marked `held` were not.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.table import Row, print_table
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.semantic import AskedQuestions
from websearch_gateway.models import SearchQuery
from websearch_gateway.state.memory import MemoryState

PAIRS = Path(__file__).with_name("semantic_pairs.jsonl")
LOOKUPS = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, and whether one answer may serve both."""

    a: str
    b: str
    same: bool
    category: str
    half: str


def load(path: Path) -> list[Pair]:
    """The pairs of a file."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [
        Pair(
            row["a"],
            row["b"],
            row["same"],
            row.get("category") or row.get("kind", ""),
            row.get("half", ""),
        )
        for row in rows
    ]


def is_served(pair: Pair) -> bool:
    """Whether the answer to one question would serve the other: found by its key, and the same by the rules."""
    a, b = Wording.of(pair.a), Wording.of(pair.b)
    return a.key() == b.key() and a.is_same(b)


def rates(pairs: list[Pair]) -> dict[bool, tuple[int, int]]:
    """The numbers of served pairs and of all pairs: of those that mean the same (True), and of the others."""
    served = Counter(pair.same for pair in pairs if is_served(pair))
    return {
        same: (served[same], sum(pair.same == same for pair in pairs)) for same in (True, False)
    }


def microseconds_a_pair(pairs: list[Pair]) -> float:
    """CPU time to read both questions and compare them: the mean over pairs of the best of seven rounds."""
    best = [float("inf")] * len(pairs)
    for _ in range(7):
        for place, pair in enumerate(pairs):
            started = time.thread_time()
            Wording.of(pair.a).is_same(Wording.of(pair.b))
            best[place] = min(best[place], time.thread_time() - started)
    return statistics.mean(best) * 1e6


def measure() -> list[Row]:
    """One row for each half of the pairs, one for the time of the meaning check and one for that of a lookup."""
    pairs = load(PAIRS)
    rows = []
    for half in ("tune", "held"):
        found = rates([pair for pair in pairs if pair.half == half])
        (kept, alike), (wrong, unlike) = found[True], found[False]
        rows.append(
            Row(
                f"semantic pairs, {half}",
                f"{wrong} of {unlike} false",
                f"{kept} of {alike} kept",
                f"{kept / alike:.0%}",
                "0 false",
            )
        )
    rows.append(
        Row("meaning check", f"{microseconds_a_pair(pairs):.0f} us a pair", "66 us", "", "<= 90 us")
    )
    return [*rows, _lookup_row(asyncio.run(lookups(pairs)))]


async def lookups(pairs: list[Pair]) -> list[float]:
    """CPU seconds of each lookup of a question whose other wording was asked before. The state is in memory."""
    state = MemoryState()
    asked = AskedQuestions(state, longest_seconds=3600)
    seconds = []
    for pair in pairs[:LOOKUPS]:
        await asked.add("answers", SearchQuery(pair.b), "", 3600)
        started = time.process_time()
        wording = Wording.of(pair.a)
        last = (
            await asked.last("answers", SearchQuery(pair.a), wording, "") if wording.words else None
        )
        if last is not None:
            wording.is_same(Wording.of(last.text))
        seconds.append(time.process_time() - started)
    return seconds


def _lookup_row(seconds: list[float]) -> Row:
    p99 = statistics.quantiles(seconds, n=100)[98] * 1000
    return Row(
        "semantic lookup",
        f"p50 {statistics.median(seconds) * 1000:.2f} ms, p99 {p99:.2f} ms",
        "",
        "",
        "p99 < 3 ms",
    )


def _print_rates(path: Path) -> None:
    pairs = load(path)
    table = []
    for category in dict.fromkeys(pair.category for pair in pairs):
        found = rates([pair for pair in pairs if pair.category == category])
        table.append((category, found))
    print(f"{'category':28} {'false':>10} {'kept':>10}")
    for category, found in [*table, ("all", rates(pairs))]:
        (kept, alike), (wrong, unlike) = found[True], found[False]
        print(f"{category:28} {f'{wrong} of {unlike}':>10} {f'{kept} of {alike}':>10}")
    print(f"{microseconds_a_pair(pairs):.0f} us a pair")
    for pair in pairs:
        if not pair.same and is_served(pair):
            print(f"FALSE: {pair.a} | {pair.b}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _print_rates(Path(sys.argv[1]))
    else:
        _print_rates(PAIRS)
        print_table(measure())
