"""One request and its reply: bounds the body in size and time, and ends the work when the client leaves."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import refusal

MAX_BODY_BYTES = 1_048_576
BODY_SECONDS = 10.0
DISCARD_BYTES = 8 * MAX_BODY_BYTES
DISCARD_SECONDS = 1.0
WATCH_AFTER_SECONDS = 0.05
"""After this long, a call is watched for a disconnect (seconds); most end sooner and need no watcher."""
_CLOSE = {"Connection": "close"}  # the rest of the body is not read


class RequestBody:
    """ASGI middleware: reads the body before the app sees the request, and cancels the app on a disconnect."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        body: bytes | None = None
        status, message = 408, "The request's body did not arrive in time."
        # First the time limit for the body; then a scope around the work, cancelled when the client disconnects.
        limit = asyncio.timeout(BODY_SECONDS)
        try:
            async with limit:
                body = await _read(scope, receive)
                if body is not None:
                    limit.reschedule(None)
                    return await self._serve(scope, body, _Watch(limit, receive), send)
                await _discard(receive)
                status, message = 413, f"A request has at most {MAX_BODY_BYTES:,} bytes."
        except ClientDisconnect:
            return None
        except TimeoutError:
            if not limit.expired():
                raise
            if body is not None:
                return None  # no client is left to reply to
        return await refusal(status, "VALIDATION", message, _CLOSE)(scope, receive, send)

    async def _serve(self, scope: Scope, body: bytes, watch: _Watch, send: Send) -> None:
        unread = [body]

        async def replay() -> Message:
            if not unread:
                await asyncio.Event().wait()  # a disconnect cancels the app instead of sending it a message
            return {"type": "http.request", "body": unread.pop(), "more_body": False}

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                watch.stop()  # the reply is complete: a disconnect interrupts nothing
            await send(message)

        try:
            await self._app(scope, replay, sending)
        finally:
            watch.stop()


class _Watch:
    """Cancels `work`, the scope around a call, when the client disconnects."""

    def __init__(self, work: asyncio.Timeout, receive: Receive) -> None:
        self._work = work
        self._receive = receive
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(WATCH_AFTER_SECONDS, self._start)

    def stop(self) -> None:
        """Stop watching."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = self._loop.create_task(self._watch())

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._work.reschedule(self._loop.time())


async def _discard(receive: Receive) -> None:
    """Read a little more than the limit: a client that is still sending when we close never sees the reply."""
    discarded = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_SECONDS):
            while discarded < DISCARD_BYTES and (message := await receive()).get("more_body", False):
                discarded += len(message.get("body", b""))


async def _read(scope: Scope, receive: Receive) -> bytes | None:
    """The whole body; None if its declared or actual size is too large."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or len(value) > 12 or int(value) > MAX_BODY_BYTES):
            return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect  # the rest never comes
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return bytes(body)
