"""MAX_REPLY_TOKENS holds for the compatible endpoints as it does for the tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.opening import Open
from websearch_gateway.entrypoints.http.compatible import COMPATIBLE
from websearch_gateway.entrypoints.reply import BYTES_PER_TOKEN, size_of
from websearch_gateway.models import LOCAL
from websearch_gateway.sandbox import Sandbox

TOKENS = 2_000
QUERY = "How do I descale an espresso machine?"
BY_NAME = {row.name: row for row in COMPATIBLE}
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("tavily search", {"query": QUERY, "max_results": 20, "include_raw_content": True, "include_answer": True}),
    ("tavily search", {"query": QUERY, "max_results": 20, "search_depth": "advanced"}),
    ("open webui search", {"query": QUERY, "count": 20}),
    ("openai responses", {"input": QUERY}),
    ("openai chat completions", {"messages": [{"role": "user", "content": QUERY}]}),
]


async def reply_of(gateway: Open, name: str, given: dict[str, Any]) -> Any:
    async with gateway(max_reply_tokens=TOKENS) as opened:
        reply = await BY_NAME[name].answer(opened, given, LOCAL)
    assert size_of(reply) <= TOKENS * BYTES_PER_TOKEN
    return reply


@pytest.mark.parametrize(("name", "given"), SEARCHES)
async def test_no_search_is_larger(gateway: Open, name: str, given: dict[str, Any]) -> None:
    assert await reply_of(gateway, name, given)


@pytest.mark.parametrize("name", ["tavily extract", "open webui loader"])
async def test_pages_that_are_read_together_share_the_reply(gateway: Open, sandbox: Sandbox, name: str) -> None:
    urls = [f"{sandbox.url}/pages/descale-espresso-machine?n={number}" for number in range(8)]
    reply = await reply_of(gateway, name, {"urls": urls})
    pages = reply["results"] if isinstance(reply, dict) else reply
    texts = [page.get("raw_content") or page["page_content"] for page in pages]
    assert len(texts) == len(urls)
    assert all(texts)
