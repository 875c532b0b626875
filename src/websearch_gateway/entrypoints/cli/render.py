"""Renders answers, results and pages for the terminal. Page text is printed as text, never as markup."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import typer
from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from websearch_gateway.entrypoints.cli.terminal import (
    MARKS,
    console_of_stdout,
    heading,
    rule,
    say,
    say_unbroken,
    warn,
)
from websearch_gateway.evidence import ANSWERS
from websearch_gateway.results import (
    CheckedClaims,
    Citation,
    ErrorInfo,
    PageContent,
    PagePassage,
    PagePassages,
    RawSearchResponse,
    SearchResponse,
    SourceInfo,
    WebSearchResponse,
)


def show_response(response: SearchResponse, console: Console | None = None) -> None:
    """The answer with numbered marks, its sources, and one line on its origin."""
    console = console or console_of_stdout()
    origin = Text(response.provider, style="bold")
    if response.cache != "miss":
        origin.append(" · from the cache", style="green")
    if console.is_terminal:
        console.print(_framed(_answer(response), origin, "cyan"))
    else:
        _show_plain_answer(response, origin.plain, console)
    warn(console, response.warnings)
    say(console, f"  {_footer(response)}", "dim")


def _answer(response: SearchResponse) -> Group:
    parts: list[RenderableType] = [_numbered(response)]
    if response.citations:
        parts += [Text(), _citations(response.citations)]
    elif response.sources:
        parts += [Text(), *map(_source, response.sources)]
    return Group(*parts)


_LINK = re.compile(r"\(?\[[^\]\n]*\]\((https?://[^\s()]+)\)\)?")


def _numbered(response: SearchResponse) -> Text:
    """The text with every link to a source shortened to the source's number."""
    if not response.text:
        return Text("(no written answer)", style="dim")
    numbers = {citation.url: f"[{citation.rank}]" for citation in response.citations}
    text = Text()
    end = 0
    for link in _LINK.finditer(response.text):
        text.append(response.text[end : link.start()])
        url = link[1]
        text.append(numbers.get(url, url), "bold cyan")
        end = link.end()
    return text.append(response.text[end:])


