"""Renders results and pages for the terminal. Page text is printed as text, never as markup."""

from __future__ import annotations

import re
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import typer
from rich.console import Console, Group
from rich.markdown import Markdown
from rich.panel import Panel
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from websearch_gateway.evidence import ANSWERS
from websearch_gateway.models import Progress, no_progress
from websearch_gateway.results import (
    CacheClearResult,
    CacheStats,
    CheckedClaims,
    Citation,
    Diagnosis,
    DocsProject,
    DocsReadResponse,
    DocsSearchResponse,
    DocsSites,
    DocsSiteStatus,
    DocsStatus,
    ErrorInfo,
    MigrateResult,
    PageContent,
    PagePassages,
    RawSearchResponse,
    SearchResponse,
    ServerStats,
    TokenUses,
    WebSearchResponse,
)
from websearch_gateway.settings.loading import names_a_width

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway
    from websearch_gateway.docs import CrawlProgress, SiteVersion

_LINK = re.compile(r"\(?\[[^\]\n]*\]\((https?://[^\s()]+)\)\)?")

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "off": ("·", "dim")}


PIPE_COLUMNS = 100_000
"""Wider than any line: in a pipe or a file no line is broken and no cell is cut."""


def console_of_stdout() -> Console:
    """The terminal; for a pipe or a file a console that breaks no line, unless COLUMNS says how wide it is."""
    console = Console()
    has_width = console.is_terminal or names_a_width()
    return console if has_width else Console(width=PIPE_COLUMNS)


def _heading(console: Console, text: str) -> None:
    """A line above what belongs together; in a pipe a heading of Markdown."""
    if console.is_terminal:
        console.print(Rule(Text(text, style="bold cyan"), style="cyan"))
    else:
        _say(console, f"## {text}\n")


def show_response(response: SearchResponse, console: Console | None = None) -> None:
    """The answer with numbered marks, its sources, and one line on its origin."""
    console = console or console_of_stdout()
    body: list[Any] = [_numbered(response)]
    if response.citations:
        body += [Text(), _citations(response.citations)]
    elif response.sources:
        body += [
            Text(),
            *(Text.assemble(one.title, "\n", (one.url, "dim")) for one in response.sources),
        ]
    stored = (" · from the cache", "bold green") if response.cache != "miss" else ""
    title = Text.assemble((response.provider, "bold"), stored)
    if console.is_terminal:
        console.print(
            Panel(
                Group(*body), title=title, title_align="left", border_style="cyan", padding=(1, 2)
            )
        )
    else:
        _print_plain(response, title.plain, console)
    _warn(response.warnings, console)
    _say(console, f"  {_footer(response)}", "dim")


def _print_plain(response: SearchResponse, origin: str, console: Console) -> None:
    """The answer for a pipe or a file: no frame, and no line is broken."""
    lines = [_numbered(response).plain]
    for citation in response.citations:
        quote = [f"    “{citation.quote}”"] if citation.quote else []
        lines += ["", f"[{citation.rank}] {citation.title}", f"    {citation.url}", *quote]
    if not response.citations:
        lines += [line for one in response.sources for line in ("", one.title, f"    {one.url}")]
    console.print(Text("\n".join([*lines, "", f"  {origin}"])), soft_wrap=True)


VERDICTS = {
    "verbatim": "ok",
    "supported": "ok",
    "differs": "fail",
    "contradicted": "fail",
    "found": "warn",
    "unclear": "warn",
    "not_found": "off",
    "unread": "off",
}


def show_claims(response: CheckedClaims) -> None:
    """Each claim with its verdict and what differs, and below it the words of the pages and links to them."""
    console = console_of_stdout()
    for checked in response.claims:
        mark, style = MARKS[VERDICTS[checked.verdict]]
        judge = " (a model)" if checked.judge == "model" else ""
        console.print(
            Text.assemble((f"{mark} {checked.verdict}{judge}  ", style), (checked.claim, "bold"))
        )
        for one in checked.differences:
            console.print(
                Text(
                    f"    {one.kind}: the claim has {one.claim}, the page {one.page}",
                    style="yellow",
                )
            )
        for quote in checked.quotes:
            _say(console, f"    “{quote.text}”")
            console.print(
                Text(f"    {quote.url}", style=f"dim link {quote.quote_url}"), soft_wrap=True
            )
    _warn(response.warnings, console)
    _say(console, f"  ${response.cost_usd:.4f}", "dim")


