"""The documentation index over HTTP: kill -9, refreshes, politeness, searches beside a crawl, and memory.

`python -m bench.docs_web DATA [PART...]`; it takes half an hour. Linux only.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import os
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.table import Row, print_table
from websearch_gateway.app.gateway import Gateway, open_gateway
from websearch_gateway.docs.models import CrawlOptions
from websearch_gateway.docs.transfer import export_site, import_site
from websearch_gateway.models import DocsSearchRequest
from websearch_gateway.settings.loading import load_settings

KILLS = 30
POLITE_PAGES, DELAY = 60, 0.25
SAMPLES = (2_000, 5_000, 10_000, 20_000)
MANY_PAGES = SAMPLES[-1] + 500
PYTHON = [sys.executable, "-m"]
QUERIES = (
    "how to cancel a task", "create an index concurrently", "asyncio.timeout", "--no-verify", "str.removeprefix",
    "undo the last commit", "lock a table", "read a file line by line", "json_agg", "rebase onto another branch",
)  # fmt: skip


class WebSite:
    """A `bench.docs_site` in a process of its own."""

    def __init__(self, source: str) -> None:
        self._process = subprocess.Popen(
            [*PYTHON, "bench.docs_site", source], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.host = f"127.0.0.1:{self._process.stdout.readline().strip()}"
        self.url = f"http://{self.host}/"

    def log(self) -> list[tuple[float, str, bool]]:
        """The requests since the last call: time, path, whether it was conditional."""
        return [(at, path, conditional) for at, path, conditional in json.loads(self._ask("__log"))]

    def change(self, path: str) -> None:
        """Alter a page."""
        self._ask(f"__change?{path}")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _ask(self, path: str) -> bytes:
        with urllib.request.urlopen(f"{self.url}{path}") as reply:
            body: bytes = reply.read()
        return body


@contextlib.contextmanager
def _site(source: str) -> Iterator[WebSite]:
    site = WebSite(source)
    try:
        yield site
    finally:
        site.close()


def _gateway(folder: Path, site: WebSite) -> contextlib.AbstractAsyncContextManager[Gateway]:
    return open_gateway(
        load_settings(data_dir=folder, log_level="ERROR", fetch_allow_private_hosts=site.host)
    )


def _crawling(folder: Path, site: WebSite, name: str, *options: str) -> subprocess.Popen[bytes]:
    """A crawl in a process group of its own."""
    environment = {**os.environ, "DATA_DIR": str(folder), "FETCH_ALLOW_PRIVATE_HOSTS": site.host}
    command = [
        *PYTHON,
        "websearch_gateway",
        "docs",
        "add",
        site.url,
        name,
        "--delay",
        "0",
        *options,
    ]
    return subprocess.Popen(
        command,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _killed(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measure(data: Path, names: Sequence[str] = ()) -> list[Row]:
    """The named parts, or all of them, one after the other."""
    rows = []
    for name in names or PARTS:
        source = str(MANY_PAGES) if name == "memory" else str(data)
        with tempfile.TemporaryDirectory() as folder, _site(source) as site:
            rows += PARTS[name](Path(folder), site)
    return rows


def kills(folder: Path, site: WebSite) -> list[Row]:
    """Kill a crawl at random moments: damage, pages fetched again without a condition, seconds until it continues."""
    chance = random.Random(5)
    file = folder / "docs" / "docs.db"
    damaged = again = 0
    starts: list[float] = []
    for _ in range(KILLS):
        done = _committed(file)
        site.log()
        begun = time.time()
        process = _crawling(folder, site, "site")
        log = _until_pages(site, process, known=bool(done))
        starts += (
            [next(at for at, path, _ in log if _is_page(path)) - begun]
            if done and process.poll() is None
            else []
        )
        time.sleep(chance.random() * 3)
        _killed(process)
        again += sum(
            path in done and not conditional for _, path, conditional in [*log, *site.log()]
        )
        damaged += not _is_sound(file)
    pages = len(_committed(file))
    resumed = f"{statistics.median(starts):.1f} s to the first page" if starts else "-"
    return [
        Row(
            "docs: kill -9",
            f"{KILLS} times, {pages} pages",
            f"{damaged} damaged",
            f"{again} fetched again",
            "0, 0",
        ),
        Row(
            "docs: kill -9",
            resumed,
            f"worst {max(starts, default=0):.1f} s",
            "with the start of Python",
            "< 2 s",
        ),
    ]


def _until_pages(
    site: WebSite, process: subprocess.Popen[bytes], *, known: bool
) -> list[tuple[float, str, bool]]:
    """The requests until the crawl fetches pages; the first crawl also commits some."""
    log: list[tuple[float, str, bool]] = []
    wanted = 1 if known else 30
    while process.poll() is None and sum(_is_page(path) for _, path, _ in log) < wanted:
        log += site.log()
        time.sleep(0.1)
    return log


def _is_page(path: str) -> bool:
    return path.endswith((".html", "/")) and path != "/"


def _committed(file: Path) -> set[str]:
    if not file.exists():
        return set()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        query = "SELECT url FROM urls WHERE state = 'done'"
        return {"/" + url.split("/", 3)[3] for (url,) in connection.execute(query)}


def _is_sound(file: Path) -> bool:
    with contextlib.closing(sqlite3.connect(file)) as connection:
        try:
            connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('integrity-check')")
        except sqlite3.DatabaseError:
            return False
        return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def refreshes(folder: Path, site: WebSite) -> list[Row]:
    """Refresh a site in which nothing has changed, and then one page."""
    return asyncio.run(_refreshes(folder, site))


async def _refreshes(folder: Path, site: WebSite) -> list[Row]:
    async with _gateway(folder, site) as gateway:
        docs = gateway.docs
        version = await docs.add(site.url, "site", "1", CrawlOptions(delay=0.0))
        await docs.runner.crawl(version.id)
        read, reads = docs.runner.read, 0

        async def counted(*arguments: Any, **named: Any) -> Any:
            nonlocal reads
            reads += not named["only_links"]
            return await read(*arguments, **named)

        docs.runner.read = counted  # type: ignore[method-assign]
        vectors = _vectors(folder)
        begun, used = time.perf_counter(), time.process_time()
        after = await docs.runner.crawl(version.id)
        wall, cpu = time.perf_counter() - begun, time.process_time() - used
        pages = after.page_count if after else 0
        embedded, unchanged_reads, reads = len(_vectors(folder) - vectors), reads, 0
        site.log()
        site.change(_page_of_its_own(folder))
        await docs.runner.crawl(version.id)
    return [
        Row(
            "docs: unchanged, http",
            f"{pages:,} pages",
            f"{pages / cpu:.0f}/CPU s",
            f"{pages / wall:.0f}/s",
            ">= 500",
        ),
        Row(
            "docs: unchanged, http",
            f"{unchanged_reads} extracted",
            f"{embedded} embedded again",
            "",
            "0",
        ),
        Row(
            "docs: one page changed",
            f"{reads} extracted",
            f"{len(_vectors(folder) - vectors)} embedded",
            "",
            "1",
        ),
    ]


def _page_of_its_own(folder: Path) -> str:
    """The path of a page without a copy under another address: changing one of two copies would index both."""
    query = """
        SELECT url FROM urls WHERE state = 'done' AND url LIKE '%.html'
            AND url NOT IN (SELECT final_url FROM urls WHERE state = 'alias')
    """
    with contextlib.closing(sqlite3.connect(folder / "docs" / "docs.db")) as connection:
        return "/" + str(connection.execute(query).fetchone()[0]).split("/", 3)[3]


def _vectors(folder: Path) -> set[int]:
    with contextlib.closing(sqlite3.connect(folder / "docs" / "docs.db")) as connection:
        return {id_ for (id_,) in connection.execute("SELECT id FROM vectors")}


def politeness(folder: Path, site: WebSite) -> list[Row]:
    """Two processes crawl two sites of one host with the usual delay: the distances of requests at the server."""
    options = ("--delay", str(DELAY), "--max-pages", str(POLITE_PAGES // 2))
    crawls = [
        _crawling(folder, site, name, *options, "--include", f"{name}/**")
        for name in ("python", "git")
    ]
    for crawl in crawls:
        crawl.wait()
    times = [at for at, _, _ in site.log()]
    gaps = sorted(after - before for before, after in pairwise(times))
    return [
        Row(
            "docs: politeness",
            f"{len(times)} requests of two processes",
            f"95% at least {gaps[len(gaps) // 20] * 1000:.0f} ms apart",
            f"the closest {gaps[0] * 1000:.0f} ms",
            f">= {DELAY * 1000:.0f} ms",
        )
    ]


def beside_a_crawl(folder: Path, site: WebSite) -> list[Row]:
    """Search two copies of the site while another process crawls it a third time into the same file."""
    return asyncio.run(_beside_a_crawl(folder, site))


async def _beside_a_crawl(folder: Path, site: WebSite) -> list[Row]:
    async with _gateway(folder, site) as gateway:
        docs, embedder = gateway.docs, gateway.docs.runner.embedder.name
        version = await docs.add(site.url, "first", "1", CrawlOptions(delay=0.0))
        await docs.runner.crawl(version.id)
        await export_site(docs, version, embedder, folder / "export")
        await docs.store.delete_version(version.id)
        for name in ("one", "two"):
            await import_site(docs, embedder, _renamed(folder / "export", name))
        await gateway.documentation.search(DocsSearchRequest("warm up"))
        quiet = await _searched(gateway, 3 * len(QUERIES))
        crawl = _crawling(folder, site, "third")
        try:
            await asyncio.to_thread(_until_pages, site, crawl, known=True)
            busy = await _searched(gateway, 10 * len(QUERIES))
        finally:
            _killed(crawl)
    chunks = _count(folder, "SELECT count(*) FROM chunks")
    rows = []
    for name, found, wanted in (
        ("docs: search", quiet, "<= 20 ms"),
        ("docs: search beside a crawl", busy, "<= 50 ms"),
    ):
        wall, cpu = (
            statistics.quantiles(column, n=20)[-1] * 1000 for column in zip(*found, strict=True)
        )
        rows.append(
            Row(name, f"{chunks:,} chunks", f"p95 {cpu:.0f} ms CPU", f"p95 {wall:.0f} ms", wanted)
        )
    return rows


async def _searched(gateway: Gateway, count: int) -> list[tuple[float, float]]:
    """Seconds of wall clock and of CPU of each search."""
    found = []
    for number in range(count):
        begun, used = time.perf_counter(), time.process_time()
        await gateway.documentation.search(DocsSearchRequest(QUERIES[number % len(QUERIES)]))
        found.append((time.perf_counter() - begun, time.process_time() - used))
    return found


def _renamed(export: Path, name: str) -> Path:
    """A copy of an export under another name."""
    with gzip.open(export, "rt", encoding="utf-8") as old:
        head = {**json.loads(next(old)), "name": name}
        copy = export.with_name(name)
        with gzip.open(copy, "wt", encoding="utf-8", compresslevel=1) as new:
            new.write(json.dumps(head) + "\n")
            new.writelines(old)
    return copy


def memory(folder: Path, site: WebSite) -> list[Row]:
    """Crawl a large site: the memory of all processes, by the number of pages."""
    crawl = _crawling(folder, site, "large", "--max-pages", str(MANY_PAGES))
    seen: dict[int, float] = {}
    peak = 0.0
    try:
        while crawl.poll() is None and len(seen) < len(SAMPLES):
            time.sleep(1)
            peak = max(peak, _resident(crawl.pid))
            with contextlib.suppress(sqlite3.Error):
                pages = _count(folder, "SELECT count(*) FROM pages")
                seen |= {
                    step: _resident(crawl.pid)
                    for step in SAMPLES
                    if pages >= step and step not in seen
                }
    finally:
        _killed(crawl)
    by_pages = ", ".join(f"{megabytes:.0f} MB at {step:,}" for step, megabytes in seen.items())
    return [
        Row(
            "docs: memory of a crawl",
            f"peak {peak:.0f} MB",
            "all processes",
            by_pages,
            "<= 450 MB, flat",
        )
    ]


def _resident(pid: int) -> float:
    """The resident megabytes of a process and of those that it started."""
    total = 0.0
    for process in [pid, *_children(pid)]:
        with contextlib.suppress(OSError):
            total += (
                int(Path(f"/proc/{process}/statm").read_text().split()[1])
                * os.sysconf("SC_PAGE_SIZE")
                / 1e6
            )
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return [*found, *(below for child in found for below in _children(child))]


def _count(folder: Path, query: str) -> int:
    with contextlib.closing(sqlite3.connect(folder / "docs" / "docs.db")) as connection:
        return int(connection.execute(query).fetchone()[0])


PARTS = {part.__name__: part for part in (kills, refreshes, politeness, beside_a_crawl, memory)}

if __name__ == "__main__":
    print_table(measure(Path(sys.argv[1]), sys.argv[2:]))
