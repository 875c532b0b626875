"""The base of every stand-in for a vendor, and the answer of those for answer engines.

`stand_in` is that of a search vendor without a file of its own: it serves the vendor's recorded reply. It accepts any
path and method and requires the key in some header or parameter. The reply's hits get URLs of matching sandbox pages,
so that a gateway can read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox import key_of
from websearch_gateway.sandbox.small_web import best_sentences, search
from websearch_gateway.settings import ProviderRow

_SITE = re.compile(r"(?<!\S)\(?(-?)site:([^\s)]+)\)?")

DAYS = {"d": 1, "w": 7, "m": 31, "y": 365}
"""The letters that most vendors use for a freshness of one day, week, month or year."""


class VendorRefusal(Exception):
    """A request that the vendor refuses: HTTP status, JSON body (None: a bare page) and headers of its reply."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, dict(headers or {})

    def response(self) -> Response:
        """The reply that the client gets."""
        if self.body is None:
            return HTMLResponse(f"<!doctype html><title>{self.status}</title>", self.status, self.headers)
        return JSONResponse(self.body, self.status, self.headers)


@dataclass(frozen=True, slots=True)
class Vendor:
    """A stand-in, mounted at `/NAME`.

    `refusal(status, reason)` is the vendor's reply of that HTTP status, worded as the vendor does; `reason` is the
    vendor's own code, or where it has no codes its message, for a status that has several.
    """

    name: str
    routes: Sequence[Route]
    refusal: Callable[[int, str | None], VendorRefusal]
    bot_page: tuple[int, str] = field(default=(403, "<!doctype html><title>Just a moment...</title>"))


def origin(request: Request) -> str:
    """The sandbox's own address as the client wrote it, for links in results."""
    return f"{request.url.scheme}://{request.url.netloc}"


def within_sites(request: Request, query: str) -> tuple[str, bool]:
    """A query without its operators `site:`, and whether pages of this sandbox are among what they allow.

    All its pages have one host: the name that the client used for the sandbox.
    """
    host = request.url.hostname or ""
    listed = _SITE.findall(query)
    wanted = [name for minus, name in listed if not minus]
    unwanted = [name for minus, name in listed if minus]
    text = " ".join(word for word in _SITE.sub(" ", query).split() if word not in ("OR", "()", "(", ")"))
    return text, host not in unwanted and (not wanted or host in wanted)


def within_domains(request: Request, include: object, exclude: object) -> bool:
    """Whether lists of domains allow the pages of this sandbox, whose host is the name that the client used."""
    host = request.url.hostname or ""
    wanted, unwanted = (names if isinstance(names, list) else [] for names in (include, exclude))
    return host not in unwanted and (not wanted or host in wanted)


def clock(request: Request) -> datetime:
    """The current time in UTC, by the sandbox's clock."""
    now: datetime = request.app.state.clock()
    return now


def days_ago(request: Request, days: int) -> datetime:
    """The time that many days ago."""
    return clock(request) - timedelta(days=days)


def bearer(request: Request) -> str:
    """The token of the Authorization header; empty if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def json_object(request: Request, refusal: VendorRefusal) -> dict[str, Any]:
    """The request's body as a JSON object.

    Raises:
        VendorRefusal: `refusal`, if it is not an object.
    """
    try:
        body = json.loads(await request.body())
    except ValueError:
        raise refusal from None
    if not isinstance(body, dict):
        raise refusal
    return body


async def parameters(request: Request) -> dict[str, str]:
    """The fields of a form that was sent by GET or by POST."""
    form = await request.body() if request.method == "POST" else request.scope["query_string"]
    return dict(parse_qsl(form.decode("utf-8", "replace"), keep_blank_values=True))


def whole(value: str | None, default: int) -> int | None:
    """A query parameter as a whole number; None if it is not one."""
    if value is None or value == "":
        return default
    return int(value) if value.lstrip("-").isdecimal() else None


_MOST_FOUND, _MOST_CITED, _CLOSE_TO_BEST = 6, 3, 0.75


@dataclass(frozen=True, slots=True)
class Found:
    """A page that was found; `claim` is the sentence that an answer takes from it, if it does."""

    url: str
    title: str
    published: datetime | None
    claim: str | None


def research(request: Request, question: str, region: str | None = None) -> list[Found]:
    """The pages for a question, best first."""
    matches = search(question, clock(request), region=region)[:_MOST_FOUND]
    found = []
    for place, match in enumerate(matches):
        cited = place < _MOST_CITED and match.score >= matches[0].score * _CLOSE_TO_BEST
        claim = best_sentences(match.page, question, 1)[0] if cited else None
        found.append(Found(origin(request) + match.page.path, match.page.title, match.published, claim))
    return found


def fault_of(request: Request, kinds: Collection[str]) -> str | None:
    """The kind of this request's fault, if it is one of `kinds`."""
    fault = request.state.fault
    return str(fault.kind) if fault and fault.kind in kinds else None


REPLIES = files("websearch_gateway.sandbox") / "replies"
_ADDRESS = re.compile(r"https?://[\w.-]+\.example[^\s\"'<>&]*")
_TYPES = {"json": "application/json", "html": "text/html; charset=utf-8"}


def refusal(status: int, message: str | None = None) -> VendorRefusal:
    """An error body such as many vendors have: `{"error": {"message"}}`."""
    return VendorRefusal(status, {"error": {"message": message or f"Error {status}"}})


def recording(name: str) -> Traversable:
    """The recorded reply of a vendor, `NAME.json` or `NAME.html`.

    Raises:
        LookupError: there is none.
    """
    for path in REPLIES.iterdir():
        if path.name.rpartition(".")[0] == name:
            return path
    raise LookupError(f"put a recorded reply of {name} into sandbox/replies")


def stand_in(row: ProviderRow) -> Vendor:
    """The stand-in for the vendor of a row."""

    async def reply(request: Request) -> Response:
        asked = unquote_plus(f"{request.url.query} {(await request.body()).decode(errors='replace')}")
        if row.has_key and key_of(row.name) not in f"{asked} {list(request.headers.values())}":
            raise refusal(401, "Invalid API key")
        path = recording(row.name)
        body = _with_pages(path.read_text(encoding="utf-8"), asked, request)
        return Response(body, media_type=_TYPES[path.name.rpartition(".")[2]])

    return Vendor(row.name, [Route("/{path:path}", reply, methods=["GET", "POST"])], refusal)


def _with_pages(body: str, asked: str, request: Request) -> str:
    words = " ".join(re.findall(r"[^\W_]+", asked))
    pages = [origin(request) + match.page.path for match in search(words, clock(request))]
    places = dict(zip(dict.fromkeys(_ADDRESS.findall(body)), pages, strict=False))
    return _ADDRESS.sub(lambda match: json.dumps(places.get(match[0], match[0]))[1:-1], body)
