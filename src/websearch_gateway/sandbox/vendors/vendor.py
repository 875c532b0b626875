"""Stand-ins for the vendors: each `Vendor` in a module of this folder, and `stand_in` for every other search provider.

They refuse the same requests as the real APIs, with the same bodies: a change quotes the vendor's documentation.
`stand_in` serves the vendor's recorded reply. It accepts any path and method and requires the key in some header or
parameter. The reply's hits get URLs of matching sandbox pages, so that a gateway can read them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pkgutil import iter_modules
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote_plus

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from websearch_gateway.sandbox.server import TRANSPORT_KINDS, key_of
from websearch_gateway.sandbox.small_web import Match, best_sentences, search
from websearch_gateway.settings.loading import PROVIDERS, ProviderRow

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
            return HTMLResponse(
                f"<!doctype html><title>{self.status}</title>", self.status, self.headers
            )
        return JSONResponse(self.body, self.status, self.headers)


class Refuse(Protocol):
    """A vendor's reply of that HTTP status, worded as the vendor does.

    `reason` is the vendor's own code, or where it has no codes its message, for a status that has several.
    """

    def __call__(self, status: int, reason: str | None = None) -> VendorRefusal: ...


@dataclass(frozen=True, slots=True)
class Vendor:
    """A stand-in, mounted at `/NAME`."""

    name: str
    routes: Sequence[Route]
    refusal: Refuse
    bot_page: tuple[int, str] = (403, "<!doctype html><title>Just a moment...</title>")


def every_vendor() -> list[Vendor]:
    """Every vendor that the sandbox stands in for."""
    folder = import_module(str(__package__)).__path__
    modules = [import_module(f"{__package__}.{module.name}") for module in iter_modules(folder)]
    written: dict[str, Vendor] = {}
    for module in modules:
        vendors = [value for value in vars(module).values() if isinstance(value, Vendor)]
        written |= {vendor.name: vendor for vendor in vendors}
    others = (row for row in PROVIDERS if row.name not in written and not row.engine)
    return [*written.values(), *map(stand_in, others)]


def worded(body: Callable[[int, str], Any], usual: Mapping[int, str]) -> Refuse:
    """Refusals with this JSON body, made of a status and a reason; `usual` has the reason of each status."""

    def refusal(status: int, reason: str | None = None) -> VendorRefusal:
        return VendorRefusal(status, body(status, reason or usual.get(status, "Error")))

    return refusal


def origin(request: Request) -> str:
    """The sandbox's own address as the client wrote it, for links in results."""
    return f"{request.url.scheme}://{request.url.netloc}"


def clock(request: Request) -> datetime:
    """The current time in UTC, by the sandbox's clock."""
    now: datetime = request.app.state.clock()
    return now


def search_pages(
    request: Request, query: str, *, days: float | None = None, within: bool = True, **filters: Any
) -> list[Match]:
    """The pages for a query with the `filters` of `small_web.search`, best first.

    Args:
        days: only pages of the last days.
        within: whether the domains that the client allows hold this sandbox, whose pages all have one host.
    """
    if days is not None:
        filters["since"] = clock(request) - timedelta(days=days)
    return search(query, clock(request), origin=origin(request), **filters) if within else []


def within_sites(request: Request, query: str) -> tuple[str, bool]:
    """A query without its operators `site:`, and whether they allow the host of this sandbox."""
    allowed: list[str] = []
    denied: list[str] = []
    for minus, name in _SITE.findall(query):
        (denied if minus else allowed).append(name)
    words = _SITE.sub(" ", query).split()
    text = " ".join(word for word in words if word not in ("OR", "()", "(", ")"))
    return text, within_domains(request, allowed, denied)


def within_domains(request: Request, include: object, exclude: object) -> bool:
    """Whether lists of domains, each with those below it, allow the host that the client has for this sandbox."""
    host = f".{request.url.hostname or ''}"

    def holds(names: object) -> bool:
        return isinstance(names, list) and any(host.endswith(f".{name}") for name in names)

    return (not include or holds(include)) and not holds(exclude)


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