def show_error(error: ErrorInfo, console: Console | None = None) -> None:
    """An error, with the same facts as for an agent."""
    console = console or console_of_stdout()
    wait = f"\nTry again in {error.retry_after_seconds:g} s." if error.retry_after_seconds else ""
    if not console.is_terminal:
        _say(console, f"{error.code}: {error.message}{wait}")
        return
    console.print(
        Panel(
            Text(error.message + wait),
            title=error.code,
            title_align="left",
            border_style="red",
            padding=(1, 2),
        )
    )


def show_diagnosis(diagnosis: Diagnosis) -> None:
    """One row per part of the gateway: healthy, warning, broken or not configured, and below it how to fix it."""
    table = Table(box=None, pad_edge=False, show_header=False)
    for overflow in ("ellipsis", "ellipsis", "fold"):
        table.add_column(overflow=overflow)
    for check in diagnosis.checks:
        mark, style = MARKS[check.status]
        told = Text.assemble(check.finding, (f"\n{check.remedy}" if check.remedy else "", "dim"))
        table.add_row(Text(mark, style=style), check.name, told)
    console_of_stdout().print(table)


def show_migration(result: MigrateResult) -> None:
    """One line: what was copied, and what was not."""
    counted = {
        "counters": result.counters,
        "already in the target": result.already_there,
        "expired": result.expired,
        "left out": result.left_out,
    }
    others = "".join(f", {number} {what}" for what, number in counted.items() if number)
    began = " (resumed an interrupted run)" if result.resumed else ""
    console_of_stdout().print(
        Text(f"{result.copied} entries copied to {result.target}{others}{began}")
    )


def show_settings(settings: dict[str, Any]) -> None:
    """Every setting by its environment name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting")
    table.add_column("value")
    for name, value in settings.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(
            name, Text("not set", style="dim") if shown in (None, "", {}) else Text(str(shown))
        )
    console_of_stdout().print(table)


def _numbered(response: SearchResponse) -> Text:
    """The text with every link to a source shortened to the source's number."""
    if not response.text:
        return Text("(no written answer)", style="dim")
    numbers = {citation.url: f"[{citation.rank}]" for citation in response.citations}
    shown = Text()
    for index, piece in enumerate(_LINK.split(response.text)):
        # Every second piece is a link's URL.
        shown.append(*((numbers.get(piece, piece), "bold cyan") if index % 2 else (piece,)))
    return shown


