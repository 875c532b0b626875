"""Fetches pages whose URLs users or sites choose: guarded, pinned, capped and bounded by a deadline."""

from __future__ import annotations

import asyncio
import json as json_text
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urljoin

import httpcore2

from websearch_gateway import __version__
from websearch_gateway.base.net.address import AddressPolicy, Target
from websearch_gateway.base.net.bodies import (
    ACCEPT_ENCODING,
    MAX_BYTES,
    BodyTooLarge,
    decoded_body,
)
from websearch_gateway.base.net.charsets import charset_of
from websearch_gateway.base.net.dialling import HEADER_BYTES, MeteredStream, Resolve, SystemResolver
from websearch_gateway.base.net.failures import mapped_page_errors
from websearch_gateway.base.net.outbound import DIRECT, ConnectionPools, Outbound
from websearch_gateway.base.net.redirects import CallCookies, refresh_of
from websearch_gateway.base.net.requests import parse_retry_after
from websearch_gateway.errors import (
    SearchFetchError,
    SearchTimeoutError,
)
from websearch_gateway.models import Deadline

_log = logging.getLogger(__name__)

PRODUCT = "websearch-gateway"
USER_AGENT = f"{PRODUCT}/{__version__} (reads pages that a user asked for)"
ACCEPT_PAGE = "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5"
MAX_REDIRECTS = 8
"""Of one page; browsers allow 20, and real chains are shorter than 5."""
MAX_PIECES = 20_000
"""Of a body: a server that sends it byte by byte must not keep a read busy."""
LEAST_PIECE_BYTES = 2_000
"""The least bytes of a piece of a large file, on average."""
PART_BYTES = 1_000_000
"""How much of a file is written at once."""
KEPT_CONNECTIONS = 12
"""Connections that stay open for the next page of a site."""
_REDIRECTS = (301, 302, 303, 307, 308)
# Matches only valid media types: error messages show the type, and the server could send any text.
_TYPE = re.compile(r"\s*([\w.+-]{1,64}/[\w.+-]{1,64})\s*(?:[;,]|$)", re.ASCII)

_HTML = ("text/html", "application/xhtml+xml")

