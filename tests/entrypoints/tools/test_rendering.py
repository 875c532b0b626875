"""The text of a result holds what a model needs, in fewer characters than its JSON."""

from __future__ import annotations

import json

import pytest

from tests.entrypoints.conftest import Connect
from websearch_gateway.sandbox import Sandbox

QUERY = "How do I descale an espresso machine?"


@pytest.mark.timeout(300)
async def test_a_client_that_reads_only_text_gets_everything_it_needs(connect: Connect, sandbox: Sandbox) -> None:
    page, gone = f"{sandbox.url}/pages/descale-espresso-machine", f"{sandbox.url}/pages/special/not-found"
    calls = {
        "web_search": {"query": QUERY, "num_results": 2},
        "web_search_raw": {"query": QUERY},
        "get_content": {"urls": [page, gone]},
        "read_from_page": {"url": page, "query": "How often?"},
    }
    async with connect() as client:
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            text = result.content[0].text  # type: ignore[union-attr]
            assert page in text, name
            assert len(text) < len(json.dumps(result.structured_content, ensure_ascii=False)), name
            if name == "get_content":
                assert result.structured_content is not None
                read, failed = result.structured_content["pages"]
                assert "citric acid" in read["page_content"]
                assert read["page_content"] in text
                assert failed["error"]["code"] == "FETCH"
                assert "could not be read" in text
        both = await client.call_tool("get_content", {"url": page, "urls": [page]})
        assert both.is_error
