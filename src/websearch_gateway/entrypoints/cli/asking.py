"""The commands that ask the web: `search`, `check`, `web`, `news`, `raw` and `read`; and what every command shares that
asks the gateway: its options, and one asynchronous call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from websearch_gateway.entrypoints.cli import exit_on_error, settings_of
from websearch_gateway.models import (
    DIRECT,
    Claim,
    ContentRequest,
    Freshness,
    PassagesRequest,
    RawSearchRequest,
    SearchRequest,
    Topic,
    WebSearchRequest,
)
from websearch_gateway.ports import Progress
from websearch_gateway.results import PageContent, WireModel
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


R = TypeVar("R", bound=WireModel)

ConfigOption = Annotated[Path | None, typer.Option("--config", help="Settings file (TOML).", dir_okay=False)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
FailureJsonOption = Annotated[bool, typer.Option("--json", help="Print startup errors as JSON.")]


def run(
    call: Callable[[Settings], Coroutine[Any, Any, R]],
    show: Callable[[R], None],
    *,
    as_json: bool,
    config: Path | None,
) -> R:
    """Run one asynchronous call of the gateway and print the result."""
    from websearch_gateway.state import memory
    from websearch_gateway.upstream.telemetry import configure_logging

    settings = settings_of(config, as_json=as_json)
    # A person wants the answer; show events only on request.
    if "log_level" in settings.model_fields_set:
        configure_logging(settings.log_level, settings.secrets())
    else:
        configure_logging("WARNING", settings.secrets(), told=(memory.__name__,))
    result = exit_on_error(lambda: asyncio.run(call(settings)), as_json=as_json)
    if as_json:
        typer.echo(result.model_dump_json(by_alias=True, indent=2))
    else:
        show(result)
    return result


MOST_URLS = 10

IncludeOption = Annotated[
    list[str] | None, typer.Option("--include-domain", help="Search only this domain (repeatable).")
]
ExcludeOption = Annotated[
    list[str] | None, typer.Option("--exclude-domain", help="Leave this domain out (repeatable).")
]
RegionOption = Annotated[str | None, typer.Option(help="ISO 3166-1 alpha-2 country, such as DE.")]
LanguageOption = Annotated[str | None, typer.Option(help="ISO 639-1 language, such as de.")]


def search(
    query: Annotated[str, typer.Argument(help="The question, in full words.")],
    max_results: Annotated[int, typer.Option("--max-results", "-n", help="The most sources to cite (1-8).")] = 5,
    freshness_hours: Annotated[int | None, typer.Option(help="Only results of the last N hours (1-168).")] = None,
    region: RegionOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    answer: Annotated[bool, typer.Option(help="Write the answer, or list the sources only.")] = True,
    verify: Annotated[
        bool | None,
        typer.Option("--verify-citations/--no-verify-citations", help="Read the cited pages and quote them."),
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Answer a question from the web, with sources."""
    from websearch_gateway.entrypoints.cli.render import show_response

    request = SearchRequest(
        query, max_results, freshness_hours, region, answer, tuple(include or ()), tuple(exclude or ()), verify
    )
    _ask(lambda gateway, tell: gateway.search(request, DIRECT, tell), show_response, as_json, config)


