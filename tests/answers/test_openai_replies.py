"""A reply of OpenAI is read in any shape, and never trusted."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from websearch_gateway.answers.common import CUT_OFF, FILTERED, Billed, lost_citations
from websearch_gateway.answers.openai import OpenAI
from websearch_gateway.errors import (
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
)
from websearch_gateway.models import Answer, Source

Recorded = Callable[[str], dict[str, Any]]

REPLIES = Path(__file__).parent / "openai_replies"
OPENAI = OpenAI(SecretStr(""), "https://o.example")


@pytest.fixture
def recorded() -> Callable[[str], dict[str, Any]]:
    """Reads `replies/NAME.json`."""
    return lambda name: json.loads((REPLIES / f"{name}.json").read_text(encoding="utf-8"))


def read(reply: Any) -> Answer:
    return OPENAI.parse(json.dumps(reply).encode())


def billed(reply: Any) -> Billed:
    return OPENAI.billed(json.dumps(reply).encode())


def with_text(text: str, *notes: dict[str, Any]) -> dict[str, Any]:
    """The smallest reply with a search and a text."""
    content = [{"type": "output_text", "text": text, "annotations": list(notes)}]
    call = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    return {"status": "completed", "output": [call, {"type": "message", "content": content}]}


def note(url: str, start: int, end: int) -> dict[str, Any]:
    return {
        "type": "url_citation",
        "url": url,
        "title": "t",
        "start_index": start,
        "end_index": end,
    }


def test_many_calls_are_read_with_every_citation_in_place(recorded: Recorded) -> None:
    reply = read(recorded("many_calls"))
    assert [reply.text[span.start : span.end] for span in reply.spans] == [
        f"([{host}]({url}?{query}utm_source=openai))"
        for host, url, query in (
            ("thornbury-lights.example", "https://www.thornbury-lights.example/history", ""),
            ("keepers.example", "https://keepers.example/towers/(north)", "id=7&"),
        )
        * 2
    ]
    assert {span.title for span in reply.spans} == {
        "Thornbury Lights – History",
        "Keepers | The north tower",
    }


def test_sources_are_those_cited_then_those_opened_then_those_found_each_once(
    recorded: Recorded,
) -> None:
    """Sources may have no URL (a weather feed), and a page may be opened by a null one."""
    assert [source.url for source in read(recorded("many_calls")).sources] == [
        "https://www.thornbury-lights.example/history?utm_source=openai",
        "https://keepers.example/towers/(north)?id=7&utm_source=openai",
        "https://harbours.example/list",
    ]


def test_tokens_and_searches_are_counted_as_billed(recorded: Recorded) -> None:
    assert billed(recorded("many_calls")) == Billed(
        prompt=12480, response=1310, cached=2048, searches=2
    )


def test_without_a_count_from_openai_only_search_items_are_billed(recorded: Recorded) -> None:
    reply = recorded("many_calls")
    del reply["tool_usage"]
    reply["output"].append(
        {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    )
    assert billed(reply).searches == 3


def test_an_answer_without_annotations_keeps_its_text(recorded: Recorded) -> None:
    reply = read(recorded("weather"))
    assert reply.text.startswith("In Thornbury it is 9 °C")
    assert (reply.spans, reply.sources) == ((), ())


def test_a_cut_off_answer_is_kept_and_marked(recorded: Recorded) -> None:
    reply = read(recorded("cut_off"))
    assert reply.warnings == (CUT_OFF,)
    assert reply.text[reply.spans[0].start : reply.spans[0].end].startswith("([ferries.example]")


def test_only_the_final_message_counts_and_its_parts_are_joined(recorded: Recorded) -> None:
    reply = read(recorded("phases"))
    assert reply.text == "It is 41.5 m high.\n\nSource: https://keepers.example/a"
    assert [reply.text[span.start : span.end] for span in reply.spans] == [
        "https://keepers.example/a"
    ]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("silent", SearchProviderError, "max_output_tokens"),
        ("from_memory", SearchProviderParseError, "without searching"),
        ("refusal", SearchValidationError, "declined"),
        ("failed", SearchProviderError, "server_error"),
    ],
)
def test_a_reply_without_a_usable_answer_says_why(
    recorded: Recorded, name: str, error: type[SearchError], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        read(recorded(name))
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("code", "error", "retryable"),
    [
        ("server_error", SearchProviderError, True),
        ("rate_limit_exceeded", SearchProviderError, True),
        ("insufficient_quota", SearchProviderError, False),
        ("vector_store_timeout", SearchProviderError, False),
        (None, SearchProviderError, False),
    ],
)
def test_a_failure_is_retried_by_its_code(
    recorded: Recorded, code: str | None, error: type[SearchError], retryable: bool
) -> None:
    with pytest.raises(error) as caught:
        read(
            recorded("failed") | {"error": {"code": code, "message": "sk-secret said the question"}}
        )
    assert getattr(caught.value, "retryable", None) is retryable
    assert "secret" not in str(caught.value)


def test_filtered_content_is_a_refusal_that_names_the_filter(recorded: Recorded) -> None:
    with pytest.raises(SearchValidationError, match="The content filter of OpenAI"):
        read(recorded("silent") | {"incomplete_details": {"reason": "content_filter"}})


def test_a_failed_search_does_not_count_as_a_search() -> None:
    reply = with_text("It is high.")
    reply["output"][0]["status"] = "failed"
    with pytest.raises(SearchProviderParseError, match="without searching"):
        read(reply)


def test_spans_counted_in_utf16_are_turned_into_python_offsets() -> None:
    url = "https://a.example/x"
    text = f"📌📌 High. ([a]({url})) 📌 Low. ([a]({url}))"
    starts = [
        len(text[:at].encode("utf-16-le")) // 2 for at in (text.index("([a]"), text.rindex("([a]"))
    ]
    reply = read(with_text(text, *(note(url, start, start + 26) for start in starts)))
    assert [reply.text[span.start : span.end] for span in reply.spans] == [f"([a]({url}))"] * 2
    assert [span.start for span in reply.spans] == [text.index("([a]"), text.rindex("([a]")]


def test_raw_markers_are_removed_and_a_span_on_one_ends_at_its_claim() -> None:
    marker = "\ue200cite\ue202turn0search0\ue201"
    text = f"It rains {marker}. It pours {marker}."
    reply = read(
        with_text(
            text, note("https://a.example", text.index(marker), text.index(marker) + len(marker))
        )
    )
    assert reply.text == "It rains. It pours."
    assert [(span.start, span.end) for span in reply.spans] == [(8, 8)]


@pytest.mark.parametrize(
    "odd",
    [
        {
            "type": "url_citation",
            "url": "https://a.example/x",
            "start_index": None,
            "end_index": None,
        },
        {"type": "url_citation", "url": "https://a.example/x"},
        {"type": "url_citation", "url": "https://a.example/x", "start_index": 9, "end_index": 3},
        {
            "type": "url_citation",
            "url": "https://a.example/x",
            "start_index": "0",
            "end_index": True,
        },
    ],
)
def test_a_citation_without_a_place_is_a_source(odd: dict[str, Any]) -> None:
    reply = read(with_text("It is high.", odd))
    assert (reply.spans, [source.url for source in reply.sources]) == ((), ["https://a.example/x"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'"x"',
        b"null",
        b'{"output": 3}',
        b"[" * 100_000,
        b"\xff\xfe",
        b"{}",
        b'{"output": []}',
    ],
)
def test_a_body_that_is_not_a_reply_is_a_parse_error(body: bytes) -> None:
    with pytest.raises(SearchProviderParseError):
        OPENAI.parse(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.data())
def test_any_field_may_be_anything(data: st.DataObject) -> None:
    """A compatible server or a new version may send null or another type anywhere: we answer or raise our own error."""
    reply = with_text("High. ([a](https://a.example))", note("https://a.example", 6, 30))
    reply |= {
        "error": None,
        "incomplete_details": None,
        "usage": {"input_tokens_details": {}},
        "tool_usage": {},
    }
    target: Any = reply
    for _ in range(data.draw(st.integers(0, 5))):
        keys = list(target) if isinstance(target, dict) else range(len(target))
        inner = [key for key in keys if isinstance(target[key], dict | list) and target[key]]
        if not inner:
            break
        target = target[data.draw(st.sampled_from(inner))]
    key = data.draw(
        st.sampled_from(list(target) if isinstance(target, dict) else range(len(target)))
    )
    target[key] = data.draw(json_values)
    with suppress(SearchError):
        assert read(reply).text


@pytest.mark.parametrize(("start", "end"), [(9, 3), (-4, 2), ("5", "9")])
def test_a_citation_without_usable_numbers_is_found_by_its_url(start: Any, end: Any) -> None:
    text = "Built in 1889 ([tower.example](https://tower.example/built))."
    (span,) = read(with_text(text, note("https://tower.example/built", start, end))).spans
    assert text[span.start : span.end] == "https://tower.example/built"


@pytest.mark.parametrize("opening", ["", "🗼 "])
@pytest.mark.parametrize(("start", "end"), [(900, 950), (3, 900)])
def test_a_citation_beyond_the_text_is_dropped_and_counted_unless_the_text_has_its_url(
    start: int, end: int, opening: str
) -> None:
    beyond = note("https://tower.example/built", start, end)
    reply = read(with_text(f"{opening}Built in 1889. It is 330 m high.", beyond))
    assert (reply.spans, reply.warnings) == ((), (lost_citations(1),))
    text = f"{opening}Built in 1889 ([tower.example](https://tower.example/built))."
    (span,) = read(with_text(text, beyond)).spans
    assert text[span.start : span.end] == "https://tower.example/built"


def test_a_citation_beyond_one_part_is_not_moved_into_the_next_one() -> None:
    reply = with_text("Built in 1889.", note("https://tower.example/built", 20, 30))
    reply["output"][1]["content"].append(
        {"type": "output_text", "text": "It is 330 m high.", "annotations": []}
    )
    assert read(reply).spans == ()


def test_a_citation_whose_fields_are_nested_is_read() -> None:
    text = "Built in 1889 ([tower.example](https://tower.example/built))."
    nested = note("https://tower.example/built", 14, 60)
    del nested["type"]
    (span,) = read(with_text(text, {"type": "url_citation", "url_citation": nested})).spans
    assert (span.url, span.title, text[span.start : span.end]) == (
        "https://tower.example/built",
        "t",
        text[14:60],
    )


def test_a_citation_whose_address_is_no_web_page_keeps_its_place_to_be_counted_where_links_are_checked() -> (
    None
):
    reply = read(with_text("Built in 1889.", note("javascript:alert(1)", 0, 14)))
    assert [span.url for span in reply.spans] == ["javascript:alert(1)"]
    assert reply.sources == ()


def test_a_cited_answer_without_a_search_item_was_searched_for() -> None:
    reply = with_text("Built in 1889 (https://a.example).", note("https://a.example", 15, 32))
    del reply["output"][0]
    assert read(reply).spans


def test_an_answer_that_the_filter_cut_off_says_so() -> None:
    reply = with_text("Built in 1889.") | {
        "status": "incomplete",
        "incomplete_details": {"reason": "content_filter"},
    }
    assert read(reply).warnings == (FILTERED,)


def test_a_citation_without_any_place_is_counted_as_lost() -> None:
    reply = read(with_text("Built in 1889.", note("https://tower.example/built", 9, 3)))
    assert (reply.spans, reply.warnings) == ((), (lost_citations(1),))
    assert reply.sources == (Source("https://tower.example/built"),)
