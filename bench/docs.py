"""The documentation index: `python -m bench.docs DATA [QUERIES] [--heavy]` indexes, refreshes and searches sites.

DATA is a folder with one folder of HTML per site. QUERIES is a file of JSON lines `{"q", "kind", "pages"}`, where a
page is `SITE/PATH`. Names of `objects.inv` files are looked up too: 500 at random, always the same. `--heavy` adds
what takes half an hour: `bench.docs_web` and `bench.docs_scale`.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urldefrag

from bench import docs_scale, docs_web
from bench.table import Row, print_table
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.docs.crawl.listing import inventory
from websearch_gateway.docs.models import CrawlOptions
from websearch_gateway.models import DocsSearchRequest
from websearch_gateway.settings.loading import load_settings

NAMES = 500
WANTED = {
    "all": "MRR >= .90, first >= .87",
    "symbol": "MRR >= .97",
    "flag": "MRR >= .95",
    "paraphrase": "MRR >= .75",
    "inventory": "first >= .95",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the addresses of the pages that answer it."""

    text: str
    kind: str
    urls: frozenset[str]


@dataclass(slots=True)
class Cost:
    """Seconds of wall clock, and of CPU in this process and its workers."""

    wall: float = 0.0
    cpu: float = 0.0


@dataclass(slots=True)
class Found:
    """Reciprocal ranks by kind, seconds of each search, and the tokens of the largest reply."""

    ranks: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    largest: int = 0


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@asynccontextmanager
async def _gateway(folder: Path, cost: Cost) -> AsyncIterator[Gateway]:
    """A gateway that adds its cost to `cost` when it closes, since only then the workers' time is known."""
    started, used = time.perf_counter(), _cpu()
    async with open_gateway(load_settings(data_dir=folder, log_level="ERROR")) as gateway:
        yield gateway
    cost.wall, cost.cpu = time.perf_counter() - started, _cpu() - used


async def _index(sites: Sequence[Path], folder: Path) -> tuple[Cost, int]:
    cost, pages = Cost(), 0
    async with _gateway(folder, cost) as gateway:
        for site in sites:
            version = await gateway.docs.add(
                str(site), site.name, "1", CrawlOptions(include=("*.html",), delay=0.0)
            )
            after = await gateway.docs.runner.crawl(version.id)
            if after is None or not after.page_count:
                sys.exit(f"No page of {site} was indexed: {after.reason if after else 'deleted'}")
            pages += after.page_count
    return cost, pages


async def _refresh(folder: Path) -> Cost:
    """Crawl all sites again; nothing has changed."""
    cost = Cost()
    async with _gateway(folder, cost) as gateway:
        for version in await gateway.docs.searchable():
            await gateway.docs.requeue(version)
            await gateway.docs.runner.crawl(version.id)
    return cost


async def _search(questions: Sequence[Question], folder: Path) -> Found:
    found = Found()
    async with _gateway(folder, Cost()) as gateway:
        await gateway.documentation.search(DocsSearchRequest("warm up"))
        for question in questions:
            started, used = time.perf_counter(), time.process_time()
            reply = await gateway.documentation.search(DocsSearchRequest(question.text))
            found.seconds.append(time.perf_counter() - started)
            found.cpu.append(time.process_time() - used)
            found.largest = max(found.largest, estimate_tokens(reply.model_dump_json()))
            urls = list(
                dict.fromkeys(urldefrag(one.url).url for one in (*reply.results, *reply.more))
            )[:10]
            rank = next(
                (1 / place for place, url in enumerate(urls, 1) if url in question.urls), 0.0
            )
            found.ranks[question.kind].append(rank)
            if question.kind != "inventory":
                found.ranks["all"].append(rank)
    return found


def questions_of(sites: Sequence[Path], queries: Path | None) -> list[Question]:
    """The queries of a file, and names of inventories."""
    bases = {site.name: f"{site.resolve().as_uri()}/" for site in sites}
    asked = []
    for line in queries.read_text().splitlines() if queries else ():
        row = json.loads(line)
        places = [page.partition("/") for page in row["pages"]]
        urls = frozenset(f"{bases[site]}{path}" for site, _, path in places if site in bases)
        if urls:
            asked.append(Question(row["q"], row["kind"], urls))
    names = [
        Question(name, "inventory", frozenset([url]))
        for site in sites
        if (listed := site / "objects.inv").is_file()
        for name, url, _ in inventory(listed.read_bytes(), bases[site.name])
    ]
    random.Random(1).shuffle(names)
    return asked + names[:NAMES]


def measure(data: Path, queries: Path | None) -> list[Row]:
    """Index, refresh and search the sites in a folder."""
    sites = sorted(path for path in data.iterdir() if path.is_dir())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        indexing, pages = asyncio.run(_index(sites, folder))
        size = (folder / "docs" / "docs.db").stat().st_size
        refresh = asyncio.run(_refresh(folder))
        found = asyncio.run(_search(questions_of(sites, queries), folder))
    per_thousand = size / 1e6 / pages * 1_000
    rows = [
        Row(
            "docs: index",
            f"{pages:,} pages",
            f"{indexing.cpu:.0f} CPU s",
            f"{pages / indexing.cpu:.1f}/CPU s",
            ">= 30",
        ),
        Row(
            "docs: index",
            "",
            f"{indexing.wall:.0f} s",
            f"{pages / indexing.wall:.1f}/s",
            ">= 20 on two cores",
        ),
        Row(
            "docs: size",
            f"{size / 1e6:.1f} MB",
            "1,000 pages",
            f"{per_thousand:.1f} MB",
            "<= 30 MB",
        ),
        Row(
            "docs: unchanged",
            f"{refresh.cpu:.1f} CPU s",
            f"{refresh.wall:.1f} s",
            f"{pages / refresh.wall:.0f}/s",
            ">= 500",
        ),
    ]
    if found.seconds:
        rows += _search_rows(found)
    return rows


def _search_rows(found: Found) -> list[Row]:
    p95 = (
        statistics.quantiles(found.seconds, n=20)[-1]
        if len(found.seconds) > 1
        else found.seconds[0]
    )
    rows = [
        Row(
            f"docs: {kind}",
            f"{len(ranks)} queries",
            f"MRR {statistics.mean(ranks):.3f}",
            f"first {statistics.mean(rank == 1 for rank in ranks):.3f}",
            WANTED.get(kind, ""),
        )
        for kind, ranks in sorted(found.ranks.items())
    ]
    cpu95 = statistics.quantiles(found.cpu, n=20)[-1] if len(found.cpu) > 1 else found.cpu[0]
    cpu = f"{statistics.median(found.cpu) * 1000:.0f} ms CPU, p95 {cpu95 * 1000:.0f} ms"
    rows.append(
        Row("docs: search", cpu, "p95, wall", f"{p95 * 1000:.0f} ms", "<= 20 ms at 26,000 chunks")
    )
    rows.append(Row("docs: reply", "the largest", "1,600 tokens", f"{found.largest:,}", "<= 1,650"))
    return rows


if __name__ == "__main__":
    arguments = [Path(argument) for argument in sys.argv[1:] if argument != "--heavy"]
    if len(arguments) not in (1, 2):
        sys.exit("Say which sites: python -m bench.docs DATA [QUERIES] [--heavy]")
    print_table(measure(arguments[0], arguments[1] if len(arguments) == 2 else None))
    if "--heavy" in sys.argv:
        print_table([*docs_web.measure(arguments[0]), *docs_scale.measure(list(docs_scale.WANTED))])
