"""Code that all site readers share: the interface of a source, and helpers that parse its URLs and replies.

A source is a frozen dataclass of pure functions; `api_reader.ApiReader` runs any of them. Worker processes import this
file, so do not import an HTTP stack or pydantic here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import SplitResult, quote, unquote, urlsplit

from websearch_gateway.errors import SearchFetchError


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A GET request, or a POST of `json`. `may_be_missing`: status 404 gives the body None instead of an error."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    may_be_missing: bool = False


@dataclass(frozen=True, slots=True)
class DocumentRate:
    """At most this many documents within this many seconds."""

    documents: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Document:
    """The result of parsing the replies.

    `published` is an ISO 8601 date; `more` lists addresses of the full text, of which the first readable one is
    appended; `pause_seconds` is the time for which the site asks us not to call it; `warnings` are for the reader.
    """

    title: str
    markdown: str
    published: str | None = None
    more: Sequence[str] = ()
    pause_seconds: float = 0.0
    warnings: tuple[str, ...] = ()


class Source(Protocol):
    """A site whose API gives better content than its pages."""

    @property
    def name(self) -> str: ...
    @property
    def api(self) -> str:
        """Base URL of the API."""
        ...

    @property
    def busy(self) -> Sequence[int]:
        """HTTP statuses with which the API signals too many requests."""
        ...

    @property
    def pace(self) -> DocumentRate | None:
        """How often the API may be called; None if there is no fixed limit."""
        ...

    def accepts(self, url: str) -> bool:
        """Whether `url` belongs to this source."""
        ...

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The requests for the document at `url`, which this source accepts.

        Raises:
            SearchFetchError: the API needs a token, and none is set.
        """
        ...

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The document from the replies to `requests`, in the same order. Runs in a worker process.

        Any exception means that the reply is not what the vendor documents.
        """
        ...


def address(url: str) -> SplitResult | None:
    """The parts of a web address on the default port of its scheme; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = parts.scheme in ("http", "https") and "@" not in parts.netloc and port in (None, 80, 443)
    return parts if plain and parts.hostname else None


def segments(url: str, *hosts: str) -> list[str] | None:
    """The unquoted path segments of `url`, without empty ones; None if its host is not in `hosts`."""
    parts = address(url)
    if parts is None or parts.hostname not in hosts:
        return None
    found = [unquote(part) for part in parts.path.split("/") if part]
    return None if any(part in (".", "..") for part in found) else found


def quoted(*parts: str) -> str:
    """A path of these segments, each fully quoted."""
    return "/".join(quote(part, safe="") for part in parts)


def json_of(body: bytes | None) -> Any:
    """The JSON in a reply.

    Raises:
        SearchFetchError: the reply is not JSON.
    """
    try:
        return json.loads(body or b"")
    except (ValueError, RecursionError):
        raise SearchFetchError("The reply is not JSON.") from None


def section(title: str, *blocks: str, level: int = 2) -> str:
    """A heading and the blocks under it."""
    return "\n\n".join([f"{'#' * level} {' '.join(title.split())}", *(block for block in blocks if block)])


def github_headers(token: str) -> dict[str, str]:
    """The headers of all requests to GitHub's API (https://docs.github.com/rest/using-the-rest-api/getting-started)."""
    headers = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
    return {**headers, "authorization": f"Bearer {token}"} if token else headers
