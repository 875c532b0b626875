"""The keys that the stand-ins accept, and the settings that point a gateway at them. None of them is a secret."""

from __future__ import annotations

from urllib.parse import urlsplit

OPENAI_KEY = "sandbox-openai-key"
GOOGLE_ENGINE = "sandbox-engine"
LLM_MODEL = "sandbox-model"
ENGINES = ("anthropic", "gemini", "perplexity")
"""The answer engines besides OpenAI that have keys."""


def key_of(vendor: str) -> str:
    """The key that the stand-in for a vendor accepts."""
    return f"sandbox-{vendor}-key"


def environment(url: str) -> dict[str, str]:
    """The settings, by their environment names, that point a gateway at the sandbox at `url`.

    Of the answer engines only OpenAI is on, so that raw search answers where it fails; `engines` has the others.
    """
    from websearch_gateway.settings.providers import PROVIDERS  # loads pydantic, which a server does not need

    found = {
        "OPENAI_API_KEY": OPENAI_KEY,
        "OPENAI_BASE_URL": f"{url}/openai/v1",
        "GOOGLE_SEARCH_ENGINE_ID": GOOGLE_ENGINE,
        "FETCH_ALLOW_PRIVATE_HOSTS": urlsplit(url).netloc,
    }
    found |= {f"{name.upper()}_BASE_URL": f"{url}/{name}" for name in ENGINES}
    for row in PROVIDERS:
        language = "/{lang}" if "{lang}" in (row.base_url or "") else ""
        found[row.fields["base_url"].upper()] = f"{url}/{row.name}{language}"
        if row.has_key:
            found[row.fields["key"].upper()] = key_of(row.name)
    return found


def engines(url: str) -> dict[str, dict[str, str]]:
    """Answer engine besides OpenAI -> the settings that turn it on, in addition to those of `environment`."""
    keyed = {name: {f"{name.upper()}_API_KEY": key_of(name)} for name in ENGINES}
    return {**keyed, "llm": {"LLM_BASE_URL": f"{url}/llm/v1", "LLM_MODEL": LLM_MODEL}}
