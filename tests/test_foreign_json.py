"""JSON that somebody else wrote is parsed in one place, and what that gives is harmless to its readers."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import websearch_gateway
from websearch_gateway.answers.common import parsed_or_empty
from websearch_gateway.errors import SearchProviderParseError
from websearch_gateway.foreign_json import (
    LONGEST_WHOLE,
    MALFORMED,
    MOST_BYTES,
    MOST_DEPTH,
    BadJson,
    count,
    objects,
    parse_json,
    parse_json_within,
    parse_strict_json,
    reading_reply,
    reply_object,
    typed,
)

PACKAGE = Path(websearch_gateway.__file__).parent
OWN_DATA = {
    "answers/openai.py": "a request that this process has written",
    "docs/search/model.py": "a file of the package",
    "docs/store/docs.py": "columns of the index",
    "docs/store/pages.py": "columns of the index",
    "entrypoints/http/app.py": "a message that the SDK parses again",
    "entrypoints/mcp/messages.py": "a message that the SDK parses again",
    "upstream/api_tokens.py": "records of the state",
    "evidence/ranking.py": "a file of the package",
    "pages/extraction/trees.py": "a file of the package",
    "base/workers/pool.py": "what a worker process sends",
}
"""Where JSON is parsed that no stranger wrote, or that is only inspected on its way to another parser."""

ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_no_other_module_parses_what_a_stranger_wrote() -> None:
    parsing = re.compile(r"json\.loads?\(|JSONDecoder\(|from_json\(")
    modules = {
        path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
        for path in PACKAGE.rglob("*.py")
    }
    found = {place for place, source in modules.items() if parsing.search(source)}
    assert {place for place in found if not place.startswith("sandbox/")} == {
        "foreign_json.py",
        *OWN_DATA,
    }


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[1,]",
        b"{",
        b'{"a":1} x',
        b"\xff",
        b"\x00",
        b"01",
        nested(MOST_DEPTH + 1),
        nested(900),
        nested(100_000),
        b"[" * 100_000,
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b"[" + b" " * MOST_BYTES + b"]",
    ],
    ids=lambda body: repr(body[:12]),
)
@pytest.mark.parametrize("parse", [parse_json, parse_strict_json])
def test_what_is_not_json_or_too_long_or_too_deep_is_refused_with_one_error(
    parse: Any, body: bytes
) -> None:
    with pytest.raises(BadJson) as caught:
        parse(body)
    assert isinstance(caught.value, ValueError)
    assert caught.value.__cause__ is None


def test_the_deepest_json_that_is_read_can_be_written_again() -> None:
    value = parse_json(nested(MOST_DEPTH - 1))
    assert json.dumps(value).encode() == nested(MOST_DEPTH - 1)


@pytest.mark.parametrize(
    ("text", "lenient"),
    [
        (b"NaN", None),
        (b"Infinity", None),
        (b"-Infinity", None),
        (b"1e400", None),
        (b"-1e999999999", None),
        (b"1e-400", 0.0),
        (b"9" * 400, None),
        (b"9" * 5_000, None),
        (b"9" * LONGEST_WHOLE, int("9" * LONGEST_WHOLE)),
        (b"-" + b"9" * (LONGEST_WHOLE - 1), -int("9" * (LONGEST_WHOLE - 1))),
    ],
    ids=lambda value: str(value)[:16],
)
def test_every_number_of_a_reply_fits_a_float(text: bytes, lenient: float | None) -> None:
    value = parse_json(b"[" + text + b"]")
    assert value == [lenient]
    assert value[0] is None or math.isfinite(float(value[0]))
    assert parse_json_within(text.decode() + " ", 0)[0] == lenient


@pytest.mark.parametrize(
    "text",
    [b"NaN", b"[-Infinity]", b"1e400", b'{"a":1,"a":2}', b'"\xed\xa0\x80"', b'[{"b":{"":0,"":0}}]'],
)
def test_what_two_readers_may_understand_in_two_ways_is_refused_where_it_matters(
    text: bytes,
) -> None:
    parse_json(text)
    with pytest.raises(BadJson):
        parse_strict_json(text)


def test_whole_numbers_of_a_strict_text_stay_exact() -> None:
    assert parse_strict_json(b"[123456789012345678901234567890]") == [
        123456789012345678901234567890
    ]


def test_halves_of_surrogate_pairs_become_question_marks() -> None:
    assert parse_json(b'["\xed\xa0\x80"]') == ["?"]
    body = rb'{"a": "x\ud800y", "\udfff": "\ud83d\ude00"}'
    assert parse_json(body) == reply_object(body, "Vendor") == {"a": "x?y", "?": "\U0001f600"}


@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b"null", b'"text"', b"[" * 100_000])
def test_a_reply_without_an_object_is_refused_or_empty(body: bytes) -> None:
    with pytest.raises(SearchProviderParseError, match="Vendor"):
        reply_object(body, "Vendor")
    assert parsed_or_empty(body) == {}


@given(st.dictionaries(st.text(), ANYTHING))
def test_an_object_arrives_as_it_is(value: dict[str, object]) -> None:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    assert (
        parsed_or_empty(body)
        == reply_object(body, "Vendor")
        == parse_strict_json(body)
        == json.loads(body)
    )


@given(st.binary(max_size=60) | ANYTHING.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_harmless_value_or_bad_json(body: bytes) -> None:
    try:
        value = parse_json(body)
    except BadJson:
        return
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


@given(ANYTHING)
def test_a_field_of_another_type_counts_as_empty(value: object) -> None:
    assert typed(str, value) == (value if isinstance(value, str) else "")
    assert all(isinstance(item, dict) for item in objects(value))
    assert count(value, 7) == (value if type(value) is int and value >= 0 else 7)


@pytest.mark.parametrize(
    "kind", [*MALFORMED, KeyError, IndexError, OverflowError, UnicodeError, ZeroDivisionError]
)
def test_whatever_a_reply_of_another_shape_raises_is_the_error_of_a_reply(
    kind: type[Exception],
) -> None:
    with pytest.raises(SearchProviderParseError, match="no list"), reading_reply("It is no list."):
        raise kind
