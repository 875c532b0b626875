"""Stand-ins for search vendors without a file of their own: each serves the vendor's recorded reply.

They accept any path and method and require the key in some header or parameter. The reply's hits get URLs of matching
sandbox pages, so that a gateway can read them.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from urllib.parse import unquote_plus

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from websearch_gateway.sandbox.keys import key_of
from websearch_gateway.sandbox.small_web import search
from websearch_gateway.sandbox.vendor import Vendor, VendorRefusal, clock, origin
from websearch_gateway.settings.providers import ProviderRow

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
