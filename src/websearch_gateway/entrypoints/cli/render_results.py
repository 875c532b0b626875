"""Lists of results as a person sees them in the terminal."""

from __future__ import annotations

import textwrap
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from websearch_gateway.results.search import RawSearchResponse, WebSearchResponse

SNIPPET_CHARS = 300


def show_found(response: WebSearchResponse) -> None:
    """Each result with its URL and snippet, and one line on their origin."""
    console = Console()
    for number, found in enumerate(response.results, start=1):
        about = [
            urlsplit(found.link).hostname or "",
            found.published_date or "",
            f"{len(found.page_content):,} characters",
        ]
        _show(console, number, found.title, found.link, found.snippet, " · ".join(filter(None, about)))
    if not response.results:
        console.print(Text("(no results)", style="dim"))
    for warning in response.warnings:
        console.print(Text(f"  ! {warning}", style="yellow"))
    origin = " · from the cache" if response.cache != "miss" else ""
    console.print(
        Text(f"  ${response.cost_usd:.4f}{origin} · the text of the pages: --json, or `read URL`", style="dim")
    )


def show_raw(response: RawSearchResponse) -> None:
    """The items of each query."""
    console = Console()
    for query in response.queries:
        about = query.provider if query.cache == "miss" else f"{query.provider} · from the cache"
        console.print(Rule(Text(f"{query.query} · {about}", style="bold cyan"), style="cyan"))
        if error := query.result.get("error"):
            console.print(Text(f"  ! {error['code']}: {error['message']}", style="yellow"))
        for number, item in enumerate(query.result.get("items", []), start=1):
            _show(console, number, _text(item, "title"), _text(item, "link"), _text(item, "snippet"), "")
    for warning in response.warnings:
        console.print(Text(f"  ! {warning}", style="yellow"))


def _show(console: Console, number: int, title: str, link: str, snippet: str, about: str) -> None:
    console.print(Text.assemble((f"[{number}] ", "bold cyan"), (title or link, "bold")))
    console.print(Text(f"    {link}", style="dim"), soft_wrap=True)
    if shown := textwrap.shorten(snippet, SNIPPET_CHARS, placeholder=" …"):
        console.print(Text(f"    {shown}"))
    if about:
        console.print(Text(f"    {about}", style="dim"))
    console.print()


def _text(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""
