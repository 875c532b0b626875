"""The commands that ask the web: `search`, `check`, `web`, `news`, `raw` and `read`; and what every command shares that
asks the gateway: its options, and one asynchronous call.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import MISSING, Field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer

from websearch_gateway.entrypoints.arguments import ABSENT, kind_of, meaning
from websearch_gateway.entrypoints.cli import exit_on_error, settings_of
from websearch_gateway.models import (
    DIRECT,
    Argument,
    Claim,
    ContentRequest,
    PassagesRequest,
    Progress,
    RawSearchRequest,
    SearchRequest,
    WebSearchRequest,
    arguments_in,
)
from websearch_gateway.results import PageContent, WireModel
from websearch_gateway.settings.loading import Settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from websearch_gateway.app.gateway import Gateway


R = TypeVar("R", bound=WireModel)

ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="Settings file (TOML).", dir_okay=False)
]
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
    from websearch_gateway.state import opening as state
    from websearch_gateway.upstream.logs import configure_logging

    settings = settings_of(config, as_json=as_json)
    # A person wants the answer; show events only on request.
    if "log_level" in settings.model_fields_set:
        configure_logging(settings.log_level, settings.secrets())
    else:
        configure_logging("WARNING", settings.secrets(), told=(state.__name__,))
    result = exit_on_error(lambda: asyncio.run(call(settings)), as_json=as_json)
    if as_json:
        typer.echo(result.model_dump_json(by_alias=True, indent=2))
    else:
        show(result)
    return result


def asking(
    request: type[DataclassInstance],
    call: Callable[[Gateway, Any, Progress], Awaitable[Any]],
    show: str,
    summary: str,
    flags: Mapping[str, Sequence[str]],
    **others: Any,
) -> Callable[..., None]:
    """The command that makes a request and shows the result with the function `show`; `summary` is its help.

    The first field of the request is what to ask. Every other one that callers may set is an option, which `flags` may
    name. `others` are defaults in place of the request's, and values of fields that callers may not set.
    """
    arguments = tuple(arguments_in(request))
    kinds = {
        field.name: kind_of(kind, is_optional=field.default is not MISSING)
        for field, kind, _ in arguments
    }

    def command(*, as_json: bool, config: Path | None, **options: Any) -> None:
        from websearch_gateway.entrypoints.cli import render

        fields = dict(others)
        for name, kind in kinds.items():
            value = meaning(options[name], kind)
            if value is not ABSENT:
                fields[name] = tuple(value) if kind.is_list else value
        asked = request(**fields)
        ask(
            lambda gateway, progress: call(gateway, asked, progress),
            getattr(render, show),
            as_json,
            config,
        )

    parameters = []
    for field, kind, about in arguments:
        default = others.get(field.name, field.default)
        parameters.append(_parameter(field, kind, about, flags.get(field.name, ()), default))
    command.__doc__ = summary
    command.__signature__ = inspect.Signature([*parameters, *_COMMON])  # type: ignore[attr-defined]  # typer reads it
    return command


def number(
    kind: type[int] | type[float],
    default: float | None = None,
    least: float = -math.inf,
    most: float = math.inf,
) -> Callable[[str], Any]:
    """The parser of an option that is a number, which it understands as the tools do: `5.0` is 5, and a word for nothing
    is `default`. `least` and `most` are the range, if nothing behind the command judges it.
    """
    argument = kind_of(kind, is_optional=True)
    takes = (int, float) if kind is float else (int,)
    name = "number" if kind is float else "whole number"

    def parsed(text: str) -> Any:
        value = meaning(text, argument)
        if value is ABSENT:
            return default
        if isinstance(value, bool) or not isinstance(value, takes):
            raise typer.BadParameter(f"{text!r} is not a {name}.")
        if not least <= value <= most:
            raise typer.BadParameter(f"{text!r} is not in the range {least:,.12g} to {most:,.12g}.")
        return value

    parsed.__name__ = kind.__name__  # the help shows it
    return parsed


_COMMON = [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    for name, default, annotation in (
        ("as_json", False, JsonOption),
        ("config", None, ConfigOption),
    )
]


def _parameter(
    field: Field[Any], kind: Any, about: Argument, flags: Sequence[str], default: Any
) -> inspect.Parameter:
    """What the command line takes for a field of a request: an argument for a required one, else an option."""
    if field.default is MISSING:
        repeats = get_origin(kind) is tuple
        default = inspect.Parameter.empty if default is MISSING else default
        argument = typer.Argument(help=about.about)
        return _keyword(field.name, list[str] if repeats else kind, argument, default)
    return _option(field.name, kind, about, flags, default)


def _option(
    name: str, kind: Any, about: Argument, flags: Sequence[str], default: Any
) -> inspect.Parameter:
    """An option. One of several values repeats; one of a few words names them, and the request judges it."""
    parts = (kind, *get_args(kind))
    repeats = get_origin(kind) is tuple
    choices: tuple[str, ...] = ()
    for part in get_args(kind):
        if get_origin(part) is Literal:
            choices = get_args(part)
            break
    accepted = kind
    if repeats:
        accepted, default = list[str] | None, None
    elif choices:
        accepted = str | None
    if not flags:
        flag = name.removesuffix("s" if repeats else "").replace("_", "-")
        flags = (f"--{flag}/--no-{flag}" if bool in parts else f"--{flag}",)
    option = typer.Option(
        *flags,
        help=_help(about, repeats=repeats),
        metavar="|".join(choices) or None,
        parser=number(int, default) if int in parts else None,
    )
    return _keyword(name, accepted, option, default)


def _keyword(name: str, kind: Any, about: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, about],
    )


def _help(about: Argument, *, repeats: bool) -> str:
    """The description for agents as the help of an option, with its range. "true: x" becomes "X", "false: x" "If not, x"."""
    text = about.about
    value, _, choices = text.rpartition(": ")
    if value == "true":
        text = choices.capitalize()
    elif value == "false":
        text = f"If not, {choices}"
    least, most = about.keywords.get("minimum"), about.keywords.get("maximum")
    limits = ""
    if repeats:
        limits = " (repeatable)"
    elif most is not None:
        limits = f" ({least}-{most})"
    return f"{text.removesuffix('.')}{limits}."


_NUMBER = {"max_results": ("--max-results", "-n")}

search = asking(
    SearchRequest,
    lambda gateway, request, progress: gateway.search(request, DIRECT, progress),
    "show_response",
    "Answer a question from the web, with sources.",
    {**_NUMBER, "include_answers": ("--answer/--no-answer",)},
)
web = asking(
    WebSearchRequest,
    lambda gateway, request, progress: gateway.web_search(request, DIRECT, progress),
    "show_found",
    "Find pages and read them.",
    _NUMBER,
    max_results=5,
)
news = asking(
    WebSearchRequest,
    lambda gateway, request, progress: gateway.web_search(request, DIRECT, progress),
    "show_found",
    "Find news and read them.",
    _NUMBER,
    max_results=5,
    freshness="week",
    topic="news",
)
raw = asking(
    RawSearchRequest,
    lambda gateway, request, progress: gateway.raw_search(request, DIRECT, progress),
    "show_raw",
    "List results without their pages, in Google's form with --json.",
    _NUMBER,
)


_TEXTS = kind_of(tuple[str, ...], is_optional=True)
_TEXT = kind_of(str, is_optional=True)


def texts_given(values: Sequence[str] | None) -> tuple[str, ...]:
    """The texts of a repeatable option, which may be one list as JSON; none for words that mean nothing."""
    texts = meaning(values, _TEXTS)
    return () if texts is ABSENT else tuple(map(str, texts))


def text_given(value: str | None) -> str | None:
    """The text of an option; None for a word that means nothing."""
    text = meaning(value, _TEXT)
    return None if text is ABSENT else str(text)


def check(
    claims: Annotated[list[str], typer.Argument(metavar="CLAIM...", help="Up to 20 sentences.")],
    url: Annotated[
        list[str] | None,
        typer.Option(help="Check against this page (repeatable), without a search."),
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Show what pages say of sentences: their words, and the numbers, dates and names that differ."""
    from websearch_gateway.entrypoints.cli.render import show_claims

    checked = [Claim(claim, texts_given(url)) for claim in claims]
    ask(
        lambda gateway, progress: gateway.check_claims(checked, DIRECT, progress),
        show_claims,
        as_json,
        config,
    )


