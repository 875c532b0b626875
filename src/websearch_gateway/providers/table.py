"""Raw search vendors, one small file of pure functions each, in the order of settings/__init__.py; and what they share.

To add one, follow docs/adding-a-provider.md. `base/net/client.py` handles network, retries and errors for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from pydantic import SecretStr

from websearch_gateway.base import bucket, linked, make_hit, opening, records, spoken_date, utc_now
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.foreign_json import reply_object
from websearch_gateway.models import AppliedFilters, Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.settings.loading import PROVIDERS as ROWS
from websearch_gateway.settings.loading import ProviderRow, Settings

__all__ = [
    "PROVIDERS",
    "Columns",
    "Entry",
    "SharedProvider",
    "absent",
    "advice",
    "configured",
    "given",
]

_MOST_ADVISED = 2
"""Keys that an error advises to buy: a choice, and no catalogue."""
_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Columns(NamedTuple):
    """The names of the fields of a row. Where there is no snippet, the beginning of the text serves as one."""

    url: str = "url"
    title: str = "title"
    snippet: str = "snippet"
    date: str = ""
    text: str = ""
    score: str = ""


@dataclass(frozen=True)
class SharedProvider(Provider):
    """What most vendors do: they reply with a JSON object that has a list of rows, and apply all that they can.

    Without slots, so that what replaces a default may call `super()`.

    Attributes:
        columns: where a row has what.
        clock: the current time in UTC.
    """

    clock: Callable[[], datetime] = field(default=utc_now, repr=False, kw_only=True)

    columns: ClassVar[Columns] = Columns()

    @property
    def key_setting(self) -> str | None:
        (row,) = (row for row in ROWS if row.name == self.name)
        return row.fields["key"].upper() if row.has_key else None

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """The request for page `page` (1 is the first)."""
        raise NotImplementedError

    def rows(self, reply: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of a reply: its `results`. Raises SearchProviderParseError if there is no such list."""
        return records(reply, "results", self.name)

    def request(self, query: SearchQuery) -> HttpRequest:
        """See ports.Provider."""
        return self.page(query, 1)

    def next_page(self, query: SearchQuery, body: bytes, page: int) -> HttpRequest | None:
        """The next page, always, if the vendor has pages: most do not report whether there is one."""
        return self.page(query, page) if self.capabilities.paging else None

    def parse(self, body: bytes) -> list[Hit]:
        """See ports.Provider."""
        return linked(map(self.hit, self.rows(reply_object(body, self.name))), self.name)

    def hit(self, row: Mapping[str, Any]) -> Hit | None:
        """The hit of a row; None if it has no link."""
        url, title, snippet, date, text, score = map(row.get, self.columns)
        return make_hit(
            self.name,
            url,
            title,
            snippet or opening(text),
            published=spoken_date(date, self.clock()),
            score=score if isinstance(score, float) else None,
            content=text,
        )

    def applied(self, query: SearchQuery) -> AppliedFilters:
        """See ports.Provider."""
        can = self.capabilities
        return AppliedFilters(
            freshness=bucket(query.freshness_hours) if can.freshness else None,
            region=query.region if self._sends(query, region=None) else None,
            domains="upstream" if self.sends_domains(query) else None,
            language=self.language(query),
            safe_search=query.safe_search if can.safe_search else None,
            news=can.news and query.topic == "news",
            max_results=can.max_results,
        )

    def language(self, query: SearchQuery) -> str | None:
        """The language that is applied: one that changes the request."""
        return query.language if self._sends(query, language=None) else None

    def sends_domains(self, query: SearchQuery) -> bool:
        """Whether `page` sends all domains of the query that can be sent together: whether they change the request."""
        return self._sends(query, include_domains=(), exclude_domains=())

    def _sends(self, query: SearchQuery, **unset: Any) -> bool:
        return self.request(query) != self.request(replace(query, **unset))

    def since(self, query: SearchQuery, shape: str) -> str | None:
        """The first day of the freshness, formatted, for vendors that take a date."""
        freshness = bucket(query.freshness_hours)
        if freshness is None:
            return None
        return format(self.clock() - timedelta(days=_DAYS[freshness]), shape)


