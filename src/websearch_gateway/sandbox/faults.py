"""The outermost layer: records each call, applies its fault, and notices a disconnect.

Each fault is a small ASGI app that replaces the real reply or damages it. Some break HTTP itself and write to the bare
transport, which `running.py` puts into the request's state. They close it when they are done and return without a
response.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.sandbox.board import Board, Call, Fault
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal


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

    async def _watched(self, scope: Scope, receive: Receive, send: Send, call: Call, fault: Fault | None) -> None:
        complete = replayed = False

        async def replay() -> Message:
            nonlocal replayed
            if replayed:
                await asyncio.Event().wait()  # the gate itself watches for a disconnect
            replayed = True
            return {"type": "http.request", "body": call.body, "more_body": False}

        async def noting(message: Message) -> None:
            nonlocal complete
            complete = complete or (message["type"] == "http.response.body" and not message.get("more_body", False))
            await send(message)

        work = asyncio.ensure_future(self._serve(scope, replay, noting, call, fault))
        gone = asyncio.ensure_future(receive())  # the body is read, so this can only be the end of the connection
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

    async def _serve(self, scope: Scope, receive: Receive, send: Send, call: Call, fault: Fault | None) -> None:
        scope.setdefault("state", {})["fault"] = fault
        if fault is None or fault.kind not in FAULTS:
            await self._app(scope, receive, send)
            return
        vendor = self._vendors.get(call.path.split("/")[0])
        await FAULTS[fault.kind](FaultyRequest(fault, vendor, self._app, scope, receive, send))


_BOMB_BLOCK = 1 << 20
_BOMB_BLOCKS = 4096
# A query in JSON, or in a form: a value of `q` or `query`.
_QUERY = re.compile(rb'("q(?:uery)?":\s*")(?:[^"\\]|\\.)*|((?<![^&])q(?:uery)?=)[^&]*')
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

    async def answer(self, response: Response) -> None:
        """Send a whole response."""
        await response(self.scope, self.receive, self.send)


async def _status(request: FaultyRequest) -> None:
    fault, vendor = request.fault, request.vendor
    refusal = vendor.refusal(fault.status, fault.reason) if vendor else VendorRefusal(fault.status, None)
    response = refusal.response()
    if fault.retry_after is not None:
        response.headers["retry-after"] = f"{fault.retry_after:g}"
    await request.answer(response)


async def _delay(request: FaultyRequest) -> None:
    await asyncio.sleep(request.fault.seconds)
    await request.app(request.scope, request.receive, request.send)


async def _hang(_: FaultyRequest) -> None:
    await asyncio.Event().wait()


async def _reset(request: FaultyRequest) -> None:
    # Lingering for zero seconds makes close() send RST instead of FIN.
    connection = request.transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def _garbage(request: FaultyRequest) -> None:
    await request.answer(Response(_NONSENSE, media_type="application/json"))


async def _bot(request: FaultyRequest) -> None:
    status, page = request.vendor.bot_page if request.vendor else (403, "<title>Just a moment...</title>")
    await request.answer(HTMLResponse(page, status))


async def _drip(request: FaultyRequest) -> None:
    """The correct reply, including headers, one byte at a time."""
    head, body = b"", b""

    async def collect(message: Message) -> None:
        nonlocal head, body
        if message["type"] == "http.response.start":
            lines = [b"%s: %s" % pair for pair in message["headers"]]
            head = b"\r\n".join([b"HTTP/1.1 %d Slowly" % message["status"], *lines, b"connection: close", b"", b""])
        body += message.get("body", b"")

    await request.app(request.scope, request.receive, collect)
    for byte in head + body:
        request.transport.write(bytes([byte]))
        await asyncio.sleep(request.fault.seconds)
    request.transport.close()


async def _unrelated(request: FaultyRequest) -> None:
    """The correct reply to a request that asks something else."""
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
    """A page without an end."""
    paragraph = b"<p>" + b"and so on, " * 5000 + b"</p>\n"
    await request.send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
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


async def _redirect_private(request: FaultyRequest) -> None:
    await request.answer(RedirectResponse(request.fault.location, 302))


async def _redirect_loop(request: FaultyRequest) -> None:
    await request.answer(RedirectResponse(request.scope["path"], 302))


async def _wrong_length(request: FaultyRequest) -> None:
    """Promises 10,000 bytes, sends a few, hangs up."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 10000\r\n\r\n"
    request.transport.write(head + b"<!doctype html><title>Cut short</title><p>The rest is")
    request.transport.close()


async def _odd_charset(request: FaultyRequest) -> None:
    """A charset that takes Python seconds to decode."""
    await request.answer(Response(b"a" * 20_000 + b"-99999", media_type="text/html; charset=punycode"))


FAULTS: dict[str, Callable[[FaultyRequest], Awaitable[None]]] = {
    "status": _status,
    "delay": _delay,
    "hang": _hang,
    "reset": _reset,
    "garbage": _garbage,
    "bot": _bot,
    "drip": _drip,
    "unrelated": _unrelated,
    "huge": _huge,
    "gzip_bomb": _gzip_bomb,
    "redirect_private": _redirect_private,
    "redirect_loop": _redirect_loop,
    "wrong_length": _wrong_length,
    "odd_charset": _odd_charset,
}
