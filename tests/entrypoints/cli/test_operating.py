"""What operators do with the cache, as an agent and a person meet it: real processes over one SQLite file."""

from __future__ import annotations

import asyncio
import json
import os

import jsonschema
import pytest

from tests.entrypoints.command import run, start
from tests.entrypoints.conftest import Connect
from tests.entrypoints.stdio import structured
from websearch_gateway.sandbox import Sandbox

ASKED = {"query": "how tall is the eiffel tower"}
AGAIN = {"query": "eiffel tower height"}
SETTINGS = {"TOOLSETS": "answer,search,ops,admin"}


async def test_use_savings_and_size_are_told(connect: Connect) -> None:
    async with connect(**SETTINGS) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        price = structured(await client.call_tool("search_web", ASKED))["costUsd"]
        for again in (ASKED, AGAIN):
            assert structured(await client.call_tool("search_web", again))["costUsd"] == 0
        found = structured(await client.call_tool("web_search", {**ASKED, "max_results": 3}))
        await client.call_tool("web_search", {**ASKED, "max_results": 3})
        stats = structured(await client.call_tool("get_cache_stats", {}))
        (today,) = structured(await client.call_tool("get_server_stats", {}))["days"]
    jsonschema.validate(stats, tools["get_cache_stats"].output_schema or {})
    assert (stats["exactHits"], stats["semanticHits"], stats["misses"]) == (2, 1, 2)
    assert stats["hitRate"] == pytest.approx(3 / 5, abs=1e-4)
    pages = stats["entriesByKind"].pop("pages")
    assert stats["entriesByKind"] == {
        "answers": 1,
        "questions": 2,
        "web": 1,
        "raw": 0,
        "judgements": 0,
    }
    assert 1 <= pages <= 3
    assert stats["bytes"] == sum(stats["bytesByKind"].values()) > 0
    assert stats["inMemory"] == {"answers": 1, "questions": 2, "web": 1, "raw": 0, "pages": 0}
    assert 0 <= stats["newestSeconds"] <= stats["oldestSeconds"] < 60
    assert "warnings" not in stats
    assert price > 0
    assert (
        stats["savedTodayUsd"]
        == today["savedUsd"]
        == pytest.approx(2 * price + found["costUsd"], abs=1e-5)
    )


async def test_what_one_process_clears_another_asks_anew(
    connect: Connect, launch: Connect, sandbox: Sandbox
) -> None:
    async with launch(**SETTINGS) as one, connect(**SETTINGS) as other:
        annotations = {tool.name: tool.annotations for tool in (await one.list_tools()).tools}
        await one.call_tool("search_web", ASKED)
        assert structured(await other.call_tool("search_web", ASKED))["cache"] == "exact"
        cleared = structured(
            await one.call_tool("cache_clear", {"query": "How TALL is the Eiffel Tower"})
        )
        refused = await one.call_tool("cache_clear", {"olderThanHours": 0})
        wrong = await one.call_tool("cache_clear", {"olderThanHours": "soon"})
        assert structured(await one.call_tool("search_web", AGAIN))["cache"] == "miss"
        empty = structured(await one.call_tool("cache_clear", {}))
        again = structured(await one.call_tool("cache_clear", {}))
    assert annotations["cache_clear"] is not None
    assert annotations["cache_clear"].destructive_hint
    assert cleared["removedByKind"] == {"answers": 1, "questions": 1, "web": 0, "raw": 0}
    assert {structured(result)["error"]["code"] for result in (refused, wrong)} == {"VALIDATION"}
    assert empty["removedByKind"] == {
        "answers": 1,
        "questions": 1,
        "web": 0,
        "raw": 0,
        "pages": 0,
        "judgements": 0,
    }
    assert again["removed"] == 0
    assert sandbox.calls("openai") == 2


@pytest.fixture
def environment(served_environment: dict[str, str]) -> dict[str, str]:
    """The settings of the servers, for commands beside them."""
    return {**os.environ, **served_environment, "COLUMNS": "80"}


async def test_the_command_clears_beneath_a_running_server(
    launch: Connect, connect: Connect, environment: dict[str, str], sandbox: Sandbox
) -> None:
    async with launch(**SETTINGS) as client:
        await client.call_tool("search_web", ASKED)
        done = await asyncio.to_thread(
            start, environment, "cache", "clear", "--query", ASKED["query"], "--json"
        )
        assert json.loads(done.stdout)["removedByKind"] == {
            "answers": 1,
            "questions": 1,
            "web": 0,
            "raw": 0,
        }
        assert structured(await client.call_tool("search_web", AGAIN))["cache"] in (
            "miss",
            "semantic",
        )
    async with connect(**SETTINGS) as restarted:
        assert structured(await restarted.call_tool("search_web", ASKED))["cache"] != "exact"


def test_a_person_is_asked_before_everything_goes(environment: dict[str, str]) -> None:
    run(environment, "search", ASKED["query"])
    declined = run(environment, "cache", "clear", text="n\n")
    assert declined.returncode == 1
    assert json.loads(run(environment, "cache", "stats", "--json").stdout)["entries"] == 2
    accepted = run(environment, "cache", "clear", text="y\n")
    assert "Removed 2 entries: 1 answers, 1 questions." in accepted.stdout
    assert run(environment, "cache", "clear", "--yes").stdout == "There was nothing to remove.\n"


def test_what_cannot_be_meant_is_one_line(environment: dict[str, str]) -> None:
    done = run(environment, "cache", "clear", "--older-than", "-1")
    assert done.returncode == 1
    assert done.stderr.startswith("VALIDATION: `olderThanHours`")
    assert len(done.stderr.splitlines()) == 1


def test_costs_savings_and_latencies_are_shown(environment: dict[str, str]) -> None:
    for _ in range(2):
        run(environment, "search", ASKED["query"])
    (today,) = json.loads(run(environment, "stats", "--json").stdout)["days"]
    assert today["calls"] == 2
    assert today["latencyMs"]["p50"] <= today["latencyMs"]["p99"]
    assert today["usd"] == pytest.approx(today["savedUsd"], abs=1e-6)
    narrow = {**environment, "COLUMNS": "80"}
    shown = run(narrow, "stats").stdout
    assert max(map(len, shown.splitlines())) <= 80
    for expected in (today["day"], "openai", f"${today['usd']:.4f}", "the cache saved", "(50%)"):
        assert expected in shown
    cache = run(narrow, "cache", "stats").stdout
    assert max(map(len, cache.splitlines())) <= 80
    assert "2 entries" in cache


@pytest.mark.parametrize("narrowed", [("--query", "none"), ("--older-than", "")])
def test_a_word_for_nothing_clears_nothing(
    environment: dict[str, str], narrowed: tuple[str, str]
) -> None:
    refused = run(environment, "cache", "clear", *narrowed)
    assert refused.returncode == 1
    assert "The value says nothing" in refused.stderr
