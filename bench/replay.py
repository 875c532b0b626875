"""The savings of the caches on a replayed log: `python -m bench.replay [FILE ...]`.

Each FILE has JSON lines with `q`, gzipped or not. Questions repeat as they do in logs (Zipf: the n-th most frequent is
asked 1/n as often as the first) and come at even intervals. Those of `semantic_pairs.jsonl` that mean the same are
asked in either wording. The table compares one time to live for all questions with a shorter one for changing subjects.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from bench.semantic import PAIRS, load
from websearch_gateway.cache.kinds import WEB_RESULTS
from websearch_gateway.cache.lifetimes import Lifetimes
from websearch_gateway.cache.semantic import AskedQuestions, SemanticCache
from websearch_gateway.models import LOCAL, SearchQuery
from websearch_gateway.results import WebResult, WebSearchResponse
from websearch_gateway.state.memory import MemoryState

TIERS = {
    "300 s for all": (300.0, 300.0),
    "300 s and 1 h": (300.0, 3_600.0),
    "300 s and 7 days": (300.0, 604_800.0),
}
COST_USD = 0.01
RESULT = WebResult(
    title="T", link="https://a.example/", page_content="text", provider="bench", relevance_score=0.5
)


@dataclass(frozen=True, slots=True)
class Log:
    """Questions in the order in which they are asked, and the seconds between two of them."""

    questions: list[str]
    seconds_between: float


def log(files: list[Path], asked: int, per_hour: float, exponent: float) -> Log:
    """A log of `asked` questions; the same arguments give the same log."""
    chance = random.Random(13)
    wordings = [[pair.a, pair.b] for pair in load(PAIRS) if pair.same]
    for file in files:
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        wordings += [[json.loads(line)["q"]] for line in text.splitlines() if line.strip()]
    chance.shuffle(wordings)
    weights = list(accumulate(1 / rank**exponent for rank in range(1, len(wordings) + 1)))
    drawn = chance.choices(wordings, cum_weights=weights, k=asked)
    return Log([chance.choice(one) for one in drawn], 3_600 / per_hour)


async def replay(asked: Log, ttl: float, long_ttl: float) -> Counter[str]:
    """The number of hits of each kind, and of misses."""
    now = 1_800_000_000.0

    def clock() -> float:
        return now

    state = MemoryState(clock=clock)
    index = AskedQuestions(state, longest_seconds=long_ttl, clock=clock)
    cache = SemanticCache(index, state, WEB_RESULTS, Lifetimes(ttl, long_ttl, 0), clock=clock)
    served: Counter[str] = Counter()
    for question in asked.questions:
        query = SearchQuery(question, max_results=3)
        found = await cache.get(query, LOCAL)
        served[found.response.cache if found else "miss"] += 1
        if found is None:
            await cache.put(query, LOCAL, WebSearchResponse(results=(RESULT,), cost_usd=COST_USD))
        now += asked.seconds_between
    return served


def table(asked: Log) -> str:
    """A line per choice of times to live."""
    lines = [f"{'time to live':<18}{'exact':>9}{'semantic':>10}{'hit rate':>10}{'saved':>10}"]
    for name, (ttl, long_ttl) in TIERS.items():
        served = asyncio.run(replay(asked, ttl, long_ttl))
        hits, total = served["exact"] + served["semantic"], len(asked.questions)
        rates = f"{served['exact'] / total:>9.1%}{served['semantic'] / total:>10.2%}{hits / total:>10.1%}"
        lines.append(f"{name:<18}{rates}{hits * COST_USD:>9.2f}$")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--asked", type=int, default=20_000, help="questions in the log")
    parser.add_argument("--per-hour", type=float, default=1_000, help="questions an hour")
    parser.add_argument(
        "--exponent", type=float, default=1.0, help="of Zipf's law; 0 asks all equally often"
    )
    given = parser.parse_args()
    made = log(given.files, given.asked, given.per_hour, given.exponent)
    print(
        f"{given.asked:,} questions, {len(set(made.questions)):,} of them distinct, ${COST_USD} each"
    )
    print(table(made))
