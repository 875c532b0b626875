"""The whole sandbox as one ASGI app: the vendors, the small web with the special addresses that crawlers meet, and
`/_sandbox`, which sets faults and reads the counters.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.sandbox.documentation import NPM, PYPI, sitemap_url
from websearch_gateway.sandbox.documentation import ROUTES as DOCUMENTATION
from websearch_gateway.sandbox.server import Board, Call, Fault
from websearch_gateway.sandbox.small_web import library, render
from websearch_gateway.sandbox.vendors.vendor import (
    Vendor,
    VendorRefusal,
    clock,
    every_vendor,
    json_object,
    origin,
)

VENDORS = (*every_vendor(), PYPI, NPM)


def _refused(_: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, VendorRefusal):
        raise refusal
    return refusal.response()


def create_app(
    board: Board | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Starlette:
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
        routes=[*control_routes(board), *vendors, *ROUTES],
        middleware=[Middleware(Gate, board=board, vendors=VENDORS)],
        exception_handlers={VendorRefusal: _refused},
    )
    app.state.clock = clock
    app.state.asked = set()  # the pages that have asked clients to wait
    return app


def control_routes(board: Board) -> list[BaseRoute]:
    """The routes that control `board`.

    `POST /_sandbox/faults` takes `{"target", "fault", ...options}` and answers 204, or 400 with `{"error"}`.
    `DELETE /_sandbox/faults` clears them; `DELETE /_sandbox/calls` zeroes the counters.
    `GET /_sandbox/calls` answers `{PATH: {"calls": n, "cancelled": n}}`.
    """

    async def add(request: Request) -> Response:
        options = await json_object(request, VendorRefusal(400, {"error": "Send a JSON object."}))
        try:
            board.fault(kind=options.pop("fault"), **options)
        except (KeyError, TypeError, ValueError) as error:
            return JSONResponse({"error": str(error)}, 400)
        return Response(status_code=204)

    async def clear(request: Request) -> Response:
        (board.clear_faults if request.url.path.endswith("faults") else board.clear_calls)()
        return Response(status_code=204)

    async def count(_: Request) -> JSONResponse:
        calls = board.seen()
        total = Counter(call.path for call in calls)
        cancelled = Counter(call.path for call in calls if call.cancelled)
        return JSONResponse(
            {path: {"calls": total[path], "cancelled": cancelled[path]} for path in sorted(total)}
        )

    return [
        Route("/_sandbox/faults", add, methods=["POST"]),
        Route("/_sandbox/faults", clear, methods=["DELETE"]),
        Route("/_sandbox/calls", count, methods=["GET"]),
        Route("/_sandbox/calls", clear, methods=["DELETE"]),
    ]


_TIDES = {
    "station": "Gull Harbour",
    "unit": "m",
    "high": [["04:12", 3.9], ["16:31", 4.1]],
    "low": [["10:20", 0.7]],
}
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
"""How often the page of faults that is too long holds the whole library."""

_SPECIAL: dict[str, Response] = {
    "not-found": HTMLResponse(
        "<!doctype html><title>Not found</title><h1>404</h1><p>There is no such page.</p>", 404
    ),
    "forbidden": HTMLResponse(
        "<!doctype html><title>Forbidden</title><h1>403</h1><p>Members only.</p>", 403
    ),
    "moved": RedirectResponse("/pages/espresso-at-home", 301),
    "moved-twice": RedirectResponse("/pages/special/moved", 302),
    "tides.json": Response(json.dumps(_TIDES), media_type="application/json"),
    "notes.txt": PlainTextResponse(_NOTES),
    "pixel.png": Response(_PIXEL, media_type="image/png"),
    "leaflet.pdf": Response(_PDF, media_type="application/pdf"),
    "empty": HTMLResponse(""),
}
"""What crawlers meet, by its name below `/pages/special`."""


async def _special(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "long":
        chapters = "".join(
            f"<h2>{number}. {escape(page.title)}</h2>{page.html}"
            for number, page in enumerate([*library().values()] * _LONG_REPEATS, start=1)
        )
        return HTMLResponse(
            f"<!doctype html><html lang='en'><title>Everything</title><h1>Everything</h1>{chapters}</html>"
        )
    if name not in _SPECIAL:
        raise HTTPException(404)
    return _SPECIAL[name]


async def _home(_: Request) -> HTMLResponse:
    entries = "".join(
        f'<li><a href="{page.path}">{escape(page.title)}</a></li>' for page in library().values()
    )
    return HTMLResponse(
        f"<!doctype html><title>All pages</title><h1>All pages</h1><ul>{entries}</ul>"
    )


async def _page(request: Request) -> HTMLResponse:
    page = library().get(request.path_params["slug"])
    if page is None:
        raise HTTPException(404)
    return HTMLResponse(render(page, clock(request)), headers={"cache-control": "max-age=60"})


async def _sitemap(request: Request) -> Response:
    places = "".join(
        f"<url><loc>{origin(request)}{page.path}</loc></url>" for page in library().values()
    )
    return Response(
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>',
        media_type="application/xml",
    )


async def _robots(request: Request) -> PlainTextResponse:
    return PlainTextResponse(
        "User-agent: *\nDisallow: /pages/special/forbidden\nDisallow: /docs/1.0/private/\n"
        f"Sitemap: {origin(request)}/sitemap.xml\nSitemap: {sitemap_url(request)}\n"
    )


ROUTES: list[BaseRoute] = [
    Route("/", _home),
    Route("/pages", _home),
    Route("/robots.txt", _robots),
    Route("/sitemap.xml", _sitemap),
    Route("/pages/special/{name}", _special),
    Route("/pages/{slug}", _page),
    *DOCUMENTATION,
]


async def _whole_body(receive: Receive) -> bytes | None:
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += bytes(message.get("body", b""))
        if not message.get("more_body", False):
            return body


class Gate:
    """ASGI middleware around the whole sandbox; `/_sandbox` passes unchanged."""

    def __init__(self, app: ASGIApp, board: Board, vendors: Iterable[Vendor]) -> None:
        self._app = app
        self._board = board
        self._vendors = {vendor.name: vendor for vendor in vendors}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        path = str(scope.get("path", "")).removeprefix("/")
        if scope["type"] != "http" or path.startswith("_sandbox/"):
            await self._app(scope, receive, send)
            return
        body = await _whole_body(receive)
        if body is None:
            return
        names = frozenset(name.decode("latin-1") for name, _ in scope["headers"])
        call = Call(scope["method"], path, scope["query_string"].decode("latin-1"), body, names)
        await self._watched(scope, receive, send, call, self._board.record(call))

    async def _watched(
        self, scope: Scope, receive: Receive, send: Send, call: Call, fault: Fault | None
    ) -> None:
        complete = replayed = False

        async def replay() -> Message:
            nonlocal replayed
            if replayed:
                await asyncio.Event().wait()  # the gate itself watches for a disconnect
            replayed = True
            return {"type": "http.request", "body": call.body, "more_body": False}

        async def noting(message: Message) -> None:
            nonlocal complete
            complete = complete or (
                message["type"] == "http.response.body" and not message.get("more_body", False)
            )
            await send(message)

        work = asyncio.ensure_future(self._serve(scope, replay, noting, call, fault))
        # The body is read, so this can only be the end of the connection.
        gone = asyncio.ensure_future(receive())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done() and not work.done() and not complete:
                self._board.mark_cancelled(call)
                work.cancel()
            await asyncio.wait({work})
            if not work.cancelled():
                work.result()
            if not complete and not call.cancelled:
                await gone  # a fault has closed the connection itself
        finally:
            work.cancel()
            gone.cancel()

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, call: Call, fault: Fault | None
    ) -> None:
        scope.setdefault("state", {})["fault"] = fault
        if fault is None:
            await self._app(scope, receive, send)
            return
        request = FaultyRequest(
            fault, self._vendors.get(call.path.split("/")[0]), self._app, scope, receive, send
        )
        if make := RESPONSES.get(fault.kind):
            await make(request)(scope, receive, send)
        else:
            await FAULTS.get(fault.kind, _as_usual)(request)  # the vendor knows its own faults


_BOMB_BLOCK = 1 << 20
_BOMB_BLOCKS = 4096
# A query in JSON, or in a form: a value of `q`, `query` or, of Wikipedia, `gsrsearch`.
_QUERY = re.compile(
    rb'("q(?:uery)?":\s*")(?:[^"\\]|\\.)*|((?<![^&])(?:q(?:uery)?|gsrsearch)=)[^&]*'
)
_OTHER_QUERY = rb"\1\2harbour,ferry,library,fares"
_NONSENSE = b"\x00\xff<<{]]]} \xc3\x28 this is neither JSON nor HTML "


@dataclass(frozen=True, slots=True)
class FaultyRequest:
    """A request with a fault: the request, the app that would serve it, and the means to reply."""

    fault: Fault
    vendor: Vendor | None
    app: ASGIApp
    scope: Scope
    receive: Receive
    send: Send

    @property
    def transport(self) -> asyncio.Transport:
        """The connection below HTTP."""
        transport: asyncio.Transport = self.scope["state"]["transport"]
        return transport


def _status(request: FaultyRequest) -> Response:
    fault, vendor = request.fault, request.vendor
    refusal = (
        vendor.refusal(fault.status, fault.reason) if vendor else VendorRefusal(fault.status, None)
    )
    response = refusal.response()
    if fault.retry_after is not None:
        response.headers["retry-after"] = f"{fault.retry_after:g}"
    return response


def _bot(request: FaultyRequest) -> Response:
    status, page = (
        request.vendor.bot_page if request.vendor else (403, "<title>Just a moment...</title>")
    )
    return HTMLResponse(page, status)


RESPONSES: dict[str, Callable[[FaultyRequest], Response]] = {
    "status": _status,
    "bot": _bot,
    "garbage": lambda _: Response(_NONSENSE, media_type="application/json"),
    "redirect_private": lambda request: RedirectResponse(request.fault.location, 302),
    "redirect_loop": lambda request: RedirectResponse(request.scope["path"], 302),
    # A charset that takes Python seconds to decode.
    "odd_charset": lambda _: Response(
        b"a" * 20_000 + b"-99999", media_type="text/html; charset=punycode"
    ),
}
"""The faults that are a response like others."""


async def _as_usual(request: FaultyRequest) -> None:
    await request.app(request.scope, request.receive, request.send)


async def _delay(request: FaultyRequest) -> None:
    await asyncio.sleep(request.fault.seconds)
    await _as_usual(request)


async def _hang(_: FaultyRequest) -> None:
    await asyncio.Event().wait()


async def _reset(request: FaultyRequest) -> None:
    # Lingering for zero seconds makes close() send RST instead of FIN.
    connection = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def _drip(request: FaultyRequest) -> None:
    """The correct reply, including headers, one byte at a time."""
    head, body = b"", b""

    async def collect(message: Message) -> None:
        nonlocal head, body
        if message["type"] == "http.response.start":
            lines = [b"%s: %s" % pair for pair in message["headers"]]
            head = b"\r\n".join(
                [b"HTTP/1.1 %d Slowly" % message["status"], *lines, b"connection: close", b"", b""]
            )
        body += message.get("body", b"")

    await request.app(request.scope, request.receive, collect)
    for byte in head + body:
        request.transport.write(bytes([byte]))
        await asyncio.sleep(request.fault.seconds)
    request.transport.close()


async def _unrelated(request: FaultyRequest) -> None:
    body = b""
    while (message := await request.receive())["type"] == "http.request":
        body += message.get("body", b"")
        if not message.get("more_body"):
            break

    async def receive() -> Message:
        return {"type": "http.request", "body": _QUERY.sub(_OTHER_QUERY, body)}

    asked = _QUERY.sub(_OTHER_QUERY, request.scope["query_string"])
    await request.app({**request.scope, "query_string": asked}, receive, request.send)


async def _huge(request: FaultyRequest) -> None:
    paragraph = b"<p>" + b"and so on, " * 5000 + b"</p>\n"
    await request.send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]}
    )
    while True:
        await request.send({"type": "http.response.body", "body": paragraph, "more_body": True})
        await asyncio.sleep(0)


async def _gzip_bomb(request: FaultyRequest) -> None:
    """4 GiB of spaces in 4 MiB of gzip: a block that is compressed once and repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(b" " * _BOMB_BLOCK) + packer.flush(zlib.Z_FULL_FLUSH)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    headers = [(b"content-type", b"text/html"), (b"content-encoding", b"gzip")]
    await request.send({"type": "http.response.start", "status": 200, "headers": headers})
    await request.send({"type": "http.response.body", "body": head, "more_body": True})
    for _ in range(_BOMB_BLOCKS):
        await request.send({"type": "http.response.body", "body": block, "more_body": True})
        await asyncio.sleep(0)
    await request.send({"type": "http.response.body", "body": packer.flush()})


async def _wrong_length(request: FaultyRequest) -> None:
    """Promises 10,000 bytes, sends a few, hangs up."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 10000\r\n\r\n"
    request.transport.write(head + b"<!doctype html><title>Cut short</title><p>The rest is")
    request.transport.close()


FAULTS: dict[str, Callable[[FaultyRequest], Awaitable[None]]] = {
    "delay": _delay,
    "hang": _hang,
    "reset": _reset,
    "drip": _drip,
    "unrelated": _unrelated,
    "huge": _huge,
    "gzip_bomb": _gzip_bomb,
    "wrong_length": _wrong_length,
}