def _citations(citations: Sequence[Citation]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold cyan", justify="right")
    table.add_column()
    for citation in citations:
        title = citation.title or urlsplit(citation.url).netloc
        link = Text(title, style=f"link {citation.url}")
        quote = f"\n“{citation.quote}”" if citation.quote else ""
        table.add_row(f"[{citation.rank}]", Text.assemble(link, "\n", (citation.url, "dim"), quote))
    return table


def _source(source: SourceInfo) -> Text:
    return Text.assemble(source.title, "\n", (source.url, "dim"))


def _show_plain_answer(response: SearchResponse, origin: str, console: Console) -> None:
    """The answer for a pipe or a file: no frame, and no line is broken."""
    lines = [_numbered(response).plain]
    for citation in response.citations:
        lines += ["", f"[{citation.rank}] {citation.title}", f"    {citation.url}"]
        if citation.quote:
            lines.append(f"    “{citation.quote}”")
    if not response.citations:
        for source in response.sources:
            lines += ["", source.title, f"    {source.url}"]
    lines += ["", f"  {origin}"]
    say_unbroken(console, "\n".join(lines))


def _footer(response: SearchResponse) -> str:
    tokens = response.usage.prompt_tokens + response.usage.response_tokens
    parts = [f"${response.cost_usd:.4f}", f"{tokens} tokens", f"answered {response.responded_at}"]
    if response.fallback is not None:
        parts.append(f"fallback from {response.fallback.from_} ({response.fallback.reason})")
    return " · ".join(parts)


def _framed(body: RenderableType, title: Text | str, style: str) -> Panel:
    return Panel(body, title=title, title_align="left", border_style=style, padding=(1, 2))


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
"""The mark of each verdict on a claim."""


def show_claims(response: CheckedClaims) -> None:
    """Each claim with its verdict and what differs, and below it the words of the pages and links to them."""
    console = console_of_stdout()
    for checked in response.claims:
        mark, style = MARKS[VERDICTS[checked.verdict]]
        judge = " (a model)" if checked.judge == "model" else ""
        verdict = f"{mark} {checked.verdict}{judge}  "
        console.print(Text.assemble((verdict, style), (checked.claim, "bold")))
        for difference in checked.differences:
            words = f"the claim has {difference.claim}, the page {difference.page}"
            say(console, f"    {difference.kind}: {words}", "yellow")
        for quote in checked.quotes:
            say(console, f"    “{quote.text}”")
            say_unbroken(console, f"    {quote.url}", f"dim link {quote.quote_url}")
    warn(console, response.warnings)
    say(console, f"  ${response.cost_usd:.4f}", "dim")


def show_error(error: ErrorInfo, console: Console | None = None) -> None:
    """An error, with the same facts as for an agent."""
    console = console or console_of_stdout()
    message = error.message
    if error.retry_after_seconds:
        message += f"\nTry again in {error.retry_after_seconds:g} s."
    if console.is_terminal:
        console.print(_framed(Text(message), error.code, "red"))
    else:
        say(console, f"{error.code}: {message}")


def show_found(response: WebSearchResponse) -> None:
    """Each result with its URL and snippet, and one line on their origin."""
    console = console_of_stdout()
    for number, result in enumerate(response.results, start=1):
        size = f"{len(result.page_content):,} characters"
        host = urlsplit(result.link).hostname
        about = " · ".join(filter(None, (host, result.published_date, size)))
        _show_hit(console, number, result.title, result.link, result.snippet)
        say(console, f"    {about}\n", "dim")
    if not response.results:
        say(console, "(no results)", "dim")
    warn(console, response.warnings)
    cost = f"${response.cost_usd:.4f}"
    if response.cache != "miss":
        cost += " · from the cache"
    say(console, f"  {cost} · the text of the pages: --json, or `read URL`", "dim")


def show_raw(response: RawSearchResponse) -> None:
    """The items of each query."""
    console = console_of_stdout()
    for query in response.queries:
        origin = query.provider
        if query.cache != "miss":
            origin += " · from the cache"
        heading(console, f"{query.query} · {origin}")
        error = query.result.get("error")
        if error:
            say(console, f"  ! {error['code']}: {error['message']}", "yellow")
        for number, item in enumerate(query.result.get("items", []), start=1):
            title, link, snippet = (_text(item, name) for name in ("title", "link", "snippet"))
            _show_hit(console, number, title, link, snippet)
            console.print()
    warn(console, response.warnings)


SNIPPET_CHARS = 300
"""The most characters of a snippet: about four lines of a terminal."""


def _show_hit(console: Console, number: int, title: str, link: str, snippet: str) -> None:
    console.print(Text.assemble((f"[{number}] ", "bold cyan"), (title or link, "bold")))
    say_unbroken(console, f"    {link}", "dim")
    beginning = textwrap.shorten(snippet, SNIPPET_CHARS, placeholder=" …")
    if beginning:
        say(console, f"    {beginning}")


def _text(item: Any, field: str) -> str:
    """A field of what a vendor sent, if it is a text."""
    value = item.get(field) if isinstance(item, dict) else None
    return value if isinstance(value, str) else ""


def show_page(page: PageContent | PagePassages, console: Console | None = None) -> None:
    """The text, or the passages of each query, and the notes.

    If stdout is not a terminal, it gets the unchanged text, and stderr the rest.
    """
    console = console or console_of_stdout()
    if isinstance(page, PagePassages):
        _show_passages(page, console)
    elif console.is_terminal:
        _show_text(page, console)
    else:
        typer.echo(page.page_content)
        for line in filter(None, (*page.warnings, _more(page))):
            typer.echo(line, err=True)
        return
    warn(console, page.warnings)


def show_pages(read: PageContent) -> None:
    """Several pages, one after another. stderr lists those that cannot be read."""
    console = console_of_stdout()
    for page in read.pages:
        if page.error is not None:
            typer.echo(f"{page.url}: {page.error.code}: {page.error.message}", err=True)
        elif console.is_terminal:
            _show_text(PageContent(**page.model_dump()), console)
        else:
            address = page.url.replace("--", "%2D%2D")  # which would end the comment
            typer.echo(f"<!-- {address} -->\n\n{page.page_content}\n")


def _show_text(page: PageContent, console: Console) -> None:
    rule(console, page.title or page.url)
    console.print(Markdown(page.page_content, hyperlinks=False))
    extent = _more(page) or f"{page.total_chars:,} characters"
    say(console, f"\n  {page.url} · {extent}", "dim")


def _more(page: PageContent) -> str:
    """How to read on; nothing at the end of a page."""
    if page.next_offset is None:
        return ""
    return f"{page.total_chars:,} characters; there is more: --offset {page.next_offset}"


def _show_passages(page: PagePassages, console: Console) -> None:
    for query in page.queries:
        heading(console, query.query)
        passages = query.results
        if not passages and query.nearest:
            passages = (query.nearest,)
        for passage in passages:
            _show_passage(passage, console)
    if page.note:
        say(console, f"  ! {page.note}", "yellow")
    say(console, f"  {page.title} · {page.url} · as of {page.last_crawled}", "dim")


def _show_passage(passage: PagePassage, console: Console) -> None:
    score = f"{passage.score:.2f}"
    path = " › ".join(passage.section_path) or "(no heading)"
    if not console.is_terminal:
        say(console, f"{score}  {path}\n\n{passage.text}\n")
        return
    style = "green" if passage.score >= ANSWERS else "dim"
    title = Text.assemble((score, f"bold {style}"), f"  {path}")
    text = Markdown(passage.text, hyperlinks=False)
    console.print(Panel(text, title=title, title_align="left", border_style=style))
