"""Structured data: lean, and valid by the schema that is listed."""

from __future__ import annotations

import jsonschema
import pytest

from websearch_gateway.entrypoints.mcp.schemas import output_schema
from websearch_gateway.entrypoints.reply.structured import lean
from websearch_gateway.entrypoints.tools.table import TOOLS
from websearch_gateway.results import (
    Citation,
    CitedSpan,
    DocsHit,
    DocsSearchResponse,
    PageContent,
    PagePassage,
    PagePassages,
    QueryPassages,
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    WireModel,
)


def test_nulls_and_empty_lists_are_left_out_and_warnings_come_first() -> None:
    span = CitedSpan(start_index=0, end_index=4)
    citation = Citation(url="https://a.example", spans=(span,))
    data = lean(SearchResponse(text="High", citations=(citation,), warnings=("w",)))
    assert next(iter(data)) == "warnings"
    assert data["citations"][0].keys() == {
        "url",
        "title",
        "textSnippet",
        "startIndex",
        "endIndex",
        "rank",
        "spans",
    }
    assert data["citations"][0]["spans"] == [{"startIndex": 0, "endIndex": 4}]
    assert data["filters"] == {"freshness": {}, "region": {}}
    assert (
        not {"sources", "model", "fallback", "error", "cacheMatch", "searchSuggestions"}
        & data.keys()
    )


@pytest.mark.parametrize(
    ("result", "field"),
    [
        (SearchResponse(), "citations"),
        (RawSearchResponse(), "queries"),
        (DocsSearchResponse(), "results"),
        (PagePassages(queries=(QueryPassages(query="x"),)), "queries"),
    ],
)
def test_a_list_that_is_the_result_stands_empty_or_not(result: WireModel, field: str) -> None:
    data = lean(result)
    assert field in data
    assert "warnings" not in data
    assert all("results" in query for query in data.get("queries", []))


def test_what_a_vendor_sent_stays_as_it_is() -> None:
    reply = {"items": [], "context": None, "queries": {"nextPage": [], "request": None}}
    (query,) = lean(RawSearchResponse(queries=(RawQuery(query="x", result=reply),)))["queries"]
    assert query["result"] == reply


def test_an_answer_has_its_own_age_and_words_however_often_it_was_asked_for() -> None:
    old = SearchResponse(text="High", cache="exact", age_seconds=3.0)
    assert lean(old)["ageSeconds"] == 3.0
    assert lean(old.model_copy(update={"age_seconds": 7.0})) == {**lean(old), "ageSeconds": 7.0}
    assert lean(old.model_copy(update={"text": "Low"})) == {**lean(old), "text": "Low"}


def test_names_are_those_of_the_wire_in_both_styles() -> None:
    assert lean(PageContent(page_content="x", next_offset=3)).keys() >= {
        "page_content",
        "nextOffset",
        "totalChars",
    }
    (hit,) = lean(DocsSearchResponse(results=(DocsHit(section_id="1"),)))["results"]
    assert hit["section_id"] == "1"
    passages = (PagePassage(text="x"),)
    (query,) = lean(PagePassages(queries=(QueryPassages(query="x", results=passages),)))["queries"]
    assert query == {
        "query": "x",
        "results": [{"id": "", "text": "x", "score": 0.0, "sectionPath": []}],
    }


@pytest.mark.parametrize(
    "tool", [tool for tool in TOOLS if tool.has_data], ids=lambda tool: tool.name
)
def test_an_empty_result_validates_by_the_schema_of_its_tool(tool) -> None:  # type: ignore[no-untyped-def]
    jsonschema.validate(lean(tool.result()), output_schema(tool.result))
