"""Renders results for the terminal."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from websearch_gateway.results.admin import MigrateResult
from websearch_gateway.results.answer import Citation, SearchResponse, SourceInfo
from websearch_gateway.results.base import ErrorInfo
from websearch_gateway.results.ops import Diagnosis

_LINK = re.compile(r"\(?\[[^\]\n]*\]\((https?://[^\s()]+)\)\)?")

MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red"), "off": ("·", "dim")}


def show_response(response: SearchResponse, console: Console | None = None) -> None:
    """The answer with numbered marks, its sources, and one line on its origin."""
    console = console or Console()
    body: list[Any] = [_numbered(response)]
    if response.citations:
        body += [Text(), _citations(response.citations)]
    elif response.sources:
        body += [Text(), _sources(response.sources)]
    console.print(Panel(Group(*body), title=_title(response), title_align="left", border_style="cyan", padding=(1, 2)))
    for warning in response.warnings:
        console.print(Text(f"  ! {warning}", style="yellow"))
    console.print(Text(f"  {_footer(response)}", style="dim"))


def show_error(error: ErrorInfo, console: Console | None = None) -> None:
    """An error, with the same facts as for an agent."""
    console = console or Console()
    wait = f"\nTry again in {error.retry_after_seconds:g} s." if error.retry_after_seconds else ""
    console.print(
        Panel(Text(error.message + wait), title=error.code, title_align="left", border_style="red", padding=(1, 2))
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
    Console().print(table)


def show_migration(result: MigrateResult) -> None:
    """One line: what was copied, and what was not needed."""
    counted = {"counters": result.counters, "already counted there": result.already_there, "expired": result.expired}
    others = "".join(f", {number} {what}" for what, number in counted.items() if number)
    began = " (an interrupted run went on)" if result.resumed else ""
    Console().print(Text(f"{result.copied} entries copied to {result.target}{others}{began}"))


def show_settings(settings: dict[str, Any]) -> None:
    """Every setting by its environment name."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting")
    table.add_column("value")
    for name, value in settings.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        table.add_row(name, Text("not set", style="dim") if shown in (None, "", {}) else Text(str(shown)))
    Console().print(table)


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
        table.add_row(f"[{citation.rank}]", Text.assemble(link, "\n", (citation.url, "dim")))
    return table


def _sources(sources: tuple[SourceInfo, ...]) -> Group:
    """The pages of an answer that cites none."""
    return Group(*(Text.assemble(source.title, "\n", (source.url, "dim")) for source in sources))


def _title(response: SearchResponse) -> Text:
    if response.cache != "miss":
        return Text(f"{response.provider} · from the cache", style="bold green")
    return Text(response.provider, style="bold")


def _footer(response: SearchResponse) -> str:
    tokens = response.usage.prompt_tokens + response.usage.response_tokens
    parts = [f"${response.cost_usd:.4f}", f"{tokens} tokens", f"answered {response.responded_at}"]
    if response.fallback is not None:
        parts.append(f"fallback from {response.fallback.from_} ({response.fallback.reason})")
    return " · ".join(parts)
