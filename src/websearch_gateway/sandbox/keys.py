"""The keys that the stand-ins accept, and the settings that point a gateway at them. None of them is a secret."""

from __future__ import annotations

from urllib.parse import urlsplit

OPENAI_KEY = "sandbox-openai-key"
GOOGLE_ENGINE = "sandbox-engine"
LLM_MODEL = "sandbox-model"


def key_of(vendor: str) -> str:
    """The key that the stand-in for a vendor accepts."""
    return f"sandbox-{vendor}-key"


def environment(url: str) -> dict[str, str]:
    """The settings, by their environment names, that point a gateway at the sandbox at `url`.

    Of the answer engines only OpenAI is on, so that raw search answers where it fails; `engines` has the others.
    """
    from websearch_gateway.settings.vendors import (
        ENGINES,  # loads pydantic, which a server does not need
        PROVIDERS,
    )

    found = {
        "OPENAI_API_KEY": OPENAI_KEY,
        "OPENAI_BASE_URL": f"{url}/openai/v1",
        "GOOGLE_SEARCH_ENGINE_ID": GOOGLE_ENGINE,
        "PYPI_BASE_URL": f"{url}/pypi",
        "NPM_BASE_URL": f"{url}/npm",
        "FETCH_ALLOW_PRIVATE_HOSTS": urlsplit(url).netloc,
    }
    found = {f"{row.name.upper()}_BASE_URL": f"{url}/{row.name}" for row in ENGINES} | found
    for row in (row for row in PROVIDERS if not row.engine):
        language = "/{lang}" if "{lang}" in (row.base_url or "") else ""
        found[row.fields["base_url"].upper()] = f"{url}/{row.name}{language}"
        if row.has_key:
            found[row.fields["key"].upper()] = key_of(row.name)
    return found


def engines(url: str) -> dict[str, dict[str, str]]:
    """Answer engine besides OpenAI -> the settings that turn it on, in addition to those of `environment`."""
    from websearch_gateway.settings.vendors import ENGINES

    keyed = {row.name: {f"{row.name.upper()}_API_KEY": key_of(row.name)} for row in ENGINES if row.name != "openai"}
    return {**keyed, "llm": {"LLM_BASE_URL": f"{url}/llm/v1", "LLM_MODEL": LLM_MODEL}}
