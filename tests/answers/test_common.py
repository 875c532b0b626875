from __future__ import annotations

from datetime import UTC, datetime

from websearch_gateway.answers.common import applying, declined, instructions, not_searched, not_written
from websearch_gateway.errors import Refused, Unavailable
from websearch_gateway.models import SearchQuery

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_the_prompt_has_the_options_of_the_call_but_not_the_question() -> None:
    text = instructions(SearchQuery("a secret question", max_results=3, freshness_hours=48, language="fr"), NOW)
    assert "at most 3 different pages" in text
    assert "Prefer pages published or updated in the last 48 hours, that is since 2026-11-19 12:00 UTC" in text
    assert "ISO 639-1 code fr" in text
    assert "Today is 2026-11-21" in text
    assert "secret" not in text


def test_the_prompt_leaves_out_unset_options_and_begins_with_the_rules() -> None:
    plain, wishful = (instructions(query, NOW) for query in (SearchQuery("q"), SearchQuery("q", 3, 48)))
    assert "at most 800 characters" in plain
    assert "hours" not in plain
    assert "language with" not in plain
    assert plain.split("- Cite")[0] == wishful.split("- Cite")[0]


def test_only_notes_whose_condition_is_true_apply() -> None:
    assert applying({"first": 1, "second": 0, "third": "gone", "fourth": ""}) == ("first", "third")


def test_another_engine_replaces_a_bad_reply_but_not_a_declined_question() -> None:
    assert isinstance(declined(), Refused)
    for error in (not_searched("Vendor"), not_written("Vendor", None), not_written("Vendor", "max_tokens")):
        assert isinstance(error, Unavailable)
        assert "Vendor" in error.message
