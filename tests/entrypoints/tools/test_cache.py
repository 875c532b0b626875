"""`search_cached`, `search_similar` and the semantic cache as an agent meets them: over a real pipe."""

from __future__ import annotations

import jsonschema

from tests.entrypoints.conftest import Connect
from tests.entrypoints.stdio import structured
from websearch_gateway.sandbox import Sandbox

ASKED = {"query": "how tall is the eiffel tower"}
AGAIN = {"query": "eiffel tower height"}


async def test_an_answer_serves_another_wording_also_after_a_restart(connect: Connect, sandbox: Sandbox) -> None:
    settings = {"TOOLSETS": "answer,cache"}
    async with connect(**settings) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        unknown = await client.call_tool("search_cached", AGAIN)
        asked = await client.call_tool("search_web", ASKED)
        again = await client.call_tool("search_web", AGAIN)
        other = await client.call_tool("search_web", {"query": "how old is the eiffel tower"})
    async with connect(**settings) as client:
        similar = await client.call_tool("search_similar", {**AGAIN, "threshold": 0.5, "limit": 2})
        found = await client.call_tool("search_cached", AGAIN)
        refused = await client.call_tool("search_similar", {**AGAIN, "threshold": 7})
    for name, reply in [("search_cached", unknown), ("search_web", again), ("search_similar", similar)]:
        jsonschema.validate(structured(reply), tools[name].output_schema or {})
    assert structured(unknown)["found"] is False
    assert structured(asked)["cacheMatch"] is None
    assert structured(again)["cache"] == "semantic"
    assert structured(again)["text"] == structured(asked)["text"]
    assert set(structured(again)["cacheMatch"]) == {"similarity", "ageSeconds"}
    assert structured(other)["cache"] == "miss"
    assert {one["query"] for one in structured(similar)["results"]} >= {ASKED["query"]}
    assert (structured(found)["found"], structured(found)["cache"]) == (True, "semantic")
    assert structured(refused)["error"]["code"] == "VALIDATION"
    assert sandbox.calls("openai") == 2, "the cache's own tools ask nobody"
