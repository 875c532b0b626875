"""ENGINES, the ordered table of answer engines that are HTTP APIs. Settings, engines and documents derive from it.

The code of an engine is the file with its name in `answers/`; docs/adding-an-engine.md says what belongs in it.
"""

from __future__ import annotations

from dataclasses import dataclass
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


def _settings_of(row: EngineRow) -> dict[str, Any]:
    models = "Models in order; if one is gone, the next is used."
    return {
        f"{row.name}_api_key": (Key, Field(None, description=f"Key for {row.title}.")),
        f"{row.name}_base_url": (Url, Field(row.base_url, description=f"Base URL of {row.title}'s API.")),
        f"{row.name}_models": (Names, Field(row.models, description=models)),
    }


if TYPE_CHECKING:

    class EngineSettings(_OwnModel):
        """Answer engines"""
else:
    EngineSettings = create_model(
        "EngineSettings",
        __base__=_OwnModel,
        __doc__="Answer engines",
        __module__=__name__,
        **{name: definition for row in ENGINES for name, definition in _settings_of(row).items()},
    )
