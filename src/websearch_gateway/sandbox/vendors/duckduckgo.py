"""DuckDuckGo's HTML page, which has no key and no API: a form, results as links, and a bot page with HTTP 202.

Page 2 and later need the `vqd` of page 1. Links go through `/l/?uddg=` or straight to their target.
"""

from __future__ import annotations

import hashlib
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match, search
from websearch_gateway.sandbox.vendor import (
    DAYS,
    Vendor,
    VendorRefusal,
    clock,
    days_ago,
    origin,
    parameters,
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


def refusal(status: int, _: str | None = None) -> VendorRefusal:
    """DuckDuckGo has no error format; its refusals are bare statuses."""
    return VendorRefusal(status, None)


def _vqd(query: str) -> str:
    return f"4-{int.from_bytes(hashlib.blake2b(query.encode(), digest_size=16).digest()):039d}"


def _result(request: Request, match: Match, position: int) -> str:
    target = origin(request) + match.page.path
    wrapped = f"//duckduckgo.com/l/?uddg={quote(target, safe='')}&rut={position:064x}"
    href = escape(wrapped if position % 2 == 0 else target)
    return f"""<div class="result results_links results_links_deep web-result"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{escape(match.page.title)}</a></h2>
<div class="result__extras"><a class="result__url" href="{href}">{escape(target.split("://", 1)[1])}</a></div>
<a class="result__snippet" href="{href}">{escape(match.snippet)}</a></div></div>"""


def _page(request: Request, query: str, matches: list[Match], start: int, size: int) -> str:
    shown = matches[start : start + size]
    results = "\n".join(_result(request, match, start + position) for position, match in enumerate(shown))
    body = _AD + results if shown else '<div class="no-results">No results found.</div>'
    after = start + size
    more = f"""<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next">
<input type="hidden" name="q" value="{escape(query)}"><input type="hidden" name="s" value="{after}">
<input type="hidden" name="nextParams" value=""><input type="hidden" name="v" value="l">
<input type="hidden" name="o" value="json"><input type="hidden" name="dc" value="{after + 1}">
<input type="hidden" name="api" value="d.js"><input type="hidden" name="vqd" value="{_vqd(query)}"></form></div>"""
    return f"""<!doctype html><html><head><title>{escape(query)} at DuckDuckGo</title></head>
<body class="body--html"><div id="links" class="results">{body}{more if len(matches) > after else ""}</div>
</body></html>"""


async def _html(request: Request) -> HTMLResponse:
    asked = await parameters(request)
    query, start = asked.get("q", "").strip(), whole(asked.get("s"), 0)
    later_without_token = bool(start) and asked.get("vqd") != _vqd(query)
    if start is None or start < 0 or len(query) > _LONGEST_QUERY or later_without_token:
        return HTMLResponse(_BOT_PAGE, 202)
    if not query:
        return HTMLResponse("<!doctype html><title>DuckDuckGo</title><form action='/html/' method='post'></form>")
    since = days_ago(request, DAYS[asked["df"]]) if asked.get("df") in DAYS else None
    country = asked.get("kl", "wt-wt").split("-")[0]
    text, within = within_sites(request, query)
    region = None if country == "wt" else country
    matches = search(text, clock(request), since=since, region=region, allow=lambda _: within)
    return HTMLResponse(_page(request, query, matches, start, _LATER_PAGES if start else _FIRST_PAGE))


DUCKDUCKGO = Vendor("duckduckgo", [Route("/html/", _html, methods=["GET", "POST"])], refusal, bot_page=(202, _BOT_PAGE))