def _citations(citations: tuple[Citation, ...]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold cyan", justify="right")
    table.add_column()
    for citation in citations:
        link = Text(citation.title or urlsplit(citation.url).netloc, style=f"link {citation.url}")
        quote = f"\n“{citation.quote}”" if citation.quote else ""
        table.add_row(f"[{citation.rank}]", Text.assemble(link, "\n", (citation.url, "dim"), quote))
    return table


def _footer(response: SearchResponse) -> str:
    tokens = response.usage.prompt_tokens + response.usage.response_tokens
    parts = [f"${response.cost_usd:.4f}", f"{tokens} tokens", f"answered {response.responded_at}"]
    if response.fallback is not None:
        parts.append(f"fallback from {response.fallback.from_} ({response.fallback.reason})")
    return " · ".join(parts)


SNIPPET_CHARS = 300


def show_found(response: WebSearchResponse) -> None:
    """Each result with its URL and snippet, and one line on their origin."""
    console = console_of_stdout()
    for number, found in enumerate(response.results, start=1):
        about = f"{len(found.page_content):,} characters"
        if found.published_date:
            about = f"{found.published_date} · {about}"
        if host := urlsplit(found.link).hostname:
            about = f"{host} · {about}"
        _show(console, number, found.title, found.link, found.snippet, about)
    if not response.results:
        _say(console, "(no results)", "dim")
    _warn(response.warnings, console)
    cost = f"${response.cost_usd:.4f}"
    if response.cache != "miss":
        cost += " · from the cache"
    _say(console, f"  {cost} · the text of the pages: --json, or `read URL`", "dim")


def _say(console: Console, text: str, style: str = "") -> None:
    """Print a text as it is, in a style."""
    console.print(Text(text, style=style))


def show_raw(response: RawSearchResponse) -> None:
    """The items of each query."""
    console = console_of_stdout()
    for query in response.queries:
        about = query.provider if query.cache == "miss" else f"{query.provider} · from the cache"
        _heading(console, f"{query.query} · {about}")
        if error := query.result.get("error"):
            _say(console, f"  ! {error['code']}: {error['message']}", "yellow")
        for number, item in enumerate(query.result.get("items", []), start=1):
            _show(
                console,
                number,
                _text(item, "title"),
                _text(item, "link"),
                _text(item, "snippet"),
                "",
            )
    _warn(response.warnings, console)


def _show(console: Console, number: int, title: str, link: str, snippet: str, about: str) -> None:
    console.print(Text.assemble((f"[{number}] ", "bold cyan"), (title or link, "bold")))
    console.print(Text(f"    {link}", style="dim"), soft_wrap=True)
    if shown := textwrap.shorten(snippet, SNIPPET_CHARS, placeholder=" …"):
        _say(console, f"    {shown}")
    if about:
        _say(console, f"    {about}", "dim")
    console.print()


def _text(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""


_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def show_stats(stats: ServerStats, console: Console | None = None) -> None:
    """A row per day that had calls, the latest first; a row per paid upstream; and the rest of today's budget."""
    console = console or console_of_stdout()
    if stats.days:
        console.print(_days_of(stats), Text(), sep="\n")
        if names := _paid(stats):
            console.print(_providers_of(stats, names), Text(), sep="\n")
        _say(console, _summary(stats))
    _warn(stats.warnings, console)


def _days_of(stats: ServerStats) -> Table:
    table = _table("day", ">cost", ">saved", ">calls", ">p50", ">p95", ">p99")
    for day in stats.days:
        costs = [_usd(day.usd), _usd(day.saved_usd), f"{day.calls:,}"]
        latencies = (day.latency_ms.p50, day.latency_ms.p95, day.latency_ms.p99)
        table.add_row(day.day, *costs, *map(_milliseconds, latencies))
    return table


def _milliseconds(latency: float | None) -> str:
    return "" if latency is None else f"{latency:,.0f} ms"


def _providers_of(stats: ServerStats, names: Sequence[str]) -> Table:
    """What each paid upstream cost on all days, the dearest first."""
    paid: dict[str, float] = {}
    calls: dict[str, int] = {}
    for name in names:
        paid[name] = sum(day.by_provider.get(name, 0) for day in stats.days)
        calls[name] = sum(day.calls_by_provider.get(name, 0) for day in stats.days)
    table = _table("provider", ">cost", ">paid calls")
    for name in sorted(names, key=lambda name: -paid[name]):
        table.add_row(name, _usd(paid[name]), f"{calls[name]:,}")
    return table


def show_tokens(uses: TokenUses, console: Console | None = None) -> None:
    """A row per token."""
    console = console or console_of_stdout()
    if not uses.tokens:
        _say(console, "No token yet: websearch-gateway token create NAME")
        return
    table = _table(
        "name",
        "scopes",
        "rate limit",
        ">budget",
        ">spent today",
        ">calls today",
        "last use",
        "expires",
    )
    for use in uses.tokens:
        expires = (
            f"expired {_minute(use.expires_at)}" if use.has_expired else _minute(use.expires_at)
        )
        limits = "none" if use.rate_limit == "" else use.rate_limit or ""
        budget = "" if use.daily_budget_usd is None else _usd(use.daily_budget_usd)
        did = (_usd(use.spent_today_usd), f"{use.calls_today:,}", _minute(use.last_used_at))
        table.add_row(use.name, " ".join(use.scopes), limits, budget, *did, expires)
    console.print(table)


def _minute(moment: str | None) -> str:
    return "" if moment is None else moment[:16].replace("T", " ")


def _paid(stats: ServerStats) -> list[str]:
    return list(
        dict.fromkeys(name for day in stats.days for name, usd in day.by_provider.items() if usd)
    )


def show_cache(stats: CacheStats, console: Console | None = None) -> None:
    """A row per kind of entry, then age and savings. Usage is left out: this process has served no calls."""
    console = console or console_of_stdout()
    table = _table("kind", ">entries", ">size")
    for kind, entries in stats.entries_by_kind.items():
        table.add_row(kind, f"{entries:,}", _size(stats.bytes_by_kind.get(kind, 0)))
    facts = [f"{stats.entries:,} entries, {_size(stats.bytes)}"]
    if stats.oldest_seconds is not None and stats.newest_seconds is not None:
        facts.append(
            f"the oldest {_duration(stats.oldest_seconds)}, the newest {_duration(stats.newest_seconds)} old"
        )
    if stats.saved_today_usd is not None:
        facts.append(f"saved {_usd(stats.saved_today_usd)} today")
    console.print(table, Text(), Text(" · ".join(facts)), sep="\n")
    _warn(stats.warnings, console)


def show_cleared(result: CacheClearResult) -> None:
    """One line: the number of removed entries, by kind."""
    kinds = ", ".join(
        f"{count:,} {kind}" for kind, count in result.removed_by_kind.items() if count
    )
    removed = (
        "There was nothing to remove."
        if not result.removed
        else f"Removed {result.removed:,} entries: {kinds}."
    )
    console_of_stdout().print(Text(removed))


def _summary(stats: ServerStats) -> str:
    today = f"today {_usd(stats.days[0].usd)}"
    if stats.daily_budget_usd is not None and stats.left_today_usd is not None:
        today += f" of {_usd(stats.daily_budget_usd)}, {_usd(stats.left_today_usd)} left"
    total, saved = sum(day.usd for day in stats.days), sum(day.saved_usd for day in stats.days)
    share = f" ({saved / (saved + total):.0%})" if saved else ""
    return f"{today} · shown days {_usd(total)} · the cache saved {_usd(saved)}{share}"


def _table(*columns: str) -> Table:
    """`>` before a name puts its column to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        right = name.startswith(">")
        table.add_column(name.removeprefix(">"), justify="right" if right else "left", no_wrap=True)
    return table


def _warn(warnings: Sequence[str], console: Console) -> None:
    for warning in warnings:
        _say(console, f"! {warning}", "yellow")


def _usd(amount: float) -> str:
    digits = 0 if amount >= 1000 else 2 if amount >= 1 or not amount else 4
    return f"${amount:,.{digits}f}"


def _duration(seconds: float) -> str:
    length, unit = next(((length, unit) for length, unit in _UNITS if seconds >= length), (1, "s"))
    return f"{seconds / length:.0f} {unit}"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


class Stage:
    """A line that is redrawn with the elapsed time."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._message = "Starting"

    async def tell(self, message: str) -> None:
        """The Progress of a call: set the current stage."""
        self._message = message

    def __rich__(self) -> Text:
        """The current line."""
        return Text.assemble(self._message, (f"  {time.monotonic() - self._began:.0f} s", "dim"))


@contextmanager
def stages() -> Iterator[Progress]:
    """Shows a spinner for the length of a block; nothing unless stdout and stderr are terminals."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        yield no_progress
        return
    stage = Stage()
    with Console(stderr=True).status(stage, spinner="dots"):
        yield stage.tell


def show_page(page: PageContent | PagePassages, console: Console | None = None) -> None:
    """The text, or the passages of each query, and the notes.

    If stdout is not a terminal, it gets the unchanged text, and stderr the rest.
    """
    console = console or console_of_stdout()
    if isinstance(page, PageContent) and not console.is_terminal:
        typer.echo(page.page_content)
        for line in (*page.warnings, *_more(page)):
            typer.echo(line, err=True)
        return
    if isinstance(page, PageContent):
        _show_text(page, console)
    else:
        _show_passages(page, console)
    _warn(page.warnings, console)


def show_pages(read: PageContent) -> None:
    """Several pages, one after another. stderr lists those that cannot be read."""
    console = console_of_stdout()
    for page in read.pages:
        if page.error is not None:
            typer.echo(f"{page.url}: {page.error.code}: {page.error.message}", err=True)
        elif console.is_terminal:
            _show_text(PageContent(**page.model_dump()), console)
        else:
            typer.echo(f"<!-- {page.url.replace('--', '%2D%2D')} -->\n\n{page.page_content}\n")


def _more(page: PageContent) -> tuple[str, ...]:
    if page.next_offset is None:
        return ()
    return (f"{page.total_chars:,} characters; there is more: --offset {page.next_offset}",)


def _show_text(page: PageContent, console: Console) -> None:
    console.print(Rule(Text(page.title or page.url, style="bold cyan"), style="cyan"))
    console.print(Markdown(page.page_content, hyperlinks=False))
    extent = "".join(_more(page)) or f"{page.total_chars:,} characters"
    _say(console, f"\n  {page.url} · {extent}", "dim")


def _show_passages(page: PagePassages, console: Console) -> None:
    for query in page.queries:
        _heading(console, query.query)
        for passage in query.results or filter(None, (query.nearest,)):
            path = " › ".join(passage.section_path) or "(no heading)"
            if not console.is_terminal:
                _say(console, f"{passage.score:.2f}  {path}\n\n{passage.text}\n")
                continue
            style = "green" if passage.score >= ANSWERS else "dim"
            title = Text.assemble((f"{passage.score:.2f}", f"bold {style}"), f"  {path}")
            shown = Markdown(passage.text, hyperlinks=False)
            console.print(Panel(shown, title=title, title_align="left", border_style=style))
    if page.note:
        _say(console, f"  ! {page.note}", "yellow")
    _say(console, f"  {page.title} · {page.url} · as of {page.last_crawled}", "dim")


_STYLES = {"completed": "green", "failed": "red", "suspicious": "yellow", "paused": "yellow"}
MOST_SKIPPED = 2
MOST_FAILURES = 10


def show_sites(result: DocsSites) -> None:
    """One line per version."""
    from websearch_gateway.docs import NO_SITE

    if not result.sites:
        typer.echo(NO_SITE)
        return
    table = _columns("id", "name", "version", "status", "pages", "indexed", "url")
    for site in result.sites:
        status = Text(site.status, style=_STYLES.get(site.status, ""))
        indexed = f"{site.age} ago" if site.age else ""
        named, count = (Text(site.name), Text(site.version)), f"{site.page_count:,}"
        table.add_row(site.id, *named, status, count, indexed, Text(site.url))
    console_of_stdout().print(table)


def _columns(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in names:
        table.add_column(
            name, justify="right" if name in ("id", "pages") else "left", overflow="fold"
        )
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
        table = _columns("package", "version", "indexed", "documentation")
        for one in result.dependencies:
            table.add_row(
                *map(Text, (one.package, one.version, one.indexed or "no", one.url or one.problem))
            )
        console.print(table)
    elif not result.sites:
        message = message or NO_SITE
    if message:
        console.print(Text(message))
    for site in result.sites:
        _show_site(site, console)


def show_hits(result: DocsSearchResponse) -> None:
    """The sections, best first."""
    console = console_of_stdout()
    for warning in result.warnings:
        _say(console, f"! {warning}", "yellow")
    if not result.results:
        console.print("Nothing was found.")
    for number, hit in enumerate(result.results, 1):
        title = " > ".join(hit.heading_path) or hit.page_title
        _say(console, f"{number}. {title}", "bold")
        console.print(
            Text(
                f"   {hit.site_name} {hit.site_version}  {hit.url}  [{hit.section_id}]",
                style="cyan",
            )
        )
        console.print(Text(hit.content), soft_wrap=True)
        console.print()
    for one in result.more:
        _say(console, f"   {one.title}  [{one.section_id}]", "dim")


def show_section(result: DocsReadResponse) -> None:
    """Where it is, and its text or the outline."""
    console = console_of_stdout()
    console.print(
        Text(f"{result.page_title}  {result.site_name} {result.site_version}", style="bold")
    )
    _say(console, result.url, "cyan")
    for entry in result.outline:
        console.print(
            Text(f"{entry.section_id}  {entry.tokens:>5}  {' > '.join(entry.heading_path)}")
        )
    if result.content:
        console.print(Text(result.content), soft_wrap=True)
    if result.next_section_id:
        console.print(
            Text(f"Read on: websearch-gateway docs read {result.next_section_id}", style="dim")
        )


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
        _say(console, f"  {site.reason}", "yellow")
    for failure in site.failures[:MOST_FAILURES]:
        _say(console, f"  {failure.url}: {failure.reason}")
    if len(site.failures) > MOST_FAILURES:
        console.print(f"  … and {len(site.failures) - MOST_FAILURES} more: --json lists them")
    for skipped in site.skipped:
        some = ", ".join(skipped.urls[:MOST_SKIPPED])
        _say(console, f"  {skipped.count:,} left out, {skipped.reason}: {some}", "dim")


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
        TextColumn(
            "{task.completed:,.0f} of {task.total:,.0f} pages  {task.fields[speed]}  {task.fields[waiting]}"
        ),
        TimeElapsedColumn(),
    )
    with ProgressBar(*columns, console=console, transient=True) as bar:
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
