"""PROVIDERS, the ordered table of search vendors. Settings, providers, sandbox and documents derive from it.

The code of a provider is the file with its name in `providers/`; docs/adding-a-provider.md says what belongs in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from websearch_gateway.settings.groups import Key, OptionalUrl, SettingsGroup, Url


@dataclass(frozen=True, slots=True)
class ProviderRow:
    """A search vendor.

    Attributes:
        name: lower case; also the name of its module in `providers/`.
        title: as the vendor writes it.
        base_url: the part before the vendor's own path; None when every operator has a server of their own.
        has_key: whether it needs `NAME_API_KEY`.
        note: a sentence for the description of its first setting.
        settings: field of the provider -> setting, for fields other than `key` and `base_url` or with another name;
            `groups.py` defines those settings.
        optional: those of these settings that it does not require.
        engine: the answer engine of the same vendor, whose key and base URL it uses. Such a provider serves only if
            SEARCH_PROVIDERS names it, since its key may be meant for the engine alone.
    """

    name: str
    title: str
    base_url: str | None
    has_key: bool = True
    note: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    engine: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """Field of the provider -> the setting that fills it."""
        prefix = self.engine or self.name
        own = {"key": f"{prefix}_api_key"} if self.has_key else {}
        return {**own, "base_url": f"{prefix}_base_url", **self.settings}


PROVIDERS: tuple[ProviderRow, ...] = (
    # Google's results, fast and the cheapest of the paid ones.
    ProviderRow("serper", "Serper", "https://google.serper.dev"),
    # Made for agents: long snippets and a score.
    ProviderRow("tavily", "Tavily", "https://api.tavily.com"),
    # An index of its own, for when Google's index is unavailable.
    ProviderRow("brave", "Brave Search", "https://api.search.brave.com"),
    # Ends on 2027-01-01, and has a daily quota.
    ProviderRow(
        "google",
        "Google Custom Search",
        "https://www.googleapis.com",
        note="GOOGLE_SEARCH_ENGINE_ID is needed too.",
        settings={
            "base_url": "google_search_base_url",
            "engine_id": "google_search_engine_id",
            "safe_search": "google_safe_search",
        },
    ),
    # No filters, but returns the text of pages.
    ProviderRow("synthetic", "synthetic.new", "https://api.synthetic.new"),
    # The next four return the text of pages too. The first has an index of its own.
    ProviderRow("exa", "Exa", "https://api.exa.ai"),
    # Reads the pages that it finds, in a browser.
    ProviderRow("firecrawl", "Firecrawl", "https://api.firecrawl.dev"),
    # Long excerpts.
    ProviderRow("linkup", "Linkup", "https://api.linkup.so"),
    # Results of other search engines; slow, because it reads their pages.
    ProviderRow("jina", "Jina", "https://s.jina.ai"),
    # Without the vendor's models.
    ProviderRow("perplexity_search", "Perplexity Search", "https://api.perplexity.ai", engine="perplexity"),
    # Free, if you run it.
    ProviderRow("searxng", "SearXNG", None, has_key=False, note="It must allow `format=json`."),
    # Needs no key and may block at any time.
    ProviderRow("duckduckgo", "DuckDuckGo", "https://html.duckduckgo.com", has_key=False),
    # Needs no key and is always available, but covers only an encyclopaedia, hence last.
    ProviderRow(
        "wikipedia",
        "Wikipedia",
        "https://{lang}.wikipedia.org",
        has_key=False,
        note="`{lang}` stands for the question's language.",
        settings={"contact": "contact_url"},
        optional=("contact_url",),
    ),
)


def _settings_of(row: ProviderRow) -> dict[str, Any]:
    """The definitions of the row's own settings, by name."""
    note = f" {row.note}" if row.note else ""
    found: dict[str, Any] = {}
    if row.has_key:
        found[row.fields["key"]] = (Key, Field(None, description=f"Key for {row.title}.{note}"))
        note = ""
    if row.base_url is None:
        about = f"Base URL of your {row.title} server.{note}"
        found[row.fields["base_url"]] = (OptionalUrl, Field(None, description=about))
    else:
        about = f"Base URL of {row.title}.{note}"
        found[row.fields["base_url"]] = (Url, Field(row.base_url, description=about))
    return found


if TYPE_CHECKING:

    class ProviderSettings(SettingsGroup):
        """Search providers"""
else:
    ProviderSettings = create_model(
        "ProviderSettings",
        __base__=SettingsGroup,
        __doc__="Search providers",
        __module__=__name__,
        **{name: definition for row in PROVIDERS if not row.engine for name, definition in _settings_of(row).items()},
    )
