"""The documentation of Heron, a library that does not exist, in three versions below `/docs/`.

`2.0` is a well-kept site; `3.0b1` has an llms.txt and Markdown copies; `1.0` has everything that makes crawling hard:
endless addresses, a page built by scripts, a page that asks clients to wait, and redirects out of the site. Validators
make refreshing an unchanged page cheap.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.vendor import origin

STABLE, NEXT, OLD = "2.0", "3.0b1", "1.0"

_VERSIONS = (STABLE, NEXT, OLD)
_PATIENCE_SECONDS = 1
_SCRIPT = (
    "document.getElementById('app').innerHTML = "
    "'<h1>Live levels</h1><p>' + 'The water rises until noon. '.repeat(12) + '</p>'"
)


def sitemap_url(request: Request) -> str:
    """Where the sitemap of the documentation is."""
    return f"{origin(request)}/docs/sitemap.xml"


def _version(request: Request) -> str:
    version: str = request.path_params["version"]
    if version not in _VERSIONS:
        raise HTTPException(404)
    return version


def _page(request: Request, title: str, body: str, links: dict[str, str]) -> Response:
    menu = "".join(f'<li><a href="{escape(target)}">{escape(name)}</a></li>' for target, name in links.items())
    return _validated(
        request,
        f"<!doctype html><html lang='en'><title>{escape(title)}</title><nav><ul>{menu}</ul></nav>"
        f"<main><h1>{escape(title)}</h1>{body}</main></html>",
        "text/html",
    )


def _validated(request: Request, body: str | bytes, media_type: str) -> Response:
    raw = body if isinstance(body, bytes) else body.encode()
    etag = f'"{sha256(raw).hexdigest()[:16]}"'
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers={"etag": etag})
    return Response(raw, media_type=media_type, headers={"etag": etag})


async def _document(request: Request) -> Response:
    version, path = _version(request), request.path_params["path"]
    pages = documents(version)
    if version == NEXT and path.endswith(".md"):
        return _markdown(request, path)
    if path not in pages:
        raise HTTPException(404)
    root = f"/docs/{version}/"
    links = {root + name: page.title for name, page in pages.items()}
    if version == OLD:
        links |= {root + name: name for name in ("live.html", "busy.html", "trap/1", "timeouts.html", "away.html")}
        links[f"{root}private/notes.html"] = "notes"
    return _page(request, pages[path].title, pages[path].body, links)


def _markdown(request: Request, path: str) -> Response:
    """The Markdown copy of a page, with headings and paragraphs only."""
    page = documents(NEXT).get(path.removesuffix(".md").removesuffix("index.html"))
    if page is None:
        raise HTTPException(404)
    text = re.sub(r"<h2[^>]*>", "\n\n## ", page.body)
    text = re.sub(r"<dt[^>]*>(.*?)</dt>", r"\n\n**\1**\n\n", text)
    text = re.sub(
        r"<pre><code class='language-(\w+)'>(.*?)</code></pre>", r"\n\n```\1\n\2\n```\n\n", text, flags=re.DOTALL
    )
    text = re.sub(r"</?code>", "`", text.replace("</p>", "\n\n").replace("</h2>", "\n\n"))
    text = unescape(re.sub(r"</?\w+[^>]*>", "", text))
    return _validated(request, f"# {page.title}\n\n{text.strip()}\n", "text/markdown")


async def _llms(request: Request) -> Response:
    if _version(request) != NEXT:
        raise HTTPException(404)
    entries = "".join(f"- [{page.title}]({path or 'index.html'}.md)\n" for path, page in documents(NEXT).items())
    return _validated(request, f"# Heron {NEXT}\n\n## Documentation\n\n{entries}", "text/plain")


async def _inventory(request: Request) -> Response:
    return _validated(request, inventory(_version(request)), "application/octet-stream")


async def _sitemap(request: Request) -> Response:
    places = "".join(
        f"<url><loc>{origin(request)}/docs/{version}/{path}</loc></url>"
        for version in (STABLE, NEXT)
        for path in documents(version)
    )
    opening = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return _validated(request, f"{opening}{places}</urlset>", "application/xml")


async def _stable(_: Request) -> RedirectResponse:
    return RedirectResponse(f"/docs/{STABLE}/", 302)


async def _moved(_: Request) -> RedirectResponse:
    return RedirectResponse(f"/docs/{OLD}/guide/timeouts.html", 301)


async def _away(_: Request) -> RedirectResponse:
    return RedirectResponse("/pages/espresso-at-home", 302)


async def _live(request: Request) -> Response:
    page = f"<!doctype html><title>Live levels</title><div id='app'></div><script>{_SCRIPT}</script>"
    return _validated(request, page, "text/html")


async def _busy(request: Request) -> Response:
    """Tells the first client to retry later."""
    asked: set[str] = request.app.state.asked
    if request.url.path not in asked:
        asked.add(request.url.path)
        return PlainTextResponse("Too many requests.", 429, {"retry-after": str(_PATIENCE_SECONDS)})
    return _page(
        request, "Busy hours", "<p>Most people ask for the tides between six and eight in the morning.</p>", {}
    )


async def _trap(request: Request) -> Response:
    number = request.path_params["number"]
    body = f"<p>The tides of day {number}. The next day follows, and there is always a next day.</p>"
    return _page(request, f"Day {number}", body, {f"/docs/{OLD}/trap/{number + 1}": "Next day"})


async def _private(_: Request) -> PlainTextResponse:
    return PlainTextResponse("Closed by robots.txt: no crawler reads this.")


async def _repository(request: Request) -> Response:
    body = "<p>Tides reads the tables of a harbour, in the browser and on servers, and draws them as waves.</p>"
    return _page(
        request,
        "harbour/tides",
        body,
        {"/harbour/tides/issues": "Issues", "/harbour/tides/blob/main/docs/waves.html": "Drawing waves"},
    )


async def _repository_document(request: Request) -> Response:
    body = "<p>The function <code>tides.draw</code> draws the waves of a day, from one high water to the next.</p>"
    return _page(request, "Drawing waves", body, {})


@dataclass(frozen=True, slots=True)
class Document:
    """A page: its title, the names that it defines with their anchors, and its body as HTML."""

    title: str
    body: str
    names: tuple[str, ...] = ()


def _function(name: str, arguments: str, text: str) -> str:
    return f'<dl><dt class="sig" id="{name}">{name}({arguments})</dt><dd>{text}</dd></dl>'


def _option(names: str, text: str) -> str:
    return f"<dl><dt>{names}</dt><dd><p>{text}</p></dd></dl>"


_FORECAST = _function("heron.forecast", "name, days=7", "High waters of the coming days.")


def documents(version: str) -> Mapping[str, Document]:
    """The pages of a version by their paths below it. Versions differ in a number and in their newest names."""
    seconds = {OLD: 5, STABLE: 10, NEXT: 15}[version]
    return {**_start(version), **_guide(seconds), **_reference(version, seconds), **_help()}


def _start(version: str) -> Mapping[str, Document]:
    return {
        "": Document(
            f"Heron {version}",
            "<p>Heron reads tide tables and answers when the water is high. It runs on one machine, needs no "
            "account, "
            "and keeps what it has read in a single file.</p><h2 id='first-steps'>First steps</h2>"
            "<p>Install the package, name a harbour, and ask for the next high water.</p>"
            "<pre><code class='language-python'>import heron\n\nharbour = heron.open('Gull Harbour')\n"
            "print(harbour.next_high())</code></pre>",
        ),
        "install.html": Document(
            "Installation",
            "<p>Heron needs Python 3.9 or newer and about four megabytes of disk.</p><h2 "
            "id='from-a-package'>From a package"
            "</h2><p>The package carries the tables of two hundred harbours, so that it works without a network.</p>"
            f"<pre><code class='language-shell'>pip install heron=={version}</code></pre>"
            "<h2 id='behind-a-proxy'>Behind a proxy</h2><p>Set the variable HERON_PROXY to the address of the proxy. "
            "Without it the tables of further harbours cannot be fetched.</p>",
        ),
    }


def _guide(seconds: int) -> Mapping[str, Document]:
    return {
        "guide/timeouts.html": Document(
            "Timeouts and retries",
            f"<p>A harbour that does not answer is given up after {seconds} seconds. Two more attempts follow, "
            f"each after a "
            "longer pause, and then the last table that was read is used.</p><h2 id='give-up-sooner'>Give up "
            "sooner</h2>"
            "<p>Pass a number of seconds to <code>heron.open</code>. A smaller number suits programs that "
            "people wait "
            "for.</p><pre><code class='language-python'>harbour = heron.open('Gull Harbour', "
            "timeout=2.5)</code></pre>"
            "<h2 id='never-give-up'>Never give up</h2><p>The value <code>None</code> waits for as long as it "
            "takes.</p>",
        ),
    }


def _reference(version: str, seconds: int) -> Mapping[str, Document]:
    return {
        "api.html": Document(
            "API reference",
            "<p>Everything that programs use is in the module <code>heron</code>.</p><h2 "
            "id='functions'>Functions</h2>"
            + _function(
                "heron.open", "name, timeout=None", f"Find a harbour by its name and wait at most {seconds} seconds."
            )
            + _function(
                "heron.Harbour.next_high", "", "The time of the next high water, in the harbour's own time zone."
            )
            + _function(
                "heron.Harbour.levels", "start, end", "The water levels between two times, one every ten minutes."
            )
            + (_FORECAST if version != OLD else ""),
            (
                "heron.open",
                "heron.Harbour.next_high",
                "heron.Harbour.levels",
                *(("heron.forecast",) if version != OLD else ()),
            ),
        ),
        "cli.html": Document(
            "The command heron",
            "<p>The command prints tables for people, and JSON for programs.</p><h2 id='options'>Options</h2>"
            + _option("--json", "Print JSON, one object for each high water.")
            + _option("-d, --days=DAYS", "How many days to print. The default is one.")
            + _option(
                "--[no-]colour", "Whether to mark spring tides in colour. It is on when a terminal reads the output."
            ),
        ),
    }


def _help() -> Mapping[str, Document]:
    return {
        "faq.html": Document(
            "Questions and answers",
            "<h2 id='wrong-by-an-hour'>Why is every time wrong by an hour?</h2><p>The clock of the machine is "
            "set to summer "
            "time and the table is not. Set the time zone of the harbour, and the times agree again.</p>"
            "<h2 id='disk-full'>What happens when the disk is full?</h2><p>Heron stops writing, says so once, "
            "and goes on "
            "to answer from the tables that it has.</p>",
        ),
    }


def inventory(version: str) -> bytes:
    """An objects.inv of version 2, as Sphinx writes it (https://sphobjinv.readthedocs.io/en/stable/syntax.html)."""
    lines = [
        f"{name} py:function 1 {path}#$ -" for path, document in documents(version).items() for name in document.names
    ]
    head = f"# Sphinx inventory version 2\n# Project: Heron\n# Version: {version}\n"
    note = "# The remainder of this file is compressed using zlib.\n"
    return (head + note).encode() + zlib.compress("\n".join(lines).encode() + b"\n")


ROUTES: list[BaseRoute] = [
    Route("/docs/", _stable),
    Route("/docs/sitemap.xml", _sitemap),
    Route("/harbour/tides", _repository),
    Route("/harbour/tides/blob/main/docs/waves.html", _repository_document),
    Route(f"/docs/{OLD}/timeouts.html", _moved),
    Route(f"/docs/{OLD}/away.html", _away),
    Route(f"/docs/{OLD}/live.html", _live),
    Route(f"/docs/{OLD}/busy.html", _busy),
    Route(f"/docs/{OLD}/trap/{{number:int}}", _trap),
    Route(f"/docs/{OLD}/private/notes.html", _private),
    Route("/docs/{version}/objects.inv", _inventory),
    Route("/docs/{version}/llms.txt", _llms),
    Route("/docs/{version}/{path:path}", _document),
]
