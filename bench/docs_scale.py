"""Search in a large index: `python -m bench.docs_scale CHUNKS...`, such as 200000 1000000. Takes minutes.

The corpus is synthetic: word frequencies by Zipf's law, random vectors, 50 chunks a page. Queries have two words that
occur in a few hundred to a few thousand chunks; every third query also has a name. Only the times are meaningful.
"""

from __future__ import annotations

import asyncio
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from bench.table import Row, print_table
from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.docs.models import ChunkDraft, CrawlOptions, PageDraft, StoredPage, Symbol
from websearch_gateway.models import DocsSearchRequest
from websearch_gateway.settings.loading import load_settings

if TYPE_CHECKING:
    from websearch_gateway.docs.library import DocsLibrary

CHUNKS_OF_A_PAGE = 50
WORDS_OF_A_CHUNK = 60
BATCH = 20
VOCABULARY = 50_000
QUERIES = 100
WANTED = {200_000: "<= 120 ms", 1_000_000: "<= 250 ms"}
WORDS = [f"{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{n}" for n in range(VOCABULARY)]


async def _fill(library: DocsLibrary, chunks: int) -> None:
    version = await library.store.add_version(
        "large", "1", "https://docs.example.org/", CrawlOptions()
    )
    weights = list(accumulate(1 / (rank + 10) for rank in range(VOCABULARY)))
    chance = random.Random(1)
    for start in range(0, chunks // CHUNKS_OF_A_PAGE, BATCH):
        pages = [_page(number, chance, weights) for number in range(start, start + BATCH)]
        await library.store.put_pages(version.id, pages)
    await library.store.set_status(version.id, "completed")


def _page(number: int, chance: random.Random, weights: list[float]) -> StoredPage:
    import numpy as np

    texts = [
        " ".join(chance.choices(WORDS, cum_weights=weights, k=WORDS_OF_A_CHUNK))
        for _ in range(CHUNKS_OF_A_PAGE)
    ]
    drafts, at = [], 0
    for place, text in enumerate(texts):
        drafts.append(
            ChunkDraft(at, at + len(text), (f"Page {number}", f"Section {place}"), f"s{place}")
        )
        at += len(text) + 1
    url = f"https://docs.example.org/{number}.html"
    symbols = tuple(
        Symbol(f"module{number}.name_{place}", "api", f"s{place}", place)
        for place in range(0, 50, 5)
    )
    draft = PageDraft(url, f"Page {number}", "\n".join(texts), tuple(drafts), symbols)
    vectors = np.random.default_rng(number).standard_normal((len(texts), 256), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return StoredPage(url, draft, (), 0.0, vectors)


def _queries(pages: int) -> list[str]:
    chance = random.Random(2)
    asked = []
    for number in range(QUERIES):
        words = [WORDS[chance.randrange(100, 10_000)] for _ in range(2)]
        name = [f"module{chance.randrange(pages)}.name_5"] if number % 3 == 0 else []
        asked.append(" ".join([*words, *name]))
    return asked


async def _measure(chunks: int) -> Row:
    with tempfile.TemporaryDirectory() as folder:
        async with open_gateway(load_settings(data_dir=Path(folder), log_level="ERROR")) as gateway:
            await _fill(gateway.docs, chunks)
            size = (Path(folder) / "docs" / "docs.db").stat().st_size
            await gateway.documentation.search(DocsSearchRequest("warm up"))
            wall, cpu = [], []
            for query in _queries(chunks // CHUNKS_OF_A_PAGE):
                begun, used = time.perf_counter(), time.process_time()
                await gateway.documentation.search(DocsSearchRequest(query))
                wall.append(time.perf_counter() - begun)
                cpu.append(time.process_time() - used)
    (wall95, cpu95) = (statistics.quantiles(column, n=20)[-1] * 1000 for column in (wall, cpu))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    median = statistics.median(cpu) * 1000
    return Row(
        f"docs: search in {chunks:,} chunks",
        f"{size / 1e6:,.0f} MB, {memory:.0f} MB RSS",
        f"CPU {median:.0f} ms, p95 {cpu95:.0f} ms",
        f"p95 {wall95:.0f} ms",
        WANTED.get(chunks, ""),
    )


def measure(sizes: Sequence[int]) -> list[Row]:
    """Each size in an index of its own."""
    return [asyncio.run(_measure(size)) for size in sizes]


if __name__ == "__main__":
    print_table(measure([int(size) for size in sys.argv[1:]] or [200_000]))
