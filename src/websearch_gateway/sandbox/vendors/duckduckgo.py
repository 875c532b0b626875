"""DuckDuckGo's HTML page, which has no API: a form, results as links, and a bot page with HTTP 202.

Page 2 and later need the `vqd` of page 1. Links go through `/l/?uddg=` or straight to their target.
"""

from __future__ import annotations

import hashlib
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match
from websearch_gateway.sandbox.vendors.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    parameters,
    search_pages,
    whole,
    within_sites,
)

_FIRST_PAGE, _LATER_PAGES, _LONGEST_QUERY = 10, 15, 499
_BOT_PAGE = """<!doctype html><html><head><title>DuckDuckGo</title></head><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html" method="POST">
<div class="anomaly-modal__mask"><div class="anomaly-modal__modal" data-testid="anomaly-modal">
<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
<div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a
human.</div></div></div></form></body></html>"""
_AD = """<div class="result results_links results_links_deep result--ad"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a"
href="https://duckduckgo.com/y.js?ad_domain=ads.invalid&amp;ad_provider=sandbox">Sponsored: buy it now</a></h2>
<a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=ads.invalid">An advertisement.</a></div></div>"""


def _vqd(query: str) -> str:
    return f"4-{int.from_bytes(hashlib.blake2b(query.encode(), digest_size=16).digest()):039d}"


def _row(match: Match, position: int) -> str:
    wrapped = f"//duckduckgo.com/l/?uddg={quote(match.url, safe='')}&rut={position:064x}"
    href = escape(wrapped if position % 2 == 0 else match.url)
    return f"""<div class="result results_links results_links_deep web-result"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{escape(match.page.title)}</a></h2>
<div class="result__extras"><a class="result__url" href="{href}">{escape(match.url.split("://", 1)[1])}</a></div>
<a class="result__snippet" href="{href}">{escape(match.snippet)}</a></div></div>"""


def _page(query: str, matches: list[Match], start: int) -> str:
    after = start + (_LATER_PAGES if start else _FIRST_PAGE)
    results = "\n".join(
        _row(match, place) for place, match in enumerate(matches[start:after], start=start)
    )
    body = _AD + results if results else '<div class="no-results">No results found.</div>'
    more = f"""<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next">
<input type="hidden" name="q" value="{escape(query)}"><input type="hidden" name="s" value="{after}">
<input type="hidden" name="nextParams" value=""><input type="hidden" name="v" value="l">
<input type="hidden" name="o" value="json"><input type="hidden" name="dc" value="{after + 1}">
<input type="hidden" name="api" value="d.js"><input type="hidden" name="vqd" value="{_vqd(query)}"></form></div>"""
    return f"""<!doctype html><html><head><title>{escape(query)} at DuckDuckGo</title></head>
<body class="body--html"><div id="links" class="results">{body}{more if len(matches) > after else ""}</div>
</body></html>"""


async def _search(request: Request) -> HTMLResponse:
    fields = await parameters(request)
    query, start = fields.get("q", "").strip(), whole(fields.get("s"), 0)
    later_without_token = bool(start) and fields.get("vqd") != _vqd(query)
    if start < 0 or len(query) > _LONGEST_QUERY or later_without_token:
        return HTMLResponse(_BOT_PAGE, 202)
    if not query:
        return HTMLResponse(
            "<!doctype html><title>DuckDuckGo</title><form action='/html/' method='post'></form>"
        )
    country = fields.get("kl", "wt-wt").split("-")[0]
    text, within = within_sites(request, query)
    region = None if country == "wt" else country
    matches = search_pages(
        request, text, days=DAYS.get(fields.get("df", "")), within=within, region=region
    )
    return HTMLResponse(_page(query, matches, start))


DUCKDUCKGO = Vendor(
    "duckduckgo",
    [Route("/html/", _search, methods=["GET", "POST"])],
    lambda status, reason=None: VendorRefusal(status, None),  # it has no error format
    bot_page=(202, _BOT_PAGE),
)
