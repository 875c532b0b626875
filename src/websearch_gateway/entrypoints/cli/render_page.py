"""A page, or passages of it, as a person sees them in the terminal."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from websearch_gateway.results import PageContent, PagePassage, PagePassages
from websearch_gateway.text.rank import ANSWERS


def show_page(page: PageContent | PagePassages, console: Console | None = None) -> None:
    """The text, or the passages of each query, and the notes.

    If stdout is not a terminal, it gets the unchanged text, and stderr the rest.
    """
    console = console or Console()
    if isinstance(page, PageContent) and not console.is_terminal:
        typer.echo(page.page_content)
        for line in (*page.warnings, *_more(page)):
            typer.echo(line, err=True)
        return
    if isinstance(page, PageContent):
        _show_text(page, console)
    else:
        _show_passages(page, console)
    for warning in page.warnings:
        console.print(Text(f"  ! {warning}", style="yellow"))


def show_pages(read: PageContent) -> None:
    """Several pages, one after another. stderr lists those that cannot be read."""
    console = Console()
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
    console.print(Text(f"\n  {page.url} · {extent}", style="dim"))


def _show_passages(page: PagePassages, console: Console) -> None:
    for query in page.queries:
        console.print(Rule(Text(query.query, style="bold cyan"), style="cyan"))
        for passage in query.results or filter(None, (query.nearest,)):
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
