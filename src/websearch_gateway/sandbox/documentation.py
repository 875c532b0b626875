"""The documentation of Heron, a library that does not exist, in three versions below `/docs/`.

`2.0` is a well-kept site; `3.0b1` has an llms.txt and Markdown copies; `1.0` has everything that makes crawling hard:
endless addresses, a page built by scripts, a page that asks clients to wait, and redirects out of the site. Validators
make refreshing an unchanged page cheap. And its packages in PyPI (https://docs.pypi.org/api/json/) and npm
(https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape, unescape
from importlib.resources import files
from string import Template
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.vendors.vendor import Vendor, VendorRefusal, origin

STABLE, NEXT, OLD = "2.0", "3.0b1", "1.0"

_SECONDS = {STABLE: 10, NEXT: 15, OLD: 5}
_DEFINED = re.compile(r'<dt class="sig" id="([^"]+)"')
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
    if version not in _SECONDS:
        raise HTTPException(404)
    return version


def _page(request: Request, title: str, body: str, links: dict[str, str]) -> Response:
    menu = "".join(
        f'<li><a href="{escape(target)}">{escape(name)}</a></li>' for target, name in links.items()
    )
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
    links = {root + name: title for name, (title, _) in pages.items()}
    if version == OLD:
        links |= {
            root + name: name
            for name in ("live.html", "busy.html", "trap/1", "timeouts.html", "away.html")
        }
        links[f"{root}private/notes.html"] = "notes"
    return _page(request, *pages[path], links)


def _markdown(request: Request, path: str) -> Response:
    """The Markdown copy of a page, with headings and paragraphs only."""
    title, body = documents(NEXT).get(path.removesuffix(".md").removesuffix("index.html"), ("", ""))
    if not title:
        raise HTTPException(404)
    text = re.sub(r"<h2[^>]*>", "\n\n## ", body)
    text = re.sub(r"<dt[^>]*>(.*?)</dt>", r"\n\n**\1**\n\n", text)
    text = re.sub(
        r"<pre><code class='language-(\w+)'>(.*?)</code></pre>",
        r"\n\n```\1\n\2\n```\n\n",
        text,
        flags=re.DOTALL,
    )
    text = re.sub(r"</?code>", "`", text.replace("</p>", "\n\n").replace("</h2>", "\n\n"))
    text = unescape(re.sub(r"</?\w+[^>]*>", "", text))
    return _validated(request, f"# {title}\n\n{text.strip()}\n", "text/markdown")


async def _llms(request: Request) -> Response:
    if _version(request) != NEXT:
        raise HTTPException(404)
    entries = "".join(
        f"- [{title}]({path or 'index.html'}.md)\n" for path, (title, _) in documents(NEXT).items()
    )
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


def _redirect(path: str, target: str, status: int) -> Route:
    async def answer(_: Request) -> RedirectResponse:
        return RedirectResponse(target, status)

    return Route(path, answer)


async def _live(request: Request) -> Response:
    page = (
        f"<!doctype html><title>Live levels</title><div id='app'></div><script>{_SCRIPT}</script>"
    )
    return _validated(request, page, "text/html")


async def _busy(request: Request) -> Response:
    asked: set[str] = request.app.state.asked
    if request.url.path not in asked:
        asked.add(request.url.path)
        return PlainTextResponse("Too many requests.", 429, {"retry-after": str(_PATIENCE_SECONDS)})
    return _page(
        request,
        "Busy hours",
        "<p>Most people ask for the tides between six and eight in the morning.</p>",
        {},
    )


async def _trap(request: Request) -> Response:
    number = request.path_params["number"]
    body = (
        f"<p>The tides of day {number}. The next day follows, and there is always a next day.</p>"
    )
    return _page(request, f"Day {number}", body, {f"/docs/{OLD}/trap/{number + 1}": "Next day"})


def _written(path: str, title: str, body: str, links: dict[str, str]) -> Route:
    async def answer(request: Request) -> Response:
        return _page(request, title, body, links)

    return Route(path, answer)


@cache
def documents(version: str) -> Mapping[str, tuple[str, str]]:
    """The title and body (HTML) of each page of a version, by its path below it.

    In `heron.txt`, `=== PATH | TITLE` begins a page. Versions differ in a number and in the lines marked as `@new`.
    """
    text = Template(files(__package__).joinpath("heron.txt").read_text("utf-8"))
    found = {}
    for page in text.substitute(version=version, seconds=_SECONDS[version]).split("=== ")[1:]:
        head, _, body = page.partition("\n")
        path, _, title = head.partition(" | ")
        body = re.sub(r"^@new .*\n" if version == OLD else r"^@new ", "", body, flags=re.MULTILINE)
        found[path.removesuffix("index.html")] = title, body.strip()
    return found


def inventory(version: str) -> bytes:
    """An objects.inv of version 2, as Sphinx writes it (https://sphobjinv.readthedocs.io/en/stable/syntax.html)."""
    pages = documents(version).items()
    lines = [
        f"{name} py:function 1 {path}#$ -"
        for path, (_, body) in pages
        for name in _DEFINED.findall(body)
    ]
    head = f"# Sphinx inventory version 2\n# Project: Heron\n# Version: {version}\n"
    note = "# The remainder of this file is compressed using zlib.\n"
    return (head + note).encode() + zlib.compress("\n".join(lines).encode() + b"\n")


ROUTES: list[BaseRoute] = [
    _redirect("/docs/", f"/docs/{STABLE}/", 302),
    Route("/docs/sitemap.xml", _sitemap),
    _written(
        "/harbour/tides",
        "harbour/tides",
        "<p>Tides reads the tables of a harbour, in the browser and on servers, and draws them as waves.</p>",
        {
            "/harbour/tides/issues": "Issues",
            "/harbour/tides/blob/main/docs/waves.html": "Drawing waves",
        },
    ),
    _written(
        "/harbour/tides/blob/main/docs/waves.html",
        "Drawing waves",
        "<p>The function <code>tides.draw</code> draws the waves of a day, from one high water to the next.</p>",
        {},
    ),
    _redirect(f"/docs/{OLD}/timeouts.html", f"/docs/{OLD}/guide/timeouts.html", 301),
    _redirect(f"/docs/{OLD}/away.html", "/pages/espresso-at-home", 302),
    Route(f"/docs/{OLD}/live.html", _live),
    Route(f"/docs/{OLD}/busy.html", _busy),
    Route(f"/docs/{OLD}/trap/{{number:int}}", _trap),
    _written(
        f"/docs/{OLD}/private/notes.html",
        "Notes",
        "<p>Closed by robots.txt: no crawler reads this.</p>",
        {},
    ),
    Route("/docs/{version}/objects.inv", _inventory),
    Route("/docs/{version}/llms.txt", _llms),
    Route("/docs/{version}/{path:path}", _document),
]

_PYPI: dict[str, dict[str, Any]] = {
    "heron": {
        "newest": "2.0",
        "versions": ("1.0", "2.0", "3.0b1"),
        "links": {"Documentation": "/docs/"},
    },
    "heron-tools": {
        "newest": "0.4",
        "versions": ("0.4",),
        "links": {"Homepage": "/pages/", "Docs": "/docs/2.0/"},
    },
    "gull": {
        "newest": "1.1",
        "versions": ("1.1",),
        "links": {"Docs": "/docs/2.0/"},
        "yanked": "breaks all harbours",
    },
    "tern": {"newest": "0.1", "versions": ("0.1",), "links": {}},
}
_NPM: dict[str, dict[str, Any]] = {
    "heron": {
        "newest": "3.0.0-beta.1",
        "versions": ("2.0.0", "3.0.0-beta.1"),
        "homepage": "/docs/{short}/",
    },
    "@harbour/tides": {
        "newest": "1.2.0",
        "versions": ("1.2.0",),
        "homepage": "/harbour/tides#readme",
    },
    "tern": {"newest": "0.1.0", "versions": ("0.1.0",)},
}


def _refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """PyPI's error body; npm's has another name for the message."""
    return VendorRefusal(status, {"message": reason or "Not Found"})


async def _pypi(request: Request) -> Response:
    asked, version = request.path_params["name"], request.path_params.get("version")
    name = asked.lower().replace("_", "-").replace(".", "-")
    package = _PYPI.get(name)
    if package is None or (version and version not in package["versions"]):
        raise _refusal(404)
    if name != asked:
        return RedirectResponse(f"/pypi/pypi/{name}{f'/{version}' if version else ''}/json", 301)
    reason = package.get("yanked")
    info = {
        "name": name,
        "version": version or package["newest"],
        "docs_url": None,
        "home_page": None,
        "project_urls": {label: origin(request) + path for label, path in package["links"].items()}
        or None,
        "yanked": reason is not None,
        "yanked_reason": reason,
    }
    return JSONResponse({"info": info, "last_serial": 1, "urls": [], "vulnerabilities": []})


async def _npm(request: Request) -> Response:
    name, _, version = request.path_params["place"].rpartition("/")
    package = _NPM.get(name, {"versions": ()})
    version = package["newest"] if version == "latest" and name in _NPM else version
    if version not in package["versions"]:
        return JSONResponse({"error": "Not found"}, 404)
    manifest = {"name": name, "version": version, "description": "Reads tide tables."}
    if home := package.get("homepage"):
        code = {"type": "git", "url": f"git+{origin(request)}/{name.removeprefix('@')}.git"}
        short = "3.0b1" if "beta" in version else "2.0"
        manifest |= {"homepage": origin(request) + home.format(short=short), "repository": code}
    return JSONResponse(manifest)


PYPI = Vendor(
    "pypi",
    [Route("/pypi/{name}/json", _pypi), Route("/pypi/{name}/{version}/json", _pypi)],
    _refusal,
)
NPM = Vendor("npm", [Route("/{place:path}", _npm)], _refusal)
