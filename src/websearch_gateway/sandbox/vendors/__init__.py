"""Stand-ins for the vendors, one file each; `stand_in` serves the recorded reply of every other search provider.

They refuse the same requests as the real APIs, with the same bodies: a change quotes the vendor's documentation.
"""

from websearch_gateway.sandbox.vendor import Vendor, stand_in
from websearch_gateway.sandbox.vendors.anthropic import ANTHROPIC
from websearch_gateway.sandbox.vendors.brave import BRAVE
from websearch_gateway.sandbox.vendors.duckduckgo import DUCKDUCKGO
from websearch_gateway.sandbox.vendors.exa import EXA
from websearch_gateway.sandbox.vendors.firecrawl import FIRECRAWL
from websearch_gateway.sandbox.vendors.gemini import GEMINI
from websearch_gateway.sandbox.vendors.google import GOOGLE
from websearch_gateway.sandbox.vendors.jina import JINA
from websearch_gateway.sandbox.vendors.linkup import LINKUP
from websearch_gateway.sandbox.vendors.llm import LLM
from websearch_gateway.sandbox.vendors.openai import OPENAI
from websearch_gateway.sandbox.vendors.perplexity import PERPLEXITY
from websearch_gateway.sandbox.vendors.registries import NPM, PYPI
from websearch_gateway.sandbox.vendors.reranker import RERANKER
from websearch_gateway.sandbox.vendors.searxng import SEARXNG
from websearch_gateway.sandbox.vendors.serper import SERPER
from websearch_gateway.sandbox.vendors.synthetic import SYNTHETIC
from websearch_gateway.sandbox.vendors.tavily import TAVILY
from websearch_gateway.sandbox.vendors.wikipedia import WIKIPEDIA
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
