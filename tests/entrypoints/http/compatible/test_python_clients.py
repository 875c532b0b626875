"""The clients of Python apps, from their registry, over a real socket."""

from __future__ import annotations

import pytest

from tests.entrypoints.http.compatible.conftest import Run

pytestmark = pytest.mark.timeout(300)


def test_tavily_python_searches_extracts_and_reads_errors(run_python: Run, page: str) -> None:
    seen = run_python("tavily_sdk.py")
    first = seen["search"]["results"][0]
    assert first["url"] == page
    assert "citric acid" in first["raw_content"]
    assert 0 <= first["score"] <= 1
    assert seen["search"]["images"] == []
    assert "soft water" in seen["search"]["answer"]
    assert "soft water" in seen["answer"]
    assert seen["fresh"]["results"] == []
    (extracted,) = seen["extract"]["results"]
    assert extracted["url"] == page
    assert "citric acid" in extracted["raw_content"]
    assert seen["extract"]["failed_results"][0]["url"] == "http://127.0.0.1:1/gone"
    assert seen["extract_one"]["results"][0]["url"] == page
    assert seen["bad_query"][0] == "BadRequestError"
    assert "2 to 400" in seen["bad_query"][1]
    assert seen["crawl"][0] == "BadRequestError"
    assert len(seen["keyless"]["results"]) == len(seen["async"]["results"]) == 1


def test_langchain_searches_by_tavily_and_by_searxng_at_each_base(
    run_python: Run, page: str
) -> None:
    seen = run_python("langchain_tools.py")
    assert seen["search"]["results"][0]["url"] == page
    assert "2 to 400" in str(seen["bad_query"])
    assert "citric acid" in seen["extract"]["results"][0]["raw_content"]
    for base in ("prefix", "root", "search"):
        assert "soft water" in seen[f"{base}_run"]
        assert len(seen[f"{base}_results"]) == 2
        assert seen[f"{base}_results"][0]["link"] == page


def test_the_openai_sdk_gets_answers_with_citations_plain_and_streamed(run_python: Run) -> None:
    seen = run_python("openai_sdk.py")
    search, message = seen["plain"]["output"]
    (part,) = message["content"]
    cited = part["annotations"][0]
    assert "330 metres" in part["text"]
    assert cited["url"] in part["text"][cited["start_index"] : cited["end_index"]]
    assert search["action"]["sources"]
    assert seen["events"][0] == "response.created"
    assert seen["events"][-1] == "response.completed"
    assert seen["final"]["output"][1]["content"][0]["text"] == part["text"]
    assert seen["final"]["output"][1]["content"][0]["annotations"] == part["annotations"]
    told = seen["completion"]["choices"][0]["message"]
    assert told["content"] == part["text"]
    assert told["annotations"][0]["url_citation"]["url"] == cited["url"]
    assert seen["streamed"]["choices"][0]["message"]["content"] == part["text"]
    assert seen["streamed"]["usage"]["total_tokens"] >= 0
    assert seen["models"] == ["search_web"]
    for refused in (seen["bad"], seen["bad_stream"]):
        assert refused[0] == "BadRequestError"
        assert refused[2] == "validation"


def test_the_example_for_the_openai_agents_sdk_answers_plain_and_streamed(run_python: Run) -> None:
    seen = run_python("openai_agents.py")
    assert "330 metres" in seen["plain"]
    assert seen["streamed"] == seen["plain"]
    assert "raw_response_event" in seen["kinds"]
