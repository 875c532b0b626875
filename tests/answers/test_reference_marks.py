"""Reference marks become spans on exactly those marks; numbers without a source disappear."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.reference_marks import numbers_of, resolve_marks
from websearch_gateway.models import Source

SOURCES = {number: Source(f"https://{number}.example/", f"Page {number}") for number in range(1, 5)}
SOURCES[4] = Source("https://1.example/#part", "Page 1 again")
TEXTS = st.lists(
    st.sampled_from(
        [
            "It rains",
            ". ",
            " [1]",
            "[2][9]",
            "[1, 3]",
            "【2†source】",
            "［3］",
            "[[4]]",
            "`a[1]`",
            "日本",
            "[1](u)",
            "\n",
        ]
    )
).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rains[2]. It snows [1].", "It rains [1]. It snows [2]."),
        ("It rains [2][2].", "It rains [1]."),
        ("It rains [3, 2].", "It rains [1][2]."),
        ("It rains 【2†source】.", "It rains [1]."),
        ("Both [1] and [4].", "Both [1] and [1]."),
        ("See [1](https://x.example/).", "See [1](https://x.example/)."),
        ("Write `a[1]`.", "Write `a[1]`."),
    ],
)
def test_marks_are_renumbered_by_first_use_of_their_pages(text: str, expected: str) -> None:
    assert resolve_marks(text, SOURCES).text == expected


def test_a_mark_without_a_source_is_removed_and_counted() -> None:
    marked = resolve_marks("It rains [9]. It snows [1, 8].", SOURCES)
    assert (marked.text, marked.unknown) == ("It rains. It snows [1].", 2)


@given(TEXTS)
def test_every_span_covers_one_mark_of_its_page(text: str) -> None:
    marked = resolve_marks(text, SOURCES)
    ranks: dict[str, str] = {}
    for span in marked.spans:
        mark = marked.text[span.start : span.end]
        assert ranks.setdefault(span.url.partition("#")[0], mark) == mark
    assert list(ranks.values()) == [f"[{rank}]" for rank in range(1, len(ranks) + 1)]


def test_the_numbers_of_a_run_of_marks() -> None:
    assert numbers_of("[1][2, 3]") == [1, 2, 3]
    assert numbers_of("【4†12】") == [4]
