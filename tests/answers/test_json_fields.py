"""Malformed JSON of a vendor does no harm."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.json_fields import count, objects, parsed, parsed_or_empty, typed
from websearch_gateway.errors import SearchProviderParseError

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
