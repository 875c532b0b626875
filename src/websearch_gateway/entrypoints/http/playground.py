"""The page `/play`, where a person asks and sees what happens.

The page is the same for everybody and says nothing about this gateway, so it needs no token. Its script posts to
`/play/ask`, with the person's token if one is needed, and shows the events of the reply. `/play/ask` serves only this
page: not other origins, and not programs, which have `/v1`. Search suggestions, which are HTML of the search engine to
be shown unchanged, go into the frame `/play/suggestions`, which belongs to no origin and loads nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.middleware import is_json, json_object
from websearch_gateway.entrypoints.http.replies import (
    NOT_JSON,
    Html,
    digest_of,
    document,
    failure,
    own_shape,
    page_reply,
    policy,
    refusal,
)
from websearch_gateway.entrypoints.lifecycle import LazyGateway, describe
from websearch_gateway.entrypoints.tools.table import Tool, callable_tools
from websearch_gateway.errors import SearchValidationError, shown
from websearch_gateway.models import AskedUpstream, Caller, Watch
from websearch_gateway.results import (
    CheckedClaims,
    DocsSearchResponse,
    PagePassages,
    SearchResponse,
    WebSearchResponse,
    WireModel,
)
from websearch_gateway.settings.loading import Settings

Field = tuple[str, str, str]
"""An argument, its label, and the attributes of its text field; `FRESH` and `CHECKBOX` in place of these are other
kinds of fields."""

FRESH, CHECKBOX = "<select>", "<checkbox>"
_DOMAINS: Field = ("includeDomains", "Only these domains", 'type="text" placeholder="example.org"')
_REGION: Field = ("region", "Country", 'type="text" placeholder="DE" size="4"')
_FRESHNESS: Field = ("freshness", "How old at most", FRESH)
_QUESTION: Field = (
    "query",
    "Question",
    'type="text" required placeholder="How tall is the Eiffel Tower?"',
)
_QUERY: Field = ("query", "Query", 'type="text" required placeholder="Eiffel Tower height"')

TABS: Mapping[str, tuple[str, str, str, tuple[Field, ...]]] = {
    "search_web": (
        "Answer",
        "Checking the question",
        "A short answer from the web with its citations. Point at a citation or focus it to see the quote.",
        (
            _QUESTION,
            _DOMAINS,
            _REGION,
            (
                "freshnessHours",
                "At most so many hours old",
                'type="number" min="1" max="168" placeholder="24"',
            ),
            ("verifyCitations", "Read the cited pages and quote them", CHECKBOX),
        ),
    ),
    "web_search": (
        "Search",
        "Checking the query",
        "Pages that search providers find, with their text.",
        (_QUERY, _DOMAINS, _REGION, _FRESHNESS),
    ),
    "search_news": (
        "News",
        "Checking the query",
        "News of the last days, with their text.",
        (_QUERY, _DOMAINS, _REGION, _FRESHNESS),
    ),
    "read_from_page": (
        "Read",
        "Reading the page",
        "The passages of one page that answer a question.",
        (
            (
                "url",
                "Address of the page",
                'type="url" required placeholder="https://example.org/"',
            ),
            _QUESTION,
        ),
    ),
    "check_claims": (
        "Check",
        "Checking the claim",
        "A sentence beside the words of pages. It shows which numbers, dates and names differ, not whether it is true.",
        (
            (
                "claim",
                "Sentence",
                'type="text" required placeholder="The Eiffel Tower is 330 metres tall."',
            ),
            (
                "urls",
                "Address of a page; empty to search",
                'type="url" placeholder="https://example.org/"',
            ),
        ),
    ),
    "search_docs": (
        "Docs",
        "Searching the index",
        "Sections of the documentation that this gateway has indexed.",
        (
            ("query", "Question", 'type="text" required placeholder="How do I set a timeout?"'),
            ("siteId", "Only this site", 'type="text"'),
        ),
    ),
}
"""The tools of the page: the tab's title, what the tool does first, what it gives, and its fields. The fields of
`check_claims` are those of one claim."""

_SHOW = 'addEventListener("message", (event) => { if (event.source === parent) document.body.innerHTML = event.data; });'
SUGGESTIONS = (
    '<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
    f'<base target="_blank"><title>Search suggestions</title><body><script>{_SHOW}</script></body></html>\n'
)
"""Shows the HTML that the page around it posts. Its policy keeps scripts and addresses of that HTML from loading, and
from moving this frame or the page; its links open new tabs."""
_SUGGESTIONS_POLICY = "; ".join(
    (
        "default-src 'none'",
        f"script-src {digest_of(_SHOW)}",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox",
    )
)


def play_routes(settings: Settings, gateway: LazyGateway) -> list[BaseRoute]:
    """The routes of the page; none if it is off."""
    if settings.playground == "off":
        return []
    tools = {tool.name: tool for tool in callable_tools(settings) if tool.name in TABS}
    page = rendered(with_token=settings.auth_mode != "none", base=settings.base_path)

    async def play(_: Request) -> Response:
        return page_reply(
            page, headers={"Content-Security-Policy": policy(_file("play.css"), script=True)}
        )

    async def script(_: Request) -> Response:
        return Response(_file("play.js"), media_type="text/javascript")

    async def suggestions(_: Request) -> Response:
        return page_reply(SUGGESTIONS, headers={"Content-Security-Policy": _SUGGESTIONS_POLICY})

    return [
        Route("/play", play),
        Route("/play.js", script),
        Route("/play/suggestions", suggestions),
        Route("/play/ask", _ask_endpoint(tools, gateway, settings.public_url), methods=["POST"]),
    ]


@cache
def _file(name: str) -> str:
    return files("websearch_gateway.entrypoints.http").joinpath(name).read_text(encoding="utf-8")


def rendered(*, with_token: bool, base: str = "") -> str:
    """The whole page. `with_token`: a form asks for the token that callers need. `base`: the path of PUBLIC_URL."""
    whole, *names_and_pieces = re.split(r"<!-- (\w+) -->\n", _file("play.html"))
    names, pieces_of_page = names_and_pieces[::2], names_and_pieces[1::2]
    pieces = dict(zip(names, map(Template, pieces_of_page), strict=True))
    tabs = panels = ""
    for place, (tool, (title, _, about, fields)) in enumerate(TABS.items()):
        first = place == 0
        tabs += pieces["tab"].substitute(
            tool=tool,
            title=title,
            selected="true" if first else "false",
            index="0" if first else "-1",
        )
        inputs = ""
        for argument, label, more in fields:
            piece = pieces[_KINDS.get(more, "text")]
            inputs += piece.substitute(tool=tool, argument=argument, label=label, more=more)
        panels += pieces["panel"].substitute(
            tool=tool, about=about, hidden="" if first else " hidden", fields=inputs.rstrip()
        )
    token = pieces["token"].template.rstrip() if with_token else ""
    body = Template(whole).substitute(
        base=base, token=token, tabs=tabs.rstrip(), panels=panels.rstrip()
    )
    return document(
        "Ask · websearch-gateway",
        Html(body),
        head=Html(
            f'<style>{_file("play.css")}</style><script src="{base}/play.js" defer></script>'
        ),
    )


_KINDS = {FRESH: "freshness", CHECKBOX: "checkbox"}


def _ask_endpoint(
    tools: Mapping[str, Tool], gateway: LazyGateway, public_url: str | None
) -> Callable[[Request], Awaitable[Response]]:
    async def ask(request: Request) -> Response:
        if not _is_own_page(request, public_url):
            return refusal(
                403,
                "VALIDATION",
                "Only the page /play of this server may ask here; programs use /v1.",
            )
        if not is_json(request.scope):
            return refusal(415, "VALIDATION", NOT_JSON)
        try:
            body = json_object(await request.body())
            name, given = str(body.get("tool")), body.get("arguments")
            if (tool := tools.get(name)) is None:
                raise SearchValidationError(
                    f"This gateway does not offer {shown(name)}; see TOOLSETS."
                )
            require_scope(request, tool.needed_scope)
            arguments = tool.parse(given if isinstance(given, dict) else {})
        except SearchValidationError as error:
            return failure(error)
        events = _events(gateway, tool, arguments, caller_of(request))
        return StreamingResponse(
            events, media_type="application/x-ndjson", headers={"X-Accel-Buffering": "no"}
        )

    return ask


def _is_own_page(request: Request, public_url: str | None) -> bool:
    """Whether our own page sent the request. Browsers set both headers and no script can change them:
    https://fetch.spec.whatwg.org/#origin-header, https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
    """
    origin = urlsplit(request.headers.get("origin", "").lower())
    own = {request.headers["host"].lower(), urlsplit((public_url or "").lower()).netloc}
    return (
        bool(origin.netloc)
        and origin.netloc in own
        and request.headers.get("sec-fetch-site", "same-origin") == "same-origin"
    )


async def _events(
    gateway: LazyGateway, tool: Tool, arguments: Any, caller: Caller
) -> AsyncIterator[bytes]:
    """The events of a call, a line of JSON each, with the seconds since it began: each stage and each upstream as they
    come, and last the result or the error.
    """
    started = time.monotonic()
    waiting: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()

    def tell(event: dict[str, Any]) -> None:
        waiting.put_nowait({**event, "seconds": round(time.monotonic() - started, 3)})

    async def progress(message: str) -> None:
        tell({"stage": message})

    async def call() -> None:
        watch = Watch(lambda upstream: tell({"upstream": asdict(upstream)}))
        try:
            result = await tool.call(
                await gateway.get(), arguments, replace(caller, watch=watch), progress
            )
            end: dict[str, Any] = {"result": result.model_dump(mode="json", by_alias=True)}
            end["why"] = why_nothing(result, list(watch.asked.values()))
        # The entrypoint: the reply has begun, so the error becomes its last event.
        except Exception as error:
            end = own_shape(describe(error), 500)
        tell({**end, "upstreams": [asdict(upstream) for upstream in watch.asked.values()]})

    tell({"stage": TABS[tool.name][1]})
    task = asyncio.create_task(call())
    task.add_done_callback(lambda _: waiting.put_nowait(None))
    try:
        while (event := await waiting.get()) is not None:
            yield json.dumps(event, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    finally:
        task.cancel()  # the person has left or pressed Stop


def why_nothing(result: WireModel, upstreams: list[AskedUpstream]) -> str:
    """Why a result is empty and what to try, in words; empty if it is not."""
    match result:
        case SearchResponse(citations=(), sources=(), text=text) if not text.strip():
            return _why_not_found(result.cache, upstreams)
        case SearchResponse(citations=()):
            return "The answer names no page that supports it, so nothing in it is proven. The warnings say more."
        case WebSearchResponse(results=()):
            return _why_not_found(result.cache, upstreams)
        case CheckedClaims(claims=claims) if not any(claim.quotes for claim in claims):
            return "No page says anything near to that. Name the address of a page, or use the words of its subject."
        case PagePassages(queries=queries) if not any(query.results for query in queries):
            note = f" It says: {result.note}." if result.note else ""
            return f"The page was read, but none of its passages answers that.{note} Try words that the page uses."
        case DocsSearchResponse(results=()):
            return (
                "No section matches. Use words of that documentation, or leave the site out. An operator adds sites "
                "with `websearch-gateway docs add URL`."
            )
    return ""


def _why_not_found(cache: str, upstreams: list[AskedUpstream]) -> str:
    answered, failed = [], []
    for upstream in upstreams:
        if upstream.outcome == "ok":
            answered.append(upstream.name)
        elif upstream.outcome not in ("", "CANCELLED"):
            failed.append(f"{upstream.name} ({upstream.outcome})")
    sentences = []
    if answered:
        sentences.append(f"{_and(answered)} answered, but found no page for these words.")
    if failed:
        sentences.append(f"{_and(failed)} failed.")
    if not upstreams and cache == "miss":
        sentences.append("No upstream was asked.")
    elif not upstreams:
        sentences.append("An earlier search found nothing, and the cache kept that.")
    sentences.append("Try fewer or other words, and no domain.")
    return " ".join(sentences)


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
