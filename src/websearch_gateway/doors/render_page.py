"""A page, or passages of it, as a person sees them in the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from websearch_gateway.text.relevance import ANSWERS
from websearch_gateway.wire.read import PageContent, PagePassage, PagePassages


def show_page(page: PageContent | PagePassages, console: Console | None = None) -> None:
    """The text, or the passages of each query, and what a careful reader should know."""
    console = console or Console()
    if isinstance(page, PageContent):
        _show_text(page, console)
    else:
        _show_passages(page, console)
    for warning in page.warnings:
        console.print(Text(f"  ! {warning}", style="yellow"))


def _show_text(page: PageContent, console: Console) -> None:
    console.print(Rule(Text(page.title or page.url, style="bold cyan"), style="cyan"))
    console.print(Markdown(page.page_content, hyperlinks=False))
    told = f"{page.total_chars:,} characters"
    if page.next_offset is not None:
        told += f"; there is more: --offset {page.next_offset}"
    console.print(Text(f"\n  {page.url} · {told}", style="dim"))


def _show_passages(page: PagePassages, console: Console) -> None:
    for query in page.queries:
        console.print(Rule(Text(query.query, style="bold cyan"), style="cyan"))
        for passage in query.results:
            console.print(_panel(passage))
    if page.note:
        console.print(Text(f"  ! {page.note}", style="yellow"))
    console.print(Text(f"  {page.title} · {page.url} · as of {page.last_crawled}", style="dim"))


def _panel(passage: PagePassage) -> Panel:
    style = "green" if passage.score >= ANSWERS else "dim"
    path = " › ".join(passage.section_path) or "(no heading)"
    return Panel(
        Markdown(passage.text, hyperlinks=False),
        title=Text.assemble((f"{passage.score:.2f}", f"bold {style}"), f"  {path}"),
        title_align="left",
        border_style=style,
    )
