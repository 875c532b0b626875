"""The search engines that want no key.

A SearXNG instance that allows JSON (https://docs.searxng.org/dev/search_api.html); DuckDuckGo's HTML page, which has no
API: a form, results as links, and a bot page with HTTP 202 (page 2 and later need the `vqd` of page 1, and links go
through `/l/?uddg=` or straight to their target); Wikipedia's search with introductions
(https://www.mediawiki.org/wiki/API:Search), whose errors come with HTTP 200, and which refuses a caller without its own
User-Agent with a page.
"""

from __future__ import annotations

import hashlib
from html import escape
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.small_web import Match
from websearch_gateway.sandbox.vendor import DAYS, Vendor, VendorRefusal, found, parameters, whole, within_sites


def _searxng_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """`{"error"}`, or nothing but the status from its limiter and its refusal of a format."""
    return VendorRefusal(status, {"error": reason} if reason else None)


async def _searxng(request: Request) -> Response:
    asked = await parameters(request)
    shape, query, page = asked.get("format", "html"), asked.get("q", "").strip(), whole(asked.get("pageno"), 1)
    if shape not in ("html", "json"):
        raise _searxng_refusal(403)
    if not query:
        raise _searxng_refusal(400, "No query")
    safe, span = whole(asked.get("safesearch"), 0), asked.get("time_range", "")
    if page < 1 or safe not in (0, 1, 2) or (span and span[0] not in DAYS):
        raise _searxng_refusal(400, "Invalid value")
    language, _, region = asked.get("language", "all").partition("-")
    matches = found(
        request,
        query,
        days=DAYS[span[0]] if span else None,
        language=None if language in ("all", "auto") else language,
        region=region or None,
        news=asked.get("categories") == "news",
    )
    results = [
        {
            "url": match.url,
            "title": match.page.title,
            "content": match.snippet,
            "engine": "sandbox",
            "engines": ["sandbox"],
            "score": round(match.score, 3),
            "category": "news" if "news" in match.page.topics else "general",
            "publishedDate": match.published.isoformat(timespec="seconds") if match.published else None,
        }
        for match in matches[(page - 1) * 10 : page * 10]
    ]
    if shape == "html":
        links = "".join(f'<h3><a href="{result["url"]}">{escape(str(result["title"]))}</a></h3>' for result in results)
        return HTMLResponse(f"<!doctype html><title>SearXNG</title>{links}")
    others = dict.fromkeys(("answers", "corrections", "infoboxes", "suggestions", "unresponsive_engines"), ())
    return JSONResponse({"query": query, "number_of_results": len(matches), "results": results, **others})


SEARXNG = Vendor("searxng", [Route("/search", _searxng, methods=["GET", "POST"])], _searxng_refusal)

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


def _duckduckgo_row(match: Match, position: int) -> str:
    wrapped = f"//duckduckgo.com/l/?uddg={quote(match.url, safe='')}&rut={position:064x}"
    href = escape(wrapped if position % 2 == 0 else match.url)
    return f"""<div class="result results_links results_links_deep web-result"><div class="links_main result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{escape(match.page.title)}</a></h2>
<div class="result__extras"><a class="result__url" href="{href}">{escape(match.url.split("://", 1)[1])}</a></div>
<a class="result__snippet" href="{href}">{escape(match.snippet)}</a></div></div>"""


def _duckduckgo_page(query: str, matches: list[Match], start: int) -> str:
    after = start + (_LATER_PAGES if start else _FIRST_PAGE)
    results = "\n".join(_duckduckgo_row(match, place) for place, match in enumerate(matches[start:after], start=start))
    body = _AD + results if results else '<div class="no-results">No results found.</div>'
    more = f"""<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next">
<input type="hidden" name="q" value="{escape(query)}"><input type="hidden" name="s" value="{after}">
<input type="hidden" name="nextParams" value=""><input type="hidden" name="v" value="l">
<input type="hidden" name="o" value="json"><input type="hidden" name="dc" value="{after + 1}">
<input type="hidden" name="api" value="d.js"><input type="hidden" name="vqd" value="{_vqd(query)}"></form></div>"""
    return f"""<!doctype html><html><head><title>{escape(query)} at DuckDuckGo</title></head>
<body class="body--html"><div id="links" class="results">{body}{more if len(matches) > after else ""}</div>
</body></html>"""


async def _duckduckgo(request: Request) -> HTMLResponse:
    asked = await parameters(request)
    query, start = asked.get("q", "").strip(), whole(asked.get("s"), 0)
    later_without_token = bool(start) and asked.get("vqd") != _vqd(query)
    if start < 0 or len(query) > _LONGEST_QUERY or later_without_token:
        return HTMLResponse(_BOT_PAGE, 202)
    if not query:
        return HTMLResponse("<!doctype html><title>DuckDuckGo</title><form action='/html/' method='post'></form>")
    country = asked.get("kl", "wt-wt").split("-")[0]
    text, within = within_sites(request, query)
    region = None if country == "wt" else country
    matches = found(request, text, days=DAYS.get(asked.get("df", "")), within=within, region=region)
    return HTMLResponse(_duckduckgo_page(query, matches, start))


DUCKDUCKGO = Vendor(
    "duckduckgo",
    [Route("/html/", _duckduckgo, methods=["GET", "POST"])],
    lambda status, reason=None: VendorRefusal(status, None),  # it has no error format
    bot_page=(202, _BOT_PAGE),
)

_MOST, _MOST_INTRODUCTIONS = 500, 20
_GENERIC_AGENTS = ("python", "curl", "mozilla", "java", "go-http")


def _wikipedia_refusal(status: int, reason: str | None = None) -> VendorRefusal:
    """The error body of the API where the reason is one of its codes, else a page."""
    return VendorRefusal(status, {"error": {"code": reason, "info": "Sandbox refusal."}} if reason else None)


async def _wikipedia(request: Request) -> JSONResponse:
    asked, language = request.query_params, request.path_params["language"]
    agent = request.headers.get("user-agent", "").lower()
    if not agent or agent.startswith(_GENERIC_AGENTS):
        raise _wikipedia_refusal(403)
    if (asked.get("action"), asked.get("generator"), asked.get("formatversion")) != ("query", "search", "2"):
        raise _wikipedia_refusal(200, "badvalue")
    limit, offset = whole(asked.get("gsrlimit"), 10), whole(asked.get("gsroffset"), 0)
    if not 1 <= limit <= _MOST or offset < 0:
        raise _wikipedia_refusal(200, "badinteger")
    if not (words := asked.get("gsrsearch", "").strip()):
        raise _wikipedia_refusal(200, "missingparam")
    matches = found(request, words, language=language)
    shown = matches[offset : offset + min(limit, _MOST_INTRODUCTIONS)]
    rows = [
        {
            "pageid": 1_000 + place,
            "ns": 0,
            "title": match.page.title,
            "index": place,
            "extract": match.page.text.partition("\n\n")[0],
            "fullurl": match.url,
            "pagelanguage": language,
        }
        for place, match in enumerate(shown, start=offset + 1)
    ]
    # Like the real API: ordered by id, not by rank.
    reply: dict[str, object] = {"batchcomplete": True} | ({"query": {"pages": rows[::-1]}} if rows else {})
    if len(matches) > offset + limit:
        reply["continue"] = {"gsroffset": offset + limit, "continue": "gsroffset||"}
    return JSONResponse(reply)


WIKIPEDIA = Vendor("wikipedia", [Route("/{language}/w/api.php", _wikipedia)], _wikipedia_refusal)
