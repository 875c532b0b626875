"""The clients of apps in JavaScript, from their registry, over a real socket."""

from __future__ import annotations

from typing import Any

import pytest

from tests.entrypoints.http.compatible.conftest import Run

pytestmark = pytest.mark.timeout(300)


def test_the_clients_of_npm_get_what_they_need(run_node: Run, page: str) -> None:
    seen = run_node("clients.mjs")
    assert seen["search"]["results"][0]["url"] == page
    assert "citric acid" in seen["extract"]["results"][0]["rawContent"]
    assert "3 to 400" in seen["badQuery"][1]
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


def _holds_the_same_in_both(seen: dict[str, Any]) -> None:
    """A client of MCP that reads only the text, or only the structured content, has all that it needs."""
    answer = seen["search_web"]
    assert "330 metres" in answer["structured"]["text"]
    assert "330 metres tall, antennas included. [1]" in answer["text"]
    assert all(f" - {cited['url']}" in answer["text"] for cited in answer["structured"]["citations"])
    found = seen["web_search"]
    assert len(found["structured"]["results"]) == 2
    for result in found["structured"]["results"]:
        assert all(result[name] in found["text"] for name in ("title", "link", "snippet", "page_content"))
    assert "costUsd" in found["text"]
    read, gone = seen["get_content"]["structured"]["pages"]
    assert all(read[name] in seen["get_content"]["text"] for name in ("title", "url", "page_content"))
    assert gone["error"]["code"] in seen["get_content"]["text"]
    assert gone["url"] in seen["get_content"]["text"]
