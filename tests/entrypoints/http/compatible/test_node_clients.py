"""The clients of apps in JavaScript, from their registry, over a real socket."""

from __future__ import annotations

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
