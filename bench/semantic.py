"""The semantic cache: the pairs of questions that it takes for the same, and the cost of a lookup.

`python -m bench.semantic [FILE]` prints rates by category for a file of JSON lines `{"a", "b", "same", "category"}`
(or `kind` for `category`); by default for the pairs beside this file. Those marked `tune` were seen while the rules
were written, those marked `held` were not.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.table import Row, print_table
from websearch_gateway.cache.meaning import Wording
from websearch_gateway.cache.semantic import CANDIDATES, LEAST_SIMILARITY, QuestionIndex, label_of_same, question_row
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import SearchQuery
from websearch_gateway.state.memory import MemoryState

PAIRS = Path(__file__).with_name("semantic_pairs.jsonl")
SIZES = (1_000, 10_000, 100_000)
LOOKUPS = 300


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, and whether one answer may serve both."""

    a: str
    b: str
    same: bool
    category: str
    half: str


@dataclass(frozen=True, slots=True)
class Lookups:
    """CPU seconds of each lookup among `size` questions, bytes that these take, and CPU seconds to load them."""

    size: int
    seconds: list[float]
    taken: int
    load_seconds: float


def load(path: Path) -> list[Pair]:
    """The pairs of a file."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    return [
        Pair(row["a"], row["b"], row["same"], row.get("category") or row.get("kind", ""), row.get("half", ""))
        for row in rows
    ]


def is_served(pair: Pair, embedder: StaticEmbedder) -> bool:
    """Whether the answer to one question would serve the other."""
    a, b = embedder.encode([pair.a, pair.b])
    return float(a @ b) >= LEAST_SIMILARITY and Wording.of(pair.a).is_same(Wording.of(pair.b))


def rates(pairs: list[Pair]) -> dict[bool, tuple[int, int]]:
    """The numbers of served pairs and of all pairs: of those that mean the same (True), and of the others."""
    embedder = StaticEmbedder()
    served = Counter(pair.same for pair in pairs if is_served(pair, embedder))
    return {same: (served[same], sum(pair.same == same for pair in pairs)) for same in (True, False)}


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
    """One row for each half of the pairs, one for the time of the meaning check and one for each size."""
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
    rows.append(Row("meaning check", f"{microseconds_a_pair(pairs):.0f} us a pair", "66 us", "", "<= 90 us"))
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = pool.map(lookups, SIZES, chunksize=1)
    return rows + [_lookup_row(one) for one in found]


def lookups(size: int) -> Lookups:
    """Look up among `size` questions that were read from the state. Meant for a fresh process."""
    return asyncio.run(_lookups(size))


async def _lookups(size: int) -> Lookups:
    chance = random.Random(7)
    pairs = load(PAIRS)
    words = sorted({word for pair in pairs for word in (pair.a + " " + pair.b).split()})
    texts = [" ".join(chance.choices(words, k=chance.randint(3, 9))) for _ in range(size)]
    state, embedder = MemoryState(), StaticEmbedder()
    now = time.time()
    for text in texts:
        key, row = question_row(SearchQuery(text), "", now + 3600, now)
        await state.put(key, row, 3600)
    embedder.encode(texts[:100])
    asked = QuestionIndex(embedder, state, longest_seconds=3600, most=size)
    before, started = _resident(), time.process_time()
    await asked.warm_up()
    await asked.settled()
    taken, load_seconds = _resident() - before, time.process_time() - started
    label = label_of_same(SearchQuery(""), "")
    seconds = []
    for number in range(LOOKUPS):
        started = time.process_time()
        await asked.nearest(pairs[number].a, label, least=LEAST_SIMILARITY, most=CANDIDATES)
        seconds.append(time.process_time() - started)
    await asked.close()
    return Lookups(len(asked), seconds, taken, load_seconds)


def _resident() -> int:
    """Bytes of memory in use (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _lookup_row(found: Lookups) -> Row:
    p99 = statistics.quantiles(found.seconds, n=100)[98] * 1000
    return Row(
        f"semantic lookup, {found.size:,}",
        f"p50 {statistics.median(found.seconds) * 1000:.2f} ms, p99 {p99:.2f} ms",
        f"{found.taken / 1e6:.0f} MB, read in {found.load_seconds:.1f} s",
        "",
        "p99 < 10 ms, <= 100 MB",
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
        if not pair.same and is_served(pair, StaticEmbedder()):
            print(f"FALSE: {pair.a} | {pair.b}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _print_rates(Path(sys.argv[1]))
    else:
        _print_rates(PAIRS)
        print_table(measure())
