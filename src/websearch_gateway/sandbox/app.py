"""The whole sandbox as one ASGI app: the vendors, the small web with the special addresses that crawlers meet, and
`/_sandbox`, which sets faults and reads the counters, with a page that does so for people.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from websearch_gateway.sandbox.board import TRANSPORT_KINDS, Board, Fault, kinds_of
from websearch_gateway.sandbox.documentation import ROUTES as DOCUMENTATION
from websearch_gateway.sandbox.documentation import sitemap_url
from websearch_gateway.sandbox.faults import Gate
from websearch_gateway.sandbox.keys import engines, environment
from websearch_gateway.sandbox.small_web import library, render
from websearch_gateway.sandbox.vendor import VendorRefusal, clock, json_object, origin
from websearch_gateway.sandbox.vendors import VENDORS


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _refused(_: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, VendorRefusal):
        raise refusal
    return refusal.response()


def create_app(board: Board | None = None, clock: Callable[[], datetime] = _utc_now) -> Starlette:
    """Every vendor under its name, the pages, and `/_sandbox`.

    The faults `reset`, `drip` and `wrong_length` need the connection itself, so they work only when `Sandbox` or
    `serve` runs the app.

    Args:
        board: holds the requested faults and the recorded calls; by default a new one, controlled only over HTTP.
        clock: gives the current time in UTC.
    """
    board = board or Board()
    vendors = [Mount(f"/{vendor.name}", routes=list(vendor.routes)) for vendor in VENDORS]
    app = Starlette(
        routes=[*control_routes(board, [vendor.name for vendor in VENDORS]), *vendors, *ROUTES],
        middleware=[Middleware(Gate, board=board, vendors=VENDORS)],
        exception_handlers={VendorRefusal: _refused},
    )
    app.state.clock = clock
    app.state.asked = set()  # the pages that have asked clients to wait
    return app


def control_routes(board: Board, vendors: Sequence[str]) -> list[BaseRoute]:
    """The routes that control `board`.

    `GET /_sandbox/` is a page for people, with the faults of the pages and of `vendors` as buttons.
    `POST /_sandbox/faults` takes `{"target", "fault", ...options}` and answers 204, or 400 with `{"error"}`.
    `DELETE /_sandbox/faults` clears them; `DELETE /_sandbox/calls` zeroes the counters.
    `GET /_sandbox/calls` answers `{PATH: {"calls": n, "cancelled": n}}`.
    """

    async def front(request: Request) -> HTMLResponse:
        return HTMLResponse(front_page(origin(request), vendors))

    async def add(request: Request) -> Response:
        options = await json_object(request, VendorRefusal(400, {"error": "Send a JSON object."}))
        try:
            board.add(Fault(kind=options.pop("fault"), **options))
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(status_code=204)

    async def clear_faults(_: Request) -> Response:
        board.clear_faults()
        return Response(status_code=204)

    async def count(_: Request) -> JSONResponse:
        calls = board.calls()
        total = Counter(call.path for call in calls)
        cancelled = Counter(call.path for call in calls if call.cancelled)
        return JSONResponse({path: {"calls": total[path], "cancelled": cancelled[path]} for path in sorted(total)})

    async def clear_calls(_: Request) -> Response:
        board.clear_calls()
        return Response(status_code=204)

    return [
        Route("/_sandbox/", front),
        Route("/_sandbox/faults", add, methods=["POST"]),
        Route("/_sandbox/faults", clear_faults, methods=["DELETE"]),
        Route("/_sandbox/calls", count, methods=["GET"]),
        Route("/_sandbox/calls", clear_calls, methods=["DELETE"]),
    ]


_STATUSES = {
    400: "the request is invalid",
    401: "the key is wrong",
    402: "the credit is spent",
    403: "the key lacks the permission",
    404: "not found",
    429: "too many requests",
    500: "an internal error",
    502: "a bad gateway",
    503: "overloaded",
    504: "a gateway timeout",
}
"""What the menu of each target offers, and what the status means."""

_DELAY_SECONDS = 5

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow: auto; padding: .75rem; border: 1px solid #8888; border-radius: .4rem; font-size: .85rem }
table { border-collapse: collapse } th { text-align: left; vertical-align: top; padding: .4rem 1rem .4rem 0 }
th { overflow-wrap: anywhere } td { padding: .2rem 0 } select { max-width: 14rem }
button, select { margin: .15rem; padding: .2rem .6rem; font: inherit; font-size: .85rem }
dt { font-weight: bold } dd { margin: 0 0 .4rem 1rem }
"""
_SCRIPT = """
const said = document.querySelector("output");
const tell = async (reply, done) => { said.textContent = reply.ok ? done : (await reply.json()).error; };
const set = async (fault, done) => tell(
  await fetch("faults", {method: "POST", body: JSON.stringify(fault)}), `From now on ${fault.target} ${done}.`);
for (const button of document.querySelectorAll("button[data-fault]")) button.onclick = () => {
  const {target, fault, seconds} = button.dataset;
  return set({target, fault, ...(seconds && {seconds: Number(seconds)})}, button.title);
};
for (const menu of document.querySelectorAll("select[data-target]")) menu.onchange = async () => {
  const status = Number(menu.value);
  menu.value = "";
  await set({target: menu.dataset.target, fault: "status", status}, `answers with HTTP ${status}`);
};
document.querySelector("#clear").onclick = async () =>
  tell(await fetch("faults", {method: "DELETE"}), "Everything works again.");
document.querySelector("#count").onclick = async () => {
  const calls = await (await fetch("calls")).json();
  document.querySelector("#calls").textContent = JSON.stringify(calls, null, 1);
};
"""