Read = Callable[[httpcore2.Response, Mapping[str, str], int], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A complete reply, or the beginning of a page that is too large (`is_cut`).

    `status` is 2xx, or 304 to a conditional request; `headers` have lower-case names; `body` is decompressed;
    `content_type` is the bare type in lower case, empty if missing or invalid; `charset` is the Python codec to decode
    `body` with if it is text.
    """

    url: str
    final_url: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    content_type: str
    charset: str
    is_cut: bool = False


class Sending(Protocol):
    """Watches the requests of a fetch: the first one, and one more for each redirect that the fetch follows."""

    async def sending(self) -> None:
        """The connection is ready; the request is written when this returns."""
        ...

    async def sent(self) -> None:
        """The request is written."""
        ...


class Fetching(Protocol):
    """Anything that fetches pages as `Fetcher.fetch` does: the fetcher itself, or a wrapper that obeys robots.txt."""

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ...,
        headers: Mapping[str, str] | None = ...,
        max_bytes: int = ...,
        in_part: bool = ...,
    ) -> Fetched:
        """See `Fetcher.fetch`."""
        ...


def user_agent(contact: str | None) -> str:
    """The user agent; `contact` is a web address that says who runs this gateway.

    Wikimedia prescribes the format
    (https://foundation.wikimedia.org/wiki/Policy:Wikimedia_Foundation_User-Agent_Policy).
    """
    return f"{PRODUCT}/{__version__} (+{contact})" if contact else USER_AGENT


async def _read(response: httpcore2.Response, headers: Mapping[str, str], max_bytes: int) -> bytes:
    _check_length(headers, max_bytes)
    return b"".join([piece async for piece in _body(response, headers, max_bytes, MAX_PIECES)])


async def _read_in_part(
    response: httpcore2.Response, headers: Mapping[str, str], max_bytes: int
) -> tuple[bytes, bool]:
    """The body, or the beginning of one that is too large, and whether it is cut."""
    body = bytearray()
    try:
        async for piece in _body(response, headers, max_bytes, MAX_PIECES):
            body += piece
    except SearchFetchError as error:
        if error.details.get("reason") != "too_large" or not body:
            raise
        return bytes(body), True
    return bytes(body), False


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a fetch wants. The `extra` headers are never sent to another origin; `read` makes the body of the reply."""

    url: str
    own: Mapping[str, str]
    extra: Mapping[str, str]
    max_bytes: int
    deadline: Deadline
    body: bytes | None = None
    follows: Callable[[str], bool] | None = None
    sending: Sending | None = None
    in_part: bool = False
    read: Read = _read


@dataclass(frozen=True, slots=True)
class _Reply:
    """A page, where a reply sends its reader, or both: a page with a refresh."""

    page: Fetched | None = None
    target: Target | None = None
    set_cookies: Sequence[tuple[bytes, bytes]] = field(default=(), repr=False)


class Fetcher:
    """Fetches pages. One instance serves the whole process, from one event loop; close it with `aclose`.

    It uses connection pools directly, without an HTTP client, so no option can add credentials from the environment or
    automatic redirects. Cookies live as long as one fetch.

    Args:
        policy: checks every URL, redirect and address.
        resolve: turns names into addresses; by default the operating system.
        user_agent: names the product, its version and a contact for complaints.
        keep_alive: whether to reuse connections to an origin, for a crawler that sends many requests to one site. By
            default each request has its own connection, so that a site cannot link requests of different users.
        outbound: the proxies to use, and the trusted certificates.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        *,
        resolve: Resolve | None = None,
        user_agent: str = USER_AGENT,
        keep_alive: bool = False,
        outbound: Outbound = DIRECT,
    ) -> None:
        self._policy = policy
        self._system_resolver = SystemResolver()
        kept = KEPT_CONNECTIONS if keep_alive else 0
        self._pools = ConnectionPools(
            policy, resolve or self._system_resolver, outbound, kept_connections=kept
        )
        self._own_headers = {"user-agent": user_agent, "accept-encoding": ACCEPT_ENCODING}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        self._system_resolver.close()
        await self._pools.aclose()

    async def fetch(
        self,
        url: str,
        deadline: Deadline,
        *,
        accept: str = ACCEPT_PAGE,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = MAX_BYTES,
        json: Mapping[str, Any] | None = None,
        follows: Callable[[str], bool] | None = None,
        sending: Sending | None = None,
        in_part: bool = False,
    ) -> Fetched:
        """GET `url` and follow redirects, also those by `Refresh` and by cookie walls; or POST `json` to it and treat a
        redirect as an error.

        Args:
            deadline: also checks redirects.
            follows: whether to follow a redirect to a URL; any other is an error, with `details["location"]`. By
                default all are followed. A `<meta>` with a refresh is then left to the caller.
            headers: further request headers, such as those of a conditional request. Never sent to another origin.
            max_bytes: the limit of the body, both compressed and decompressed.
            sending: called before and after each request is written.
            in_part: whether to keep the beginning of an HTML page that is larger than `max_bytes`; else it is an error.

        Raises:
            ForbiddenUrlError: the policy forbids the URL, a redirect or an address.
            SearchTimeoutError: the deadline passed.
            SearchFetchError: any other failure; `details["status"]` is the HTTP status if that is the reason.
        """
        body = json_text.dumps(json).encode() if json is not None else None
        asked = _Asked(
            url,
            {"accept": accept},
            headers or {},
            max_bytes,
            deadline,
            body,
            follows,
            sending,
            in_part,
        )
        return await self._fetched(asked, "page")

    async def download(self, url: str, path: Path, deadline: Deadline, *, max_bytes: int) -> None:
        """GET `url`, follow redirects, and write the body into the file `path`. Raises what `fetch` raises."""
        await self._fetched(
            _Asked(url, {"accept": "*/*"}, {}, max_bytes, deadline, read=partial(_save, path)),
            "file",
        )

    async def _fetched(self, asked: _Asked, kind: str) -> Fetched:
        target = self._policy.check_url(asked.url)
        own, extra = {**self._own_headers, **asked.own}, asked.extra
        if asked.body is not None:
            extra = {
                **extra,
                "content-type": "application/json",
                "content-length": str(len(asked.body)),
            }
        first = target.host
        cookies = CallCookies()
        visited: set[str] = set()
        try:
            async with asyncio.timeout(asked.deadline.remaining()):
                for hops in range(MAX_REDIRECTS + 1):
                    visited.add(target.url)
                    headers = cookies.added_to({**own, **extra}, target.url)
                    reply = await self._exchange(asked, target, headers)
                    has_new_cookie = cookies.keep(target.url, reply.set_cookies)
                    following = reply.target
                    if reply.page is not None:
                        if following is None or hops == MAX_REDIRECTS:
                            return reply.page
                        # A refresh that comes back is no redirect: a ticker reloads itself.
                        if following.url in visited and not has_new_cookie:
                            return reply.page
                    following = _followed(asked, target, following, first)
                    if (following.scheme, following.netloc) != (target.scheme, target.netloc):
                        extra = {}
                    target = following
                message = f"{target.host} redirects more than {MAX_REDIRECTS} times."
                raise SearchFetchError(message, details={"reason": "redirects"})
        except TimeoutError:
            raise SearchTimeoutError(f"{first} did not deliver the {kind} in time.") from None

    async def _exchange(self, asked: _Asked, target: Target, sent: Mapping[str, str]) -> _Reply:
        method = "GET" if asked.body is None else "POST"
        with mapped_page_errors(target.host):
            wire = [
                (b"host", target.netloc.encode()),
                *((n.lower().encode(), v.encode()) for n, v in sent.items()),
            ]
            pool = await self._pools.pool_for(target)
            hooks = {"trace": partial(_tell, asked.sending)} if asked.sending else {}
            address = httpcore2.URL(
                scheme=target.scheme.encode(),
                host=target.host.encode(),
                port=target.port,
                target=target.path.encode(),
            )
            async with pool.stream(
                method, address, headers=wire, content=asked.body, extensions=hooks
            ) as response:
                headers = _decoded(response.headers)
                if response.status in _REDIRECTS and "location" in headers:
                    # A POST follows no redirect, so the caller's check need not know of it.
                    check = asked.deadline.check_redirect if asked.body is None else None
                    following = await self._redirected(target, headers["location"], check)
                    return _Reply(target=following, set_cookies=response.headers)
                # Only the host: a path or query may contain a secret.
                _log.debug("fetch %s: status %d", target.host, response.status)
                _check_status(target.host, response.status, headers, sent)
                declared = headers.get("content-type", "")
                kind = _TYPE.match(declared)
                content_type = kind[1].lower() if kind else ""
                is_cut = False
                if asked.in_part and content_type in _HTML:
                    content, is_cut = await _read_in_part(response, headers, asked.max_bytes)
                else:
                    content = await asked.read(response, headers, asked.max_bytes)
        charset = charset_of(content, declared)
        page = Fetched(
            asked.url, target.url, response.status, headers, content, content_type, charset, is_cut
        )
        is_html = content_type in _HTML and asked.follows is None
        refresh = None
        if asked.body is None and response.status != 304:
            refresh = refresh_of(target.url, headers, content if is_html else b"")
        if refresh is None:
            return _Reply(page, set_cookies=response.headers)
        moved = await self._redirected(target, refresh, asked.deadline.check_redirect)
        return _Reply(page, moved, response.headers)

    async def _redirected(
        self, target: Target, location: str, check: Callable[[str], Awaitable[None]] | None
    ) -> Target:
        try:
            url = urljoin(target.url, location)
        except ValueError:
            raise SearchFetchError(f"{target.host} redirects to a malformed address.") from None
        checked = self._policy.check_url(url)
        if check is not None:
            await check(url)
        return checked


def _followed(asked: _Asked, target: Target, following: Target | None, first: str) -> Target:
    """The address to which a redirect leads. Raises SearchFetchError if the request may not go there.

    Args:
        first: the host that was asked first.
    """
    if asked.body is not None:
        message = f"{first} redirects a request that may not be sent to another address."
        raise SearchFetchError(message)
    if following is None:
        raise SearchFetchError(f"{target.host} redirects to no address.")
    if asked.follows is not None and not asked.follows(following.url):
        message = f"{first} redirects elsewhere."
        raise SearchFetchError(message, details={"location": following.url})
    return following


async def _tell(sending: Sending, event: str, _: object) -> None:
    """Handle a `trace` event of the connection (https://www.encode.io/httpcore/extensions/#trace)."""
    if event.endswith("send_request_headers.started"):
        await sending.sending()
    elif event.endswith("send_request_headers.complete"):
        await sending.sent()


async def _save(
    path: Path, response: httpcore2.Response, headers: Mapping[str, str], max_bytes: int
) -> bytes:
    """Write the body into a file, whose content is not kept in memory. Returns nothing of it."""
    _check_length(headers, max_bytes)
    part = bytearray()
    with await asyncio.to_thread(path.open, "wb") as file:
        async for piece in _body(
            response, headers, max_bytes, max(MAX_PIECES, max_bytes // LEAST_PIECE_BYTES)
        ):
            part += piece
            if len(part) >= PART_BYTES:
                await asyncio.to_thread(file.write, bytes(part))
                part.clear()
        await asyncio.to_thread(file.write, bytes(part))
    return b""


async def _body(
    response: httpcore2.Response, headers: Mapping[str, str], max_bytes: int, max_pieces: int
) -> AsyncIterator[bytes]:
    stream: MeteredStream = response.extensions["network_stream"]
    stream.allowance = max_bytes + HEADER_BYTES
    coding = headers.get("content-encoding", "")
    try:
        async for piece in decoded_body(
            response.aiter_stream(), coding, max_bytes=max_bytes, max_pieces=max_pieces
        ):
            yield piece
    except BodyTooLarge:
        raise _too_large(max_bytes) from None


def _check_length(headers: Mapping[str, str], max_bytes: int) -> None:
    """Refuse a body that says itself that it is too large, before it is read."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise _too_large(max_bytes)


def _too_large(max_bytes: int) -> SearchFetchError:
    return SearchFetchError(
        f"The page is too large: more than {max_bytes:,} bytes.", details={"reason": "too_large"}
    )


def _check_status(
    host: str, status: int, headers: Mapping[str, str], sent: Mapping[str, str]
) -> None:
    conditional = any(name.lower() in ("if-none-match", "if-modified-since") for name in sent)
    if 200 <= status < 300 or (status == 304 and conditional):
        return
    now = time.time()
    wait = parse_retry_after(headers, now)
    if wait is None:
        wait = seconds_until_reset(headers, now) or None
    # https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/
    cause = {"reason": "protected"} if status in (401, 403) else {}
    if headers.get("cf-mitigated") == "challenge":
        cause = {"reason": "robot_page"}
    raise SearchFetchError(
        f"{host} answered with HTTP status {status}.",
        retry_after=wait,
        retryable=status >= 500,
        details={"status": status, **cause},
    )


def _decoded(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    for name, value in headers:
        values.setdefault(name.decode("ascii").lower(), []).append(
            value.decode("utf-8", errors="replace")
        )
    return {name: ", ".join(parts) for name, parts in values.items()}


LONGEST_SECONDS = 86_400.0
"""The longest wait for a quota, in seconds. A header with a larger value gives a timestamp, not a duration."""


def seconds_until_reset(headers: Mapping[str, str], now: float) -> float:
    """Seconds until the quota that this reply exhausted resets, at most a day; 0 if no quota is exhausted.

    GitHub sends a timestamp (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), Reddit
    seconds.

    Args:
        headers: keys in lower case, or a case-insensitive mapping.
        now: seconds since the epoch.
    """
    try:
        remaining = float(headers["x-ratelimit-remaining"])
        reset = float(headers["x-ratelimit-reset"])
    except (KeyError, ValueError):
        return 0.0
    if not (remaining < 1 and math.isfinite(reset)):
        return 0.0
    return min(max(reset - now if reset > LONGEST_SECONDS else reset, 0.0), LONGEST_SECONDS)
