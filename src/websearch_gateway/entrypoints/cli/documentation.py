"""Renders documentation sites, their sections and their crawls for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from websearch_gateway.entrypoints.cli.terminal import console_of_stdout, say, say_unbroken, warn
from websearch_gateway.results import (
    DocsProject,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
)

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway
    from websearch_gateway.docs import CrawlProgress
    from websearch_gateway.ports import IndexedSite

STATUS_STYLES = {
    "completed": "green",
    "failed": "red",
    "suspicious": "yellow",
    "paused": "yellow",
}


def show_sites(result: DocsSites) -> None:
    """One line per version."""
    from websearch_gateway.docs import NO_SITE

    if not result.sites:
        typer.echo(NO_SITE)
        return
    table = _table("id", "name", "version", "status", "pages", "indexed", "url")
    for site in result.sites:
        table.add_row(
            site.id,
            Text(site.name),
            Text(site.version),
            _status(site.status),
            f"{site.page_count:,}",
            f"{site.age} ago" if site.age else "",
            Text(site.url),
        )
    console_of_stdout().print(table)


def _status(status: str) -> Text:
    return Text(status, style=STATUS_STYLES.get(status, ""))


NUMBERS = ("id", "pages")
"""Columns of numbers, which stand to the right."""


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(name, justify="right" if name in NUMBERS else "left", overflow="fold")
    return table


def show_message(result: DocsStatus) -> None:
    """What was done."""
    typer.echo(result.message)


def show_status(result: DocsStatus) -> None:
    """The dependencies of a project, then a paragraph per version, with its failures."""
    from websearch_gateway.docs import NO_SITE

    console = console_of_stdout()
    message = result.message
    if isinstance(result, DocsProject):
        console.print(_dependencies(result))
    elif not result.sites:
        message = message or NO_SITE
    if message:
        say(console, message)
    for site in result.sites:
        _show_site(site, console)


def _dependencies(project: DocsProject) -> Table:
    table = _table("package", "version", "indexed", "documentation")
    for dependency in project.dependencies:
        table.add_row(
            Text(dependency.package),
            Text(dependency.version),
            Text(dependency.indexed or "no"),
            Text(dependency.url or dependency.problem),
        )
    return table


MOST_SKIPPED = 2
"""Addresses to show for each reason why pages were left out: an example, and one more to compare."""
MOST_FAILURES = 10
"""Failed pages to show for each site: about half a screen."""


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
    name = (f"{site.name} {site.version}  ", "bold")
    console.print(Text.assemble(name, _status(site.status), f"  {', '.join(facts)}"))
    if site.reason:
        say(console, f"  {site.reason}", "yellow")
    for failure in site.failures[:MOST_FAILURES]:
        say(console, f"  {failure.url}: {failure.reason}")
    more = len(site.failures) - MOST_FAILURES
    if more > 0:
        say(console, f"  … and {more} more: --json lists them")
    for skipped in site.skipped:
        examples = ", ".join(skipped.urls[:MOST_SKIPPED])
        say(console, f"  {skipped.count:,} left out, {skipped.reason}: {examples}", "dim")


def show_hits(result: DocsSearchResponse) -> None:
    """The sections, best first."""
    console = console_of_stdout()
    warn(console, result.warnings)
    if not result.results:
        say(console, "Nothing was found.")
    for number, hit in enumerate(result.results, start=1):
        title = " > ".join(hit.heading_path) or hit.page_title
        site = f"{hit.site_name} {hit.site_version}"
        say(console, f"{number}. {title}", "bold")
        say(console, f"   {site}  {hit.url}  [{hit.section_id}]", "cyan")
        say_unbroken(console, f"{hit.content}\n")
    for section in result.more:
        say(console, f"   {section.title}  [{section.section_id}]", "dim")


def show_section(result: DocsReadResponse) -> None:
    """Where it is, and its text or the outline."""
    console = console_of_stdout()
    say(console, f"{result.page_title}  {result.site_name} {result.site_version}", "bold")
    say(console, result.url, "cyan")
    for entry in result.outline:
        path = " > ".join(entry.heading_path)
        say(console, f"{entry.section_id}  {entry.tokens:>5}  {path}")
    if result.content:
        say_unbroken(console, result.content)
    if result.next_section_id:
        say(console, f"Read on: websearch-gateway docs read {result.next_section_id}", "dim")


PAGES_DONE = "{task.completed:,.0f} of {task.total:,.0f} pages"
SPEED = "{task.fields[speed]}  {task.fields[waiting]}"


async def watched(gateway: Gateway, site: IndexedSite, *, quiet: bool) -> None:
    """Crawl a site and show the progress on a terminal. Raises what `CrawlRunner.crawl` raises."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        await gateway.docs.runner.crawl(site.id)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn(f"{PAGES_DONE}  {SPEED}"),
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
