"""How results of the group `docs` look on a terminal, and the progress of a crawl. Page text is printed as text, never
as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from websearch_gateway.docs_index.library import NO_SITE
from websearch_gateway.results import (
    DocsProject,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
)

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway
    from websearch_gateway.docs_index.models import CrawlProgress, SiteVersion


_STYLES = {"completed": "green", "failed": "red", "suspicious": "yellow", "paused": "yellow"}
MOST_SKIPPED = 2
MOST_FAILURES = 10


def show_sites(result: DocsSites) -> None:
    """One line per version."""
    console = Console()
    if not result.sites:
        console.print(NO_SITE)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("id", "name", "version", "status", "pages", "indexed", "url"):
        table.add_column(name, justify="right" if name in ("id", "pages") else "left", overflow="fold")
    for site in result.sites:
        status = Text(site.status, style=_STYLES.get(site.status, ""))
        indexed = f"{site.age} ago" if site.age else ""
        table.add_row(
            site.id, Text(site.name), Text(site.version), status, f"{site.page_count:,}", indexed, Text(site.url)
        )
    console.print(table)


def show_status(result: DocsStatus) -> None:
    """The dependencies of a project, then a paragraph per version, with its failures."""
    console = Console()
    is_project = isinstance(result, DocsProject)
    if isinstance(result, DocsProject):
        _show_dependencies(result, console)
    if result.message:
        console.print(Text(result.message))
    elif not result.sites and not is_project:
        console.print(NO_SITE)
    for site in result.sites:
        _show_site(site, console)


def _show_dependencies(result: DocsProject, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("package", "version", "indexed", "documentation"):
        table.add_column(name, overflow="fold")
    for one in result.dependencies:
        table.add_row(Text(one.package), Text(one.version), Text(one.indexed or "no"), Text(one.url or one.problem))
    console.print(table)


def show_hits(result: DocsSearchResponse) -> None:
    """The sections, best first."""
    console = Console()
    for warning in result.warnings:
        console.print(Text(f"! {warning}", style="yellow"))
    if not result.results:
        console.print("Nothing was found.")
    for number, hit in enumerate(result.results, 1):
        title = " > ".join(hit.heading_path) or hit.page_title
        console.print(Text(f"{number}. {title}", style="bold"))
        console.print(Text(f"   {hit.site_name} {hit.site_version}  {hit.url}  [{hit.section_id}]", style="cyan"))
        console.print(Text(hit.content), soft_wrap=True)
        console.print()
    for one in result.more:
        console.print(Text(f"   {one.title}  [{one.section_id}]", style="dim"))


def show_section(result: DocsReadResponse) -> None:
    """Where it is, and its text or the outline."""
    console = Console()
    console.print(Text(f"{result.page_title}  {result.site_name} {result.site_version}", style="bold"))
    console.print(Text(result.url, style="cyan"))
    for entry in result.outline:
        console.print(Text(f"{entry.section_id}  {entry.tokens:>5}  {' > '.join(entry.heading_path)}"))
    if result.content:
        console.print(Text(result.content), soft_wrap=True)
    if result.next_section_id:
        console.print(Text(f"Read on: websearch-gateway docs read {result.next_section_id}", style="dim"))


def _show_site(site: DocsSiteStatus, console: Console) -> None:
    facts = [f"{site.page_count:,} of {site.known:,} pages"]
    if site.failed:
        facts.append(f"{site.failed:,} failed")
    if site.unembedded:
        facts.append(f"{site.unembedded:,} without vectors")
    if site.age:
        facts.append(f"indexed {site.age} ago")
    if site.owner:
        facts.append(f"crawled by {site.owner}, last seen {site.heartbeat_seconds or 0:.0f} s ago")
    line = Text(f"{site.name} {site.version}  ", style="bold")
    line.append(site.status, style=_STYLES.get(site.status, ""))
    console.print(line.append(f"  {', '.join(facts)}", style="not bold"))
    if site.reason:
        console.print(Text(f"  {site.reason}", style="yellow"))
    for failure in site.failures[:MOST_FAILURES]:
        console.print(Text(f"  {failure.url}: {failure.reason}"))
    if len(site.failures) > MOST_FAILURES:
        console.print(f"  … and {len(site.failures) - MOST_FAILURES} more: --json lists them")
    for skipped in site.skipped:
        some = ", ".join(skipped.urls[:MOST_SKIPPED])
        console.print(Text(f"  {skipped.count:,} left out, {skipped.reason}: {some}", style="dim"))


async def watched(gateway: Gateway, site: SiteVersion, *, quiet: bool) -> None:
    """Crawl a site and show the progress on a terminal. Raises what `CrawlRunner.crawl` raises."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        await gateway.docs.runner.crawl(site.id)
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

        await gateway.docs.runner.crawl(site.id, show)
