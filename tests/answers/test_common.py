from __future__ import annotations

from datetime import UTC, datetime

import pytest

from websearch_gateway.answers.common import (
    applying,
    citing_links,
    declined,
    instructions,
    not_searched,
    not_written,
    without_options,
)
from websearch_gateway.errors import Refused, Unavailable
from websearch_gateway.models import Answer, SearchQuery, Source, Span

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_the_prompt_has_the_options_of_the_call_but_not_the_question() -> None:
    text = instructions(
        SearchQuery("a secret question", max_results=3, freshness_hours=48, language="fr"), NOW
    )
    assert "at most 3 different pages" in text
    assert (
        "Prefer pages published or updated in the last 48 hours, that is since 2026-11-19 12:00 UTC"
        in text
    )
    assert "ISO 639-1 code fr" in text
    assert "Today is 2026-11-21" in text
    assert "secret" not in text


def test_the_prompt_leaves_out_unset_options_and_begins_with_the_rules() -> None:
    plain, wishful = (
        instructions(query, NOW) for query in (SearchQuery("q"), SearchQuery("q", 3, 48))
    )
    assert "at most 800 characters" in plain
    assert "hours" not in plain
    assert "language with" not in plain
    assert plain.split("- Cite")[0] == wishful.split("- Cite")[0]


def test_only_notes_whose_condition_is_true_apply() -> None:
    assert applying({"first": 1, "second": 0, "third": "gone", "fourth": ""}) == ("first", "third")


def test_another_engine_replaces_a_bad_reply_but_not_a_declined_question() -> None:
    assert isinstance(declined(), Refused)
    for error in (
        not_searched("Vendor"),
        not_written("Vendor", None),
        not_written("Vendor", "max_tokens"),
    ):
        assert isinstance(error, Unavailable)
        assert "Vendor" in error.message


LINKED = "Built in 1889 ([a](https://a.example/x)). Painted later: https://b.example/y"


@pytest.mark.parametrize(
    ("found", "cited", "unfound"),
    [
        ((), ["https://a.example/x", "https://b.example/y"], 0),
        (("https://a.example/x",), ["https://a.example/x"], 1),
        (("https://c.example",), [], 2),
    ],
)
def test_an_answer_without_citations_cites_its_links_to_pages_that_were_found(
    found: tuple[str, ...], cited: list[str], unfound: int
) -> None:
    answer = citing_links(
        Answer(text=LINKED, spans=(), provider="p", sources=tuple(map(Source, found)))
    )
    assert [span.url for span in answer.spans] == cited
    assert all(span.url in LINKED[span.start : span.end] for span in answer.spans)
    told = (
        [f"Links in the answer to pages that its search did not find: {unfound}."]
        if unfound
        else []
    )
    assert [warning for warning in answer.warnings if "did not find" in warning] == told
    assert any("taken for them" in warning for warning in answer.warnings) is bool(cited)


def test_an_answer_with_citations_keeps_exactly_these() -> None:
    given = Answer(text=LINKED, spans=(Span("https://a.example/x", "", 14, 40),), provider="p")
    assert citing_links(given) == given
    bare = Answer(text="Built in 1889.", spans=(), provider="p")
    assert citing_links(bare) == bare


def test_a_request_loses_the_refused_options_also_within_its_tools() -> None:
    body = {
        "model": "m",
        "include": ["x"],
        "tools": [{"type": "web_search", "search_context_size": "low"}],
    }
    assert without_options(body, {"include", "search_context_size"}) == {
        "model": "m",
        "tools": [{"type": "web_search"}],
    }
    assert without_options(body, ()) == body
