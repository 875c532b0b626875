"""One request and its reply: bounds the bodies in size and time, and ends the work when the client leaves."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress

from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import failure, refusal
from websearch_gateway.errors import SearchRateLimitError
from websearch_gateway.models import Caller

MAX_BODY_BYTES = 1_048_576
MAX_STRANGER_BYTES = 16_384
"""Of a request whose caller is not known: its token is in the body, or its path needs none."""
BUDGET_BYTES = 64 * MAX_BODY_BYTES
"""For the bodies of all requests under way; those of one caller have at most half of it."""
BUSY_SECONDS = 1.0
"""When to send a body again that had no room (seconds)."""
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
        self._budget = _Budget(BUDGET_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        share = _Share(self._budget, scope)
        try:
            refused = await self._read_and_serve(scope, receive, send, share)
        except ClientDisconnect:
            return None
        finally:
            share.give_back()
        return await refused(scope, receive, send) if refused else None

    async def _read_and_serve(self, scope: Scope, receive: Receive, send: Send, share: _Share) -> Response | None:
        """Returns the reply to a body that is too long or too slow, or has no room."""
        body: bytes | None = None
        # First the time limit for the body; then a scope around the work, cancelled when the client disconnects.
        limit = asyncio.timeout(BODY_SECONDS)
        try:
            async with limit:
                try:
                    body = await _read(scope, receive, share)
                except SearchRateLimitError as error:
                    return failure(error, _CLOSE)
                if body is not None:
                    limit.reschedule(None)
                    await self._serve(scope, body, _Watch(limit, receive), send)
                    return None
                await _discard(receive)
                return refusal(413, "VALIDATION", share.too_long, _CLOSE)
        except TimeoutError:
            if not limit.expired():
                raise
            if body is not None:
                return None  # no client is left to reply to
            return refusal(408, "VALIDATION", "The request's body did not arrive in time.", _CLOSE)

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


async def _read(scope: Scope, receive: Receive, share: _Share) -> bytes | None:
    """The whole body; None if its declared or actual size is too large.

    Raises:
        SearchRateLimitError: the bodies of other requests leave no room for it.
    """
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or len(value) > 12 or int(value) > share.most):
            return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect  # the rest never comes
        body += message.get("body", b"")
        if len(body) > share.most:
            return None
        share.hold(len(body))
        if not message.get("more_body", False):
            return bytes(body)


class _Budget:
    """The bytes that the bodies of all requests hold."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._held_by: Counter[str] = Counter()

    def take(self, user: str, size: int) -> bool:
        """Hold more bytes for a user, if there is room."""
        if self._held + size > self._most or self._held_by[user] + size > self._most // 2:
            return False
        self._held += size
        self._held_by[user] += size
        return True

    def give_back(self, user: str, size: int) -> None:
        """Release bytes that a user holds."""
        self._held -= size
        self._held_by[user] -= size
        if not self._held_by[user]:
            del self._held_by[user]


class _Share:
    """What the body of one request may hold, and holds."""

    def __init__(self, budget: _Budget, scope: Scope) -> None:
        caller: Caller | None = scope.get("caller")
        self._budget = budget
        self._user = caller.user if caller else ""
        self._held = 0
        self.most = MAX_BODY_BYTES if caller else MAX_STRANGER_BYTES
        without = "" if caller else " without a token in its header"
        self.too_long = f"A request{without} has at most {self.most:,} bytes."

    def hold(self, size: int) -> None:
        """Hold this many bytes in all; raises `SearchRateLimitError` if there is no room for them."""
        if not self._budget.take(self._user, size - self._held):
            raise SearchRateLimitError("Too many long requests are under way.", retry_after=BUSY_SECONDS)
        self._held = size

    def give_back(self) -> None:
        """Release all of it."""
        self._budget.give_back(self._user, self._held)
