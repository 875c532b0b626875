"""ENGINES and PROVIDERS, the ordered tables of vendors. Settings, engines, providers, sandbox and documents derive from
them.

The code of a row is the file with its name in `answers/` or `providers/`; docs/adding-an-engine.md and
docs/adding-a-provider.md say what belongs in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import Field, create_model

from websearch_gateway.settings.groups import Key, Names, OptionalUrl, SettingsGroup, Text, Url


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A vendor whose model searches and answers.

    Attributes:
        name: lower case; also the name of its module in `answers/`, and the start of its settings' names.
        title: as the vendor writes it.
        base_url: the part before the vendor's own path.
        models: the default models in order; the first is the cheapest without an end in the next year, unless the next
            one takes over.
    """

    name: str
    title: str
    base_url: str
    models: tuple[str, ...]


ENGINES: tuple[EngineRow, ...] = (
    EngineRow("openai", "OpenAI", "https://api.openai.com/v1", ("gpt-5-nano", "gpt-6-luna")),
    EngineRow("anthropic", "Anthropic", "https://api.anthropic.com", ("claude-haiku-5-5",)),
    EngineRow("gemini", "Gemini", "https://generativelanguage.googleapis.com", ("gemini-3.5-flash-lite",)),
    EngineRow("perplexity", "Perplexity", "https://api.perplexity.ai", ("perplexity/sonar",)),
)


class _OwnModel(SettingsGroup):
    """The settings that belong to no row."""

    answer_engines: Names = Field(
        (),
        description=f"Answer engines in order: {', '.join(row.name for row in ENGINES)}, llm. Default: all configured "
        "ones. Quotes from raw search always come last.",
    )
    llm_base_url: OptionalUrl = Field(
        None,
        description="Your own model: any OpenAI-compatible chat completions server, such as "
        "`http://localhost:11434/v1`. It writes from the pages that raw search finds.",
    )
    llm_model: Text = Field(None, description="The name of its model (needs LLM_BASE_URL too).")
    llm_api_key: Key = Field(None, description="Its key, if it requires one.")
    llm_evidence_tokens: int = Field(
        6000, ge=500, le=100_000, description="The most tokens of pages in its prompt; less than its context."
    )
    gemini_resolve_links: bool = Field(
        False,
        description="Resolve Gemini's source links through Google's redirect. Google's terms may forbid this to "
        "programs.",
    )


def _engine_settings(row: EngineRow) -> dict[str, Any]:
    models = "Models in order; if one is gone, the next is used."
    return {
        f"{row.name}_api_key": (Key, Field(None, description=f"Key for {row.title}.")),
        f"{row.name}_base_url": (Url, Field(row.base_url, description=f"Base URL of {row.title}'s API.")),
        f"{row.name}_models": (Names, Field(row.models, description=models)),
    }


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


def _provider_settings(row: ProviderRow) -> dict[str, Any]:
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

    class EngineSettings(_OwnModel):
        """Answer engines"""

    class ProviderSettings(SettingsGroup):
        """Search providers"""
else:

    def _group(name: str, title: str, base: type[SettingsGroup], settings: list[dict[str, Any]]) -> type[SettingsGroup]:
        fields = {name: definition for row in settings for name, definition in row.items()}
        return create_model(name, __base__=base, __doc__=title, __module__=__name__, **fields)

    EngineSettings = _group("EngineSettings", "Answer engines", _OwnModel, list(map(_engine_settings, ENGINES)))
    ProviderSettings = _group(
        "ProviderSettings",
        "Search providers",
        SettingsGroup,
        [_provider_settings(row) for row in PROVIDERS if not row.engine],
    )