MOST_URLS = 10
"""Of one command: a page each on a screen, and as many as a person wants to read."""


def read(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help=f"Up to {MOST_URLS} http(s) URLs.")
    ],
    query: Annotated[
        list[str] | None, typer.Option(help="Show the passages that answer this (repeatable).")
    ] = None,
    max_results: Annotated[
        int,
        typer.Option(
            "--max-results",
            "-n",
            parser=number(int, 8),
            help="The most passages per query (1-50).",
        ),
    ] = 8,
    offset: Annotated[
        int,
        typer.Option(parser=number(int, 0), help="The character to begin at, without --query."),
    ] = 0,
    max_chars: Annotated[
        int,
        typer.Option(
            parser=number(int, 100_000), help="The most characters, without --query (1-100000)."
        ),
    ] = 100_000,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the site again instead of using the stored page.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Read pages as Markdown, or find the passages of one that answer questions. A pipe gets the Markdown as it is."""
    from websearch_gateway.entrypoints.cli.render import show_page, show_pages

    queries = texts_given(query)
    if len(urls) > 1:
        if queries or offset or refresh:
            raise typer.BadParameter("--query, --offset and --refresh work with one URL only.")
        if len(urls) > MOST_URLS:
            raise typer.BadParameter(f"At most {MOST_URLS} URLs.")
        pages = ask(
            lambda gateway, progress: _each(gateway, urls, max_chars, progress),
            show_pages,
            as_json,
            config,
        )
        if all(page.error is not None for page in pages.pages):
            raise typer.Exit(1)
    elif queries:
        passages = PassagesRequest(urls[0], queries, refresh, max_results, include_metadata=True)
        ask(lambda gateway, _: gateway.reading.passages(passages), show_page, as_json, config)
    else:
        window = ContentRequest(urls[0], offset, max_chars, refresh)
        ask(lambda gateway, _: gateway.reading.content(window), show_page, as_json, config)


async def _each(
    gateway: Gateway, urls: list[str], max_chars: int, progress: Progress
) -> PageContent:
    from websearch_gateway.entrypoints.reply.pages import read_each, windows

    pages = await read_each(gateway, urls, DIRECT, max_chars, progress)
    return PageContent(pages=windows(pages))


def ask(
    call: Callable[[Gateway, Progress], Awaitable[R]],
    show: Callable[[R], None],
    as_json: bool,
    config: Path | None,
) -> R:
    """Open a gateway for one call, and show the stages of the call while it runs."""

    async def within(settings: Settings) -> R:
        from websearch_gateway.app.gateway import open_gateway
        from websearch_gateway.entrypoints.cli.terminal import stages

        with stages() as progress:
            async with open_gateway(settings) as gateway:
                return await call(gateway, progress)

    return run(within, show, as_json=as_json, config=config)
