from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.common import (
    applying,
    count,
    declined,
    instructions,
    not_searched,
    not_written,
    objects,
    parsed,
    parsed_or_empty,
    typed,
)
from websearch_gateway.errors import Refused, SearchProviderParseError, Unavailable
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


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b"null", b'"text"', b"[" * 100_000])
def test_a_body_without_an_object_is_refused_or_empty(body: bytes) -> None:
    with pytest.raises(SearchProviderParseError, match="Vendor"):
        parsed(body, "Vendor")
    assert parsed_or_empty(body) == {}


def test_lone_surrogates_become_question_marks() -> None:
    assert parsed(rb'{"a": "x\ud800y", "\udfff": "\ud83d\ude00"}', "Vendor") == {"a": "x?y", "?": "\U0001f600"}


@given(st.dictionaries(st.text(), ANYTHING))
def test_an_object_arrives_as_it_is(value: dict[str, object]) -> None:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    assert parsed_or_empty(body) == parsed(body, "Vendor") == json.loads(body)


@given(ANYTHING)
def test_a_field_of_another_type_counts_as_empty(value: object) -> None:
    assert typed(str, value) == (value if isinstance(value, str) else "")
    assert all(isinstance(item, dict) for item in objects(value))
    assert count(value, 7) == (value if type(value) is int and value >= 0 else 7)


def test_only_notes_whose_condition_is_true_apply() -> None:
    assert applying({"first": 1, "second": 0, "third": "gone", "fourth": ""}) == ("first", "third")


def test_another_engine_replaces_a_bad_reply_but_not_a_declined_question() -> None:
    assert isinstance(declined(), Refused)
    for error in (not_searched("Vendor"), not_written("Vendor", None), not_written("Vendor", "max_tokens")):
        assert isinstance(error, Unavailable)
        assert "Vendor" in error.message
