"""Raw search vendors, one small file each; PROVIDERS is the ordered table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import SecretStr

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.ports import Provider
from websearch_gateway.providers.brave import Brave
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.searxng import Searxng
from websearch_gateway.providers.serper import Serper
from websearch_gateway.providers.synthetic import Synthetic
from websearch_gateway.providers.tavily import Tavily
from websearch_gateway.settings import Settings

__all__ = ["PROVIDERS", "Entry", "absent", "configured"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A provider, the settings without which it cannot work, and how it is made out of all settings."""

    name: str
    needs: tuple[str, ...]
    build: Callable[[Settings], Provider]

    def missing(self, settings: Settings) -> list[str]:
        """The environment's names of the needed settings that are not set."""
        return [need.upper() for need in self.needs if not getattr(settings, need)]


def _key(settings: Settings, name: str) -> str:
    secret: SecretStr = getattr(settings, name)
    return secret.get_secret_value()


PROVIDERS: tuple[Entry, ...] = (
    # Google's results, fast and the cheapest of the paid ones.
    Entry("serper", ("serper_api_key",), lambda s: Serper(_key(s, "serper_api_key"), s.serper_base_url)),
    # Made for agents: long snippets and a score.
    Entry("tavily", ("tavily_api_key",), lambda s: Tavily(_key(s, "tavily_api_key"), s.tavily_base_url)),
    # An index of its own, for when Google's is what is missing.
    Entry("brave", ("brave_api_key",), lambda s: Brave(_key(s, "brave_api_key"), s.brave_base_url)),
    # Ends on 2027-01-01, and its days are rationed.
    Entry(
        "google",
        ("google_api_key", "google_search_engine_id"),
        lambda s: Google(
            _key(s, "google_api_key"), s.google_search_engine_id or "", s.google_search_base_url, s.google_safe_search
        ),
    ),
    # No filters, but pages come with their text.
    Entry("synthetic", ("synthetic_api_key",), lambda s: Synthetic(_key(s, "synthetic_api_key"), s.synthetic_base_url)),
    # Free, if you run it.
    Entry("searxng", ("searxng_base_url",), lambda s: Searxng(s.searxng_base_url or "")),
    # Needs nothing and may block at any time, hence last.
    Entry("duckduckgo", (), lambda s: DuckDuckGo(s.duckduckgo_base_url)),
)


def configured(settings: Settings) -> list[Provider]:
    """The providers to ask, in order: those that SEARCH_PROVIDERS names, else every one that has what it needs.

    Raises:
        SearchNotConfiguredError: an unknown name or a named provider without its key.
    """
    entries = _named(settings) or [entry for entry in PROVIDERS if not entry.missing(settings)]
    return [entry.build(settings) for entry in entries]


def absent(settings: Settings) -> dict[str, str]:
    """The providers that `configured` leaves out, each with what would make it serve."""
    chosen = {provider.name for provider in configured(settings)}
    return {entry.name: _remedy(entry, settings) for entry in PROVIDERS if entry.name not in chosen}


def _remedy(entry: Entry, settings: Settings) -> str:
    missing = entry.missing(settings)
    return f"set {' and '.join(missing)}" if missing else f"add {entry.name} to SEARCH_PROVIDERS"


def _named(settings: Settings) -> list[Entry]:
    table = {entry.name: entry for entry in PROVIDERS}
    names = list(dict.fromkeys(name.lower() for name in settings.search_providers))
    for name in names:
        if name not in table:
            raise SearchNotConfiguredError(f"SEARCH_PROVIDERS names {name!r}, which is none of {', '.join(table)}.")
        if missing := table[name].missing(settings):
            raise SearchNotConfiguredError(f"SEARCH_PROVIDERS names {name}, which needs {' and '.join(missing)}.")
    return [table[name] for name in names]
