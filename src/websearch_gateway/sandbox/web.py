"""The small web: its pages, its home page, and the special addresses that every crawler meets."""

from __future__ import annotations

import json
from html import escape

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from websearch_gateway.sandbox.documentation import ROUTES as DOCUMENTATION
from websearch_gateway.sandbox.documentation import sitemap_url
from websearch_gateway.sandbox.small_web import library, render
from websearch_gateway.sandbox.vendor import clock, origin

_TIDES = {"station": "Gull Harbour", "unit": "m", "high": [["04:12", 3.9], ["16:31", 4.1]], "low": [["10:20", 0.7]]}
_NOTES = "Field notes, 12 May.\n\nTwo curlews on the north bank; the hide is closed until June.\n"
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c6360000000020001488aa0a20000000049454e44ae426082"
)
_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 80]/Contents 4 0 R>>endobj
4 0 obj<</Length 0>>stream

endstream endobj
trailer<</Root 1 0 R>>
%%EOF
"""
_LONG_REPEATS = 40


async def _home(_: Request) -> HTMLResponse:
    entries = "".join(f'<li><a href="{page.path}">{escape(page.title)}</a></li>' for page in library().values())
    return HTMLResponse(f"<!doctype html><title>All pages</title><h1>All pages</h1><ul>{entries}</ul>")


async def _page(request: Request) -> HTMLResponse:
    page = library().get(request.path_params["slug"])
    if page is None:
        raise HTTPException(404)
    return HTMLResponse(render(page, clock(request)), headers={"cache-control": "max-age=60"})


async def _sitemap(request: Request) -> Response:
    places = "".join(f"<url><loc>{origin(request)}{page.path}</loc></url>" for page in library().values())
    return Response(
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>',
        media_type="application/xml",
    )


async def _robots(request: Request) -> PlainTextResponse:
    return PlainTextResponse(
        "User-agent: *\nDisallow: /pages/special/forbidden\nDisallow: /docs/1.0/private/\n"
        f"Sitemap: {origin(request)}/sitemap.xml\nSitemap: {sitemap_url(request)}\n"
    )


async def _gone(_: Request) -> HTMLResponse:
    return HTMLResponse("<!doctype html><title>Not found</title><h1>404</h1><p>There is no such page.</p>", 404)


async def _forbidden(_: Request) -> HTMLResponse:
    return HTMLResponse("<!doctype html><title>Forbidden</title><h1>403</h1><p>Members only.</p>", 403)


async def _moved(_: Request) -> RedirectResponse:
    return RedirectResponse("/pages/espresso-at-home", 301)


async def _moved_twice(_: Request) -> RedirectResponse:
    return RedirectResponse("/pages/special/moved", 302)


async def _long(_: Request) -> HTMLResponse:
    chapters = "".join(
        f"<h2>{number}. {escape(page.title)}</h2>{page.html}"
        for number, page in enumerate([*library().values()] * _LONG_REPEATS, start=1)
    )
    return HTMLResponse(f"<!doctype html><html lang='en'><title>Everything</title><h1>Everything</h1>{chapters}</html>")


async def _json(_: Request) -> Response:
    return Response(json.dumps(_TIDES), media_type="application/json")


async def _text(_: Request) -> PlainTextResponse:
    return PlainTextResponse(_NOTES)


async def _image(_: Request) -> Response:
    return Response(_PIXEL, media_type="image/png")


async def _pdf(_: Request) -> Response:
    return Response(_PDF, media_type="application/pdf")


async def _empty(_: Request) -> HTMLResponse:
    return HTMLResponse("")


ROUTES: list[BaseRoute] = [
    Route("/", _home),
    Route("/pages", _home),
    Route("/robots.txt", _robots),
    Route("/sitemap.xml", _sitemap),
    Route("/pages/special/not-found", _gone),
    Route("/pages/special/forbidden", _forbidden),
    Route("/pages/special/moved", _moved),
    Route("/pages/special/moved-twice", _moved_twice),
    Route("/pages/special/long", _long),
    Route("/pages/special/tides.json", _json),
    Route("/pages/special/notes.txt", _text),
    Route("/pages/special/pixel.png", _image),
    Route("/pages/special/leaflet.pdf", _pdf),
    Route("/pages/special/empty", _empty),
    Route("/pages/{slug}", _page),
    *DOCUMENTATION,
]