def front_page(url: str, vendors: Iterable[str]) -> str:
    """The page as HTML. It loads nothing.

    Args:
        url: the sandbox's address as its reader knows it.
        vendors: the names of the stand-ins.
    """
    settings = environment(url)
    server = {"command": "websearch-gateway", "args": ["start-mcp-server"], "env": settings}
    configuration = json.dumps({"mcpServers": {"websearch": server}}, indent=2)
    targets = (*sorted(vendors), "pages")
    rows = "".join(map(_row, targets))
    meanings = TRANSPORT_KINDS | {kind: text for target in targets for kind, text in kinds_of(target).items()}
    legend = "".join(f"<dt>{kind}</dt><dd>It {escape(text)}.</dd>" for kind, text in meanings.items())
    pages = "".join(f'<li><a href="{escape(page.path)}">{escape(page.title)}</a></li>' for page in library().values())
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sandbox</title>
<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>
<h1>Sandbox</h1><p>The outside world of websearch-gateway on one port: search vendors, answer engines and a small web.
Nothing here costs anything.</p>
<h2>Point an agent at it</h2><p>In a shell, before <code>websearch-gateway</code>:</p><pre>{escape(exports(url))}</pre>
<p>In the configuration of an MCP client:</p><pre>{escape(configuration)}</pre>
<h2>Break something</h2><p>A button breaks its target for every request until you clear all faults.
<button id="clear">Clear all faults</button></p><p><output aria-live="polite">Everything works.</output></p>
<table>{rows}</table><details><summary>What each button does</summary><dl>{legend}</dl></details>
<h2>Calls</h2><p><button id="count">Count the calls</button></p><pre id="calls">{{}}</pre>
<h2>Pages</h2><ul>{pages}</ul><script>{_SCRIPT}</script></body></html>"""


def exports(url: str) -> str:
    """The settings as lines of a shell; those of the other answer engines are comments."""
    lines = [f"export {name}={value}" for name, value in environment(url).items()]
    lines += ["# Other answer engines: each answers when the one before it fails. ANSWER_ENGINES changes their order."]
    lines += [f"# export {name}={value}" for one in engines(url).values() for name, value in one.items()]
    return "\n".join(lines)


def _row(target: str) -> str:
    codes = "".join(f'<option value="{code}">{code}: {text}</option>' for code, text in _STATUSES.items())
    menu = f'<select data-target="{target}" aria-label="status"><option value="">status …</option>{codes}</select>'
    kinds = sorted((TRANSPORT_KINDS | kinds_of(target)).items())
    buttons = "".join(_button(target, kind, text) for kind, text in kinds if kind != "status")  # which has the menu
    return f"<tr><th>{target}</th><td>{menu}{buttons}</td></tr>"


def _button(target: str, kind: str, text: str) -> str:
    late = f' data-seconds="{_DELAY_SECONDS}"' if kind == "delay" else ""
    return f'<button data-target="{target}" data-fault="{kind}" title="{escape(text)}"{late}>{kind}</button>'


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
