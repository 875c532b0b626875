"""Stand-ins for the vendors; `stand_in` serves the recorded reply of every other search provider.

They refuse the same requests as the real APIs, with the same bodies: a change quotes the vendor's documentation.
"""

from websearch_gateway.sandbox.vendor import Vendor, stand_in
from websearch_gateway.sandbox.vendors.hosted_engines import ANTHROPIC, GEMINI
from websearch_gateway.sandbox.vendors.keyed_search import (
    BRAVE,
    EXA,
    FIRECRAWL,
    GOOGLE,
    JINA,
    LINKUP,
    SERPER,
    SYNTHETIC,
    TAVILY,
)
from websearch_gateway.sandbox.vendors.open_search import DUCKDUCKGO, SEARXNG, WIKIPEDIA
from websearch_gateway.sandbox.vendors.openai import OPENAI
from websearch_gateway.sandbox.vendors.own_servers import LLM, RERANKER
from websearch_gateway.sandbox.vendors.perplexity import PERPLEXITY
from websearch_gateway.sandbox.vendors.registries import NPM, PYPI
from websearch_gateway.settings import PROVIDERS

_WRITTEN: tuple[Vendor, ...] = (
    OPENAI,
    ANTHROPIC,
    GEMINI,
    PERPLEXITY,
    LLM,
    RERANKER,
    SERPER,
    TAVILY,
    BRAVE,
    GOOGLE,
    SYNTHETIC,
    EXA,
    FIRECRAWL,
    LINKUP,
    JINA,
    SEARXNG,
    DUCKDUCKGO,
    WIKIPEDIA,
    PYPI,
    NPM,
)
_NAMES = {vendor.name for vendor in _WRITTEN}

VENDORS: tuple[Vendor, ...] = (
    *_WRITTEN,
    *(stand_in(row) for row in PROVIDERS if row.name not in _NAMES and not row.engine),
)
"""Every vendor that the sandbox stands in for."""
