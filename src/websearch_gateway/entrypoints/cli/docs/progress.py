"""Shows a crawl's progress as a bar on stderr, or as one line a minute if stderr is not a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway
    from websearch_gateway.docs_index.models import CrawlProgress, SiteVersion

LINE_SECONDS = 60.0


async def watched(gateway: Gateway, site: SiteVersion, *, quiet: bool) -> None:
    """Crawl a site and show the progress. Raises what `CrawlRunner.crawl` raises."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        await gateway.docs.crawl(site.id, _Lines(site, console, quiet=quiet))
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} pages  {task.fields[speed]}  {task.fields[waiting]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{site.name} {site.label}", total=1, speed="", waiting="")

        async def show(progress: CrawlProgress) -> None:
            bar.update(
                task,
                completed=progress.done,
                total=max(progress.known, progress.done, 1),
                speed=f"{progress.pages_per_second:.1f}/s",
                waiting=progress.waiting,
            )

        await gateway.docs.crawl(site.id, show)


class _Lines:
    """An `OnProgress` that prints a line a minute."""

    def __init__(self, site: SiteVersion, console: Console, *, quiet: bool) -> None:
        self._site = site
        self._console = console
        self._quiet = quiet
        self._last = time.monotonic()

    async def __call__(self, progress: CrawlProgress) -> None:
        if self._quiet or time.monotonic() - self._last < LINE_SECONDS:
            return
        self._last = time.monotonic()
        waiting = f", {progress.waiting}" if progress.waiting else ""
        self._console.print(
            f"{self._site.name} {self._site.label}: {progress.done:,} of {progress.known:,} pages, "
            f"{progress.pages_per_second:.1f}/s{waiting}",
            highlight=False,
        )
