"""The keys that the stand-ins accept, and the settings that point a gateway at them. None of them is a secret."""

from __future__ import annotations

from urllib.parse import urlsplit

OPENAI_KEY = "sandbox-openai-key"
SERPER_KEY = "sandbox-serper-key"
TAVILY_KEY = "sandbox-tavily-key"
BRAVE_KEY = "sandbox-brave-key"
GOOGLE_KEY = "sandbox-google-key"
GOOGLE_ENGINE = "sandbox-engine"
SYNTHETIC_KEY = "sandbox-synthetic-key"


def environment(url: str) -> dict[str, str]:
    """The settings, by their environment names, with which a gateway takes the sandbox at `url` for the outside."""
    return {
        "OPENAI_API_KEY": OPENAI_KEY,
        "OPENAI_BASE_URL": f"{url}/openai/v1",
        "SERPER_API_KEY": SERPER_KEY,
        "SERPER_BASE_URL": f"{url}/serper",
        "TAVILY_API_KEY": TAVILY_KEY,
        "TAVILY_BASE_URL": f"{url}/tavily",
        "BRAVE_API_KEY": BRAVE_KEY,
        "BRAVE_BASE_URL": f"{url}/brave",
        "GOOGLE_API_KEY": GOOGLE_KEY,
        "GOOGLE_SEARCH_ENGINE_ID": GOOGLE_ENGINE,
        "GOOGLE_SEARCH_BASE_URL": f"{url}/google",
        "SYNTHETIC_API_KEY": SYNTHETIC_KEY,
        "SYNTHETIC_BASE_URL": f"{url}/synthetic",
        "SEARXNG_BASE_URL": f"{url}/searxng",
        "DUCKDUCKGO_BASE_URL": f"{url}/duckduckgo",
        "FETCH_ALLOW_PRIVATE_HOSTS": urlsplit(url).netloc,
    }
