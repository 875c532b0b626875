"""Drives tavily-python against the server whose address is the argument, and prints what it made of the replies."""

import asyncio
import json
import sys

import tavily

BASE = f"{sys.argv[1]}/tavily/"  # the slash at the end gives /tavily//search
PAGE = sys.argv[2]
QUERY = "How do I descale an espresso machine?"


def error_of(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the class is what is observed
        return [type(error).__name__, str(error)]
    return None


client = tavily.TavilyClient(api_key="tvly-any", api_base_url=BASE)
gone = "http://127.0.0.1:1/gone"
seen = {
    "search": client.search(
        QUERY,
        max_results=2,
        include_answer="basic",
        include_raw_content="markdown",
        topic="general",
    ),
    "answer": client.qna_search(QUERY),
    "fresh": client.search(QUERY, time_range="week", include_domains=["example.org"], foo="bar"),
    "extract": client.extract([PAGE, gone]),
    "extract_one": client.extract(PAGE),
    "bad_query": error_of(lambda: client.search("x")),
    "crawl": error_of(lambda: client.crawl(PAGE)),
    "keyless": tavily.TavilyClient(api_base_url=BASE).search(QUERY, max_results=1),
    "async": asyncio.run(
        tavily.AsyncTavilyClient(api_key="k", api_base_url=BASE).search(QUERY, max_results=1)
    ),
}
print(json.dumps(seen))