def given(**fields: Any) -> dict[str, Any]:
    """The fields that have a value: vendors refuse null and empty ones."""
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the table with its provider module, which `build` imports."""

    row: ProviderRow

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def needs(self) -> tuple[str, ...]:
        """The settings that it requires: those without a default."""
        needs = []
        for setting in self.row.fields.values():
            has_default = Settings.model_fields[setting].default is not None
            if not has_default and setting not in self.row.optional:
                needs.append(setting)
        return tuple(needs)

    def missing(self, settings: Settings) -> list[str]:
        """The environment variables of required settings that are not set."""
        return [need.upper() for need in self.needs if not getattr(settings, need)]

    def build(self, settings: Settings) -> Provider:
        """Create the provider from its settings."""
        make: Callable[..., Provider] = _class_of(self)
        fields = {}
        for field_name, setting in self.row.fields.items():
            fields[field_name] = _plain(getattr(settings, setting))
        return make(**fields)


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


PROVIDERS: tuple[Entry, ...] = tuple(map(Entry, ROWS))
"""Every provider, in the order in which searches try them."""


def configured(settings: Settings) -> list[Provider]:
    """The providers to try, in order: those that SEARCH_PROVIDERS names, else all whose required settings are set.

    One that uses the key of an answer engine serves only if it is named.

    Raises:
        SearchNotConfiguredError: an unknown name or a named provider without its key.
    """
    usual = [entry for entry in PROVIDERS if not entry.missing(settings) and not entry.row.engine]
    entries = _named(settings) or usual
    return [entry.build(settings) for entry in entries]


def absent(settings: Settings) -> dict[str, str]:
    """The providers that `configured` leaves out, each with the change that would enable it."""
    chosen = {provider.name for provider in configured(settings)}
    return {entry.name: _remedy(entry, settings) for entry in PROVIDERS if entry.name not in chosen}


def advice(settings: Settings) -> str:
    """If no provider has a key: which keys to buy, the cheapest first, and where; else empty.

    Providers that need no key often block callers, or cover little.
    """
    names = {provider.name for provider in configured(settings)}
    if any(entry.needs for entry in PROVIDERS if entry.name in names):
        return ""
    sold = list(filter(None, map(_sold, PROVIDERS)))
    cheapest = sorted(sold, key=lambda offer: offer.usd)[:_MOST_ADVISED]
    keys = " or ".join(map(str, cheapest))
    # The two keys that people most often have already.
    alternatives = []
    if "TAVILY_API_KEY" not in keys:
        alternatives.append("TAVILY_API_KEY works as well")
    if not getattr(settings, "openai_api_key", None):
        alternatives.append("OPENAI_API_KEY answers without any of them")
    return ". ".join([f"No search provider has a key here: set {keys}", *alternatives]) + "."


class _Offer(NamedTuple):
    """What a provider costs (USD a request), its key, and the page of its prices."""

    usd: float
    key: str
    page: str

    def __str__(self) -> str:
        return f"{self.key} (USD {self.usd:g} a request, {self.page})"


def _sold(entry: Entry) -> _Offer | None:
    """The offer of a provider that needs only one key and is not being shut down."""
    can: Capabilities = _class_of(entry).capabilities
    if not can.cost_per_call_usd or can.ends or len(entry.needs) > 1 or entry.row.engine:
        return None
    page = can.price_source.partition(",")[0]
    return _Offer(can.cost_per_call_usd, entry.needs[0].upper(), page)


def _class_of(entry: Entry) -> Any:
    """The class of a provider: the one of its module that has its name."""
    module = import_module(f"{__package__}.{entry.row.module or entry.name}")
    for member in vars(module).values():
        if isinstance(member, type) and getattr(member, "name", None) == entry.name:
            return member
    raise LookupError(f"{module.__name__} has no provider {entry.name}")


def _remedy(entry: Entry, settings: Settings) -> str:
    missing = entry.missing(settings)
    steps = [f"set {' and '.join(missing)}"] if missing else []
    if not missing or entry.row.engine:
        steps.append(f"add {entry.name} to SEARCH_PROVIDERS")
    return " and ".join(steps)


def _named(settings: Settings) -> list[Entry]:
    table = {entry.name: entry for entry in PROVIDERS}
    names = list(dict.fromkeys(name.lower() for name in settings.search_providers))
    for name in names:
        if name not in table:
            known_names = ", ".join(table)
            raise SearchNotConfiguredError(
                f"SEARCH_PROVIDERS names {name!r}; the known providers are {known_names}."
            )
        missing = table[name].missing(settings)
        if missing:
            raise SearchNotConfiguredError(
                f"SEARCH_PROVIDERS names {name}, which needs {' and '.join(missing)}."
            )
    return [table[name] for name in names]
