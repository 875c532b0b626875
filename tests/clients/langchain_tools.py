"""Drives LangChain's Tavily and SearXNG tools against the server whose address is the argument."""

import json
import sys
import warnings

warnings.simplefilter("ignore")  # langchain-community warns of its own end

from langchain_community.utilities import SearxSearchWrapper  # noqa: E402
from langchain_tavily import TavilyExtract, TavilySearch  # noqa: E402

BASE, PAGE = sys.argv[1:3]
QUERY = "How do I descale an espresso machine?"
told = {"tavily_api_key": "tvly-any", "api_base_url": f"{BASE}/tavily"}
seen = {
    "search": TavilySearch(max_results=2, **told).invoke({"query": QUERY}),
    "bad_query": TavilySearch(**told).invoke({"query": "x"}),
    "extract": TavilyExtract(**told).invoke({"urls": [PAGE]}),
}
for name, host in (("prefix", f"{BASE}/searxng"), ("root", BASE), ("search", f"{BASE}/search")):
    searx = SearxSearchWrapper(searx_host=host)
    seen[f"{name}_run"] = searx.run(QUERY)
    seen[f"{name}_results"] = searx.results(QUERY, num_results=2)
print(json.dumps(seen, default=str))
