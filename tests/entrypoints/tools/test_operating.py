from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import jsonschema
import pytest

from tests.entrypoints.command import Done, run
from tests.entrypoints.conftest import Connect
from tests.entrypoints.stdio import structured
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.state.opening import open_state

ASKED = {"query": "how tall is the eiffel tower"}
AGAIN = {"query": "eiffel tower height"}


async def test_an_answer_serves_another_wording_also_after_a_restart(
    connect: Connect, sandbox: Sandbox
) -> None:
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
    for name, reply in [
        ("search_cached", unknown),
        ("search_web", again),
        ("search_similar", similar),
    ]:
        jsonschema.validate(structured(reply), tools[name].output_schema or {})
    assert structured(unknown)["found"] is False
    assert "cacheMatch" not in structured(asked)
    assert structured(again)["cache"] == "semantic"
    assert structured(again)["text"] == structured(asked)["text"]
    assert set(structured(again)["cacheMatch"]) == {"ageSeconds"}
    assert structured(other)["cache"] == "miss"
    assert {one["query"] for one in structured(similar)["results"]} >= {ASKED["query"]}
    assert (structured(found)["found"], structured(found)["cache"]) == (True, "semantic")
    assert structured(refused)["error"]["code"] == "VALIDATION"
    assert sandbox.calls("openai") == 2, "the cache's own tools ask nobody"


PASSWORD = "hunter2"


@pytest.fixture
async def environment(sandbox: Sandbox, tmp_path: Path) -> dict[str, str]:
    """Settings whose state holds three entries and a counter."""
    url = f"sqlite:///{tmp_path / 'source.db'}"
    state = open_state(url)
    for name in ("a", "b", "c"):
        await state.put(f"cache/{name}", b"v", ttl=600)
    await state.add("ledger/n", 5)
    await state.close()
    return {
        **os.environ,
        **sandbox.environment(),
        "DATA_DIR": str(tmp_path),
        "STATE_URL": url,
        "COLUMNS": "100",
    }


async def migrate(environment: dict[str, str], *arguments: str, text: str = "") -> Done:
    return await asyncio.to_thread(run, environment, "cache", "migrate", *arguments, text=text)


async def test_the_command_copies_and_counts(environment: dict[str, str], tmp_path: Path) -> None:
    target = f"sqlite:///{tmp_path / 'target.db'}"
    done = await migrate(environment, target)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3 entries copied to sqlite\n", "")
    result = json.loads(
        (await migrate(environment, "-", "--counters", "--json", text=f"{target}\n")).stdout
    )
    assert (result["copied"], result["counters"]) == (3, 1)
    state = open_state(target)
    assert [key async for key, _ in state.scan("")] == ["cache/a", "cache/b", "cache/c", "ledger/n"]
    await state.close()


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_the_password_of_a_target_is_never_shown(
    environment: dict[str, str], scheme: str
) -> None:
    done = await migrate(environment, f"{scheme}://somebody:{PASSWORD}@127.0.0.1:1/x", "--json")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert PASSWORD not in done.stdout + done.stderr


async def test_the_tool_copies_for_whoever_is_at_this_machine(
    launch, environment, tmp_path, log
) -> None:
    target = f"sqlite:///{tmp_path / 'target.db'}"
    async with launch(TOOLSETS="admin", STATE_URL=environment["STATE_URL"]) as client:
        result = await client.call_tool("cache_migrate", {"target": target})
        refused = await client.call_tool(
            "cache_migrate", {"target": f"postgresql://u:{PASSWORD}@127.0.0.1:1/x"}
        )
    assert not result.is_error
    assert result.structured_content["copied"] == 4, "the three, and when this caller last called"
    assert refused.is_error
    assert refused.structured_content["error"]["code"] == "PROVIDER"
    assert PASSWORD not in json.dumps(refused.structured_content) + log.read_text()