def check(
    claims: Annotated[list[str], typer.Argument(metavar="CLAIM...", help="Up to 20 sentences.")],
    url: Annotated[
        list[str] | None, typer.Option(help="Check against this page (repeatable), without a search.")
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Say whether pages support sentences, and show the words in which they do."""
    from websearch_gateway.entrypoints.cli.render import show_claims

    asked = [Claim(one, tuple(url or ())) for one in claims]
    _ask(lambda gateway, tell: gateway.check_claims(asked, DIRECT, tell), show_claims, as_json, config)


def _finder(topic: Topic, usual_freshness: Freshness | None, summary: str) -> Callable[..., None]:
    """The command that finds pages of a topic; `summary` is its help."""

    def find(
        query: Annotated[str, typer.Argument(help="What to find.")],
        num_results: Annotated[int, typer.Option("--num-results", "-n", help="The most results (1-50).")] = 5,
        freshness: Annotated[
            str | None, typer.Option(metavar="day|week|month|year", help="How old the results may be.")
        ] = usual_freshness,
        include: IncludeOption = None,
        exclude: ExcludeOption = None,
        region: RegionOption = None,
        language: LanguageOption = None,
        page: Annotated[int, typer.Option(help="Which page of results, from 1.")] = 1,
        as_json: JsonOption = False,
        config: ConfigOption = None,
    ) -> None:
        from websearch_gateway.entrypoints.cli.render import show_found

        request = WebSearchRequest(
            query,
            num_results,
            freshness=freshness,  # type: ignore[arg-type]  # the pipeline refuses any other text
            include_domains=tuple(include or ()),
            exclude_domains=tuple(exclude or ()),
            region=region,
            language=language,
            page=page,
            topic=topic,
        )
        _ask(lambda gateway, tell: gateway.web_search(request, DIRECT, tell), show_found, as_json, config)

    find.__doc__ = summary
    return find


web = _finder("general", None, "Find pages and read them.")
news = _finder("news", "week", "Find news and read them.")


def raw(
    queries: Annotated[list[str], typer.Argument(help="One query, or up to 20.")],
    results_per_query: Annotated[
        int, typer.Option("--num-results", "-n", help="The most items per query (1-50).")
    ] = 10,
    region: RegionOption = None,
    language: LanguageOption = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """List results without their pages, in Google's form with --json."""
    from websearch_gateway.entrypoints.cli.render import show_raw

    request = RawSearchRequest(tuple(queries), results_per_query, region, language)
    _ask(lambda gateway, tell: gateway.raw_search(request, DIRECT, tell), show_raw, as_json, config)


def read(
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Up to 10 http(s) URLs.")],
    query: Annotated[list[str] | None, typer.Option(help="Show the passages that answer this (repeatable).")] = None,
    max_results: Annotated[int, typer.Option("--max-results", "-n", help="The most passages per query (1-50).")] = 8,
    offset: Annotated[int, typer.Option(help="The character to begin at, without --query.")] = 0,
    max_chars: Annotated[int, typer.Option(help="The most characters, without --query (1-100000).")] = 100_000,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the site again instead of using the stored page.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read pages as Markdown, or find the passages of one that answer questions. A pipe gets the Markdown as it is."""
    from websearch_gateway.entrypoints.cli.render import show_page, show_pages

    if len(urls) > 1:
        if query or offset or refresh:
            raise typer.BadParameter("--query, --offset and --refresh work with one URL only.")
        if len(urls) > MOST_URLS:
            raise typer.BadParameter(f"At most {MOST_URLS} URLs.")
        pages = _ask(lambda gateway, tell: _each(gateway, urls, max_chars, tell), show_pages, as_json, config)
        if all(page.error is not None for page in pages.pages):
            raise typer.Exit(1)
    elif query:
        wanted = PassagesRequest(urls[0], tuple(query), refresh, max_results, True)
        _ask(lambda gateway, _: gateway.reading.passages(wanted), show_page, as_json, config)
    else:
        window = ContentRequest(urls[0], offset, max_chars, refresh)
        _ask(lambda gateway, _: gateway.reading.content(window), show_page, as_json, config)


async def _each(gateway: Gateway, urls: list[str], max_chars: int, tell: Progress) -> PageContent:
    from websearch_gateway.entrypoints.reply import read_each, windows

    return PageContent(pages=windows(await read_each(gateway, urls, DIRECT, max_chars, tell)))


def _ask(
    call: Callable[[Gateway, Progress], Awaitable[R]], show: Callable[[R], None], as_json: bool, config: Path | None
) -> R:
    """Open a gateway for one call, and show the stages of the call while it runs."""

    async def within(settings: Settings) -> R:
        from websearch_gateway.app import open_gateway
        from websearch_gateway.entrypoints.cli.render import stages

        with stages() as tell:
            async with open_gateway(settings) as gateway:
                return await call(gateway, tell)

    return run(within, show, as_json=as_json, config=config)
