"""MAX_REPLY_TOKENS holds for the compatible endpoints as it does for the tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.opening import Open
from websearch_gateway.entrypoints.http.compatible.table import COMPATIBLE
from websearch_gateway.entrypoints.reply.sizes import BYTES_PER_TOKEN
from websearch_gateway.models import LOCAL
from websearch_gateway.results import size_of
from websearch_gateway.sandbox import Sandbox

TOKENS = 2_000
QUERY = "How do I descale an espresso machine?"
BY_PATH = {row.paths[-1]: row for row in COMPATIBLE}
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    (
        "/tavily/search",
        {"query": QUERY, "max_results": 20, "include_raw_content": True, "include_answer": True},
    ),
    ("/tavily/search", {"query": QUERY, "max_results": 20, "search_depth": "advanced"}),
    ("/openwebui/search", {"query": QUERY, "count": 20}),
    ("/v1/responses", {"input": QUERY}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": QUERY}]}),
]


async def reply_of(gateway: Open, path: str, given: dict[str, Any]) -> Any:
    async with gateway(max_reply_tokens=TOKENS) as opened:
        reply = await BY_PATH[path].answer(opened, given, LOCAL)
    assert size_of(reply) <= TOKENS * BYTES_PER_TOKEN
    return reply


@pytest.mark.parametrize(("path", "given"), SEARCHES)
async def test_no_search_is_larger(gateway: Open, path: str, given: dict[str, Any]) -> None:
    assert await reply_of(gateway, path, given)


@pytest.mark.parametrize("path", ["/tavily/extract", "/openwebui/load"])
async def test_pages_that_are_read_together_share_the_reply(
    gateway: Open, sandbox: Sandbox, path: str
) -> None:
    urls = [f"{sandbox.url}/pages/descale-espresso-machine?n={number}" for number in range(8)]
    reply = await reply_of(gateway, path, {"urls": urls})
    pages = reply["results"] if isinstance(reply, dict) else reply
    texts = [page.get("raw_content") or page["page_content"] for page in pages]
    assert len(texts) == len(urls)
    assert all(texts)
