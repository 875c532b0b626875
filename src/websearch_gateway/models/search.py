"""A search: the checked question, the request to a vendor, the vendor's capabilities, and the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from websearch_gateway.models.requests import SafeSearch, Topic


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A question after the guard: normalised, validated and safe to send out.

    `freshness_hours` is a number of hours (24 a day, 168 a week, 720 a month, 8760 a year);
    `region` an upper-case ISO 3166-1 alpha-2 code; `language` an ISO 639-1 code. `include_domains` and
    `exclude_domains` are the call's lists within the operator's (see text.domains). `variant` separates calls that
    differ only in something that providers do not see, such as the choice of providers. `user` pays for the call; it is
    not part of the question and never sent. `behind` says that another upstream was asked before in this call, so that
    one whose key is rejected is skipped.
    """

    text: str
    max_results: int = 5
    freshness_hours: int | None = None
    region: str | None = None
    include_answers: bool = True
    language: str | None = None
    safe_search: SafeSearch | None = None
    topic: Topic = "general"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    variant: str = ""
    user: str = field(default="local", compare=False, repr=False)
    behind: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """An HTTP request as a value, so adapters build one without a client. Set at most one of `json` and `form`.

    The repr shows neither keys nor queries.
    """

    method: Literal["GET", "POST"]
    url: str
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    json: Mapping[str, Any] | None = field(default=None, repr=False)
    form: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features of a raw search vendor, the hits of a full page, and the price of one call (USD).

    `price_source` is the source and date of the price. `requests_per_second` is the vendor's limit per key; None if
    unknown. `ends` is the day on which the API shuts down. `caveat` is a warning for all its results. The vendor sends
    a reply without results with one of the `empty_statuses`; `parse` reads it, unless `refusal` gives an error.
    """

    max_results: int = 10
    page_size: int = 10
    freshness: bool = False
    region: bool = False
    safe_search: bool = False
    paging: bool = False
    news: bool = False
    cost_per_call_usd: float = 0.0
    price_source: str = ""
    requests_per_second: float | None = None
    ends: date | None = None
    caveat: str = ""
    empty_statuses: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One raw result. `published` is an ISO 8601 date or date-time; `content` is page text that the vendor included."""

    url: str
    title: str
    snippet: str
    provider: str
    published: str | None = None
    score: float | None = None
    content: str | None = None


@dataclass(frozen=True, slots=True)
class AppliedFilters:
    """How the requested freshness, region and domains were actually applied (None: not at all).

    Domains are `upstream` if the vendor filtered by them, `local` if we dropped results from other domains.
    """

    freshness: str | None = None
    region: str | None = None
    domains: Literal["upstream", "local"] | None = None


@dataclass(frozen=True, slots=True)
class Fallback:
    """The name of the upstream that failed, and why: `CODE: message`, or `errors.UNRELATED`."""

    given_up: str
    reason: str


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The result of a Searcher. Having no hits is not an error. `bodies` are the vendor's replies, page by page;
    `fallback` names the searcher that was given up for its unrelated results.
    """

    hits: tuple[Hit, ...]
    provider: str
    applied: AppliedFilters = AppliedFilters()
    cost_usd: float = 0.0
    warnings: tuple[str, ...] = ()
    bodies: tuple[bytes, ...] = field(default=(), repr=False)
    fallback: Fallback | None = None