async def posted(request: Request, vendor: str, refusal: Refuse) -> dict[str, Any]:
    """The JSON object that the bearer of the vendor's key has sent.

    Raises:
        VendorRefusal: 401 without the key, 400 without an object.
    """
    if bearer(request) != key_of(vendor):
        raise refusal(401)
    return await json_object(request, refusal(400))


async def parameters(request: Request) -> dict[str, str]:
    """The fields of a form that was sent by GET or by POST."""
    form = await request.body() if request.method == "POST" else request.scope["query_string"]
    return dict(parse_qsl(form.decode("utf-8", "replace"), keep_blank_values=True))


def whole(value: str | None, default: int) -> int:
    """A query parameter as a whole number, `default` without one; -1 if it is no such number."""
    if not value:
        return default
    return int(value) if value.isdecimal() else -1


def day_of(text: Any, refusal: VendorRefusal) -> datetime | None:
    """A parameter in ISO 8601 as a moment in UTC; None if it is absent.

    Raises:
        VendorRefusal: `refusal`, if it is something else.
    """
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None
    except (TypeError, ValueError):
        raise refusal from None


def long_date(match: Match | Source, month: str = "%b") -> str | None:
    """The date of a page as American engines write it: `Oct 14, 2023`."""
    moment = match.published
    return f"{moment:{month}} {moment.day}, {moment.year}" if moment else None


def row_of(match: Match, *, url: str = "url", title: str = "title", **names: str) -> dict[str, Any]:
    """A row with the vendor's names of its fields. It has no date if the page has none.

    Args:
        names: the vendor's names of `snippet`, `text`, `iso` (date and time) and `long` (`Oct 14, 2023`).
    """
    parts: dict[str, Callable[[], str | None]] = {
        "snippet": lambda: match.snippet,
        "text": lambda: match.page.text,
        "iso": lambda: match.published.isoformat(timespec="seconds") if match.published else None,
        "long": lambda: long_date(match),
    }
    return {url: match.url, title: match.page.title} | present(
        **{name: parts[part]() for part, name in names.items()}
    )


def present(**fields: Any) -> dict[str, Any]:
    """The fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


_MOST_SOURCES, _MOST_CITED, _CLOSE_TO_BEST = 6, 3, 0.75


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was found; `claim` is the sentence that an answer takes from it, if it does."""

    url: str
    title: str
    published: datetime | None
    claim: str | None


def research(
    request: Request, question: str, region: str | None = None, *, within: bool = True
) -> list[Source]:
    """The pages for a question, best first."""
    matches = search_pages(request, question, within=within, region=region)[:_MOST_SOURCES]
    pages = []
    for place, match in enumerate(matches):
        cited = place < _MOST_CITED and match.score >= matches[0].score * _CLOSE_TO_BEST
        claim = best_sentences(match.page, question, 1)[0] if cited else None
        pages.append(Source(match.url, match.page.title, match.published, claim))
    return pages


def fault_of(request: Request) -> str | None:
    """The kind of this request's fault, if it is one of the vendor's own."""
    fault = request.state.fault
    return str(fault.kind) if fault and fault.kind not in TRANSPORT_KINDS else None


REPLIES = files("websearch_gateway.sandbox") / "replies"
_ADDRESS = re.compile(r"https?://[\w.-]+\.example[^\s\"'<>&]*")
_TYPES = {"json": "application/json", "html": "text/html; charset=utf-8"}


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
    refusal = worded(lambda _, message: {"error": {"message": message}}, {401: "Invalid API key"})

    async def reply(request: Request) -> Response:
        sent = (await request.body()).decode(errors="replace")
        fields = unquote_plus(f"{request.url.query} {sent}")
        if row.has_key and key_of(row.name) not in f"{fields} {list(request.headers.values())}":
            raise refusal(401)
        path = recording(row.name)
        body = path.read_text(encoding="utf-8")
        words = " ".join(re.findall(r"[^\W_]+", fields))
        pages = [match.url for match in search_pages(request, words)]
        places = dict(zip(dict.fromkeys(_ADDRESS.findall(body)), pages, strict=False))
        body = _ADDRESS.sub(lambda match: json.dumps(places.get(match[0], match[0]))[1:-1], body)
        return Response(body, media_type=_TYPES[path.name.rpartition(".")[2]])

    return Vendor(row.name, [Route("/{path:path}", reply, methods=["GET", "POST"])], refusal)
