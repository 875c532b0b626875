"""The outermost layer: records each call, applies its fault, and notices a disconnect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.sandbox.board import Board, Call, Fault
from websearch_gateway.sandbox.faults import FAULTS, FaultyRequest
from websearch_gateway.sandbox.vendor import Vendor


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
