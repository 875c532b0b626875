"""The clients of apps in JavaScript, from their registry, over a real socket."""

from __future__ import annotations

from typing import Any

import pytest

from tests.entrypoints.http.compatible.conftest import Run, RunAt

pytestmark = pytest.mark.timeout(300)


def test_the_clients_of_npm_get_what_they_need(run_node: Run, page: str) -> None:
    seen = run_node("clients.mjs")
    assert seen["search"]["results"][0]["url"] == page
    assert "citric acid" in seen["extract"]["results"][0]["rawContent"]
    assert "2 to 400" in seen["badQuery"][1]
    for name in ("generated", "streamed"):
        assert "330 metres" in seen[name]["text"]
        assert seen[name]["sources"][0]["url"].endswith("/pages/eiffel-tower")
    assert "330 metres" in seen["chat"]["text"]
    assert seen["openai"]["status"] == "completed"
    assert "330 metres" in seen["openai"]["text"]
    assert page in seen["mcpSearxng"]
    _holds_the_same_in_both(seen)
    assert seen["progress"]
    assert all(seen["progress"])


def test_the_typescript_sdk_accepts_what_every_tool_gives_and_its_errors(
    full_base: str, run_node_at: RunAt
) -> None:
    seen = run_node_at(full_base, "tools.mjs")
    assert seen["invalid"] == []
    assert len(seen["names"]) > 15
    assert {call["name"] for call in seen["calls"] if call["failed"]} == set(seen["names"])
    succeeded = {call["name"] for call in seen["calls"] if not call["failed"]}
    assert succeeded >= {
        "search_web",
        "check_claims",
        "web_search",
        "web_search_raw",
        "get_content",
        "read_from_page",
    }
    for call in seen["calls"]:
        (text,) = call["texts"]
        assert text.strip()
        if call["failed"]:
            assert call["structured"]["error"]["message"] in text, call["name"]


MOST_TOKENS = 1_350
"""Of the default list: names, descriptions and input schemas in o200k, which every conversation pays."""


def test_the_default_list_of_tools_costs_no_more_than_was_agreed(
    base: str, run_node_at: RunAt
) -> None:
    seen = run_node_at(base, "tools.mjs")
    assert seen["names"] == [
        "search_web",
        "check_claims",
        "web_search",
        "web_search_raw",
        "get_content",
        "read_from_page",
    ]
    assert 1_000 < sum(seen["tokens"]) <= MOST_TOKENS


def _holds_the_same_in_both(seen: dict[str, Any]) -> None:
    """A client of MCP that reads only the text, or only the structured content, has all that it needs."""
    answer = seen["search_web"]
    assert "330 metres" in answer["structured"]["text"]
    assert "330 metres tall, antennas included. [1]" in answer["text"]
    assert all(
        f" - {cited['url']}" in answer["text"] for cited in answer["structured"]["citations"]
    )
    found = seen["web_search"]
    assert len(found["structured"]["results"]) == 2
    for result in found["structured"]["results"]:
        assert all(
            result[name] in found["text"] for name in ("title", "link", "snippet", "page_content")
        )
    assert "costUsd" not in found["text"]
    read, gone = seen["get_content"]["structured"]["pages"]
    assert all(
        read[name] in seen["get_content"]["text"] for name in ("title", "url", "page_content")
    )
    assert gone["error"]["code"] in seen["get_content"]["text"]
    assert gone["url"] in seen["get_content"]["text"]
