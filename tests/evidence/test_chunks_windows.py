"""A long text is split into windows without losing any of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.evidence.chunks import window

TEXTS = st.text(st.sampled_from("ab \n\u0301\u200d👩🏽🇩é"), max_size=300) | st.text(max_size=300)


def windows(text: str, size: int) -> list[str]:
    found, offset = [], 0
    while True:
        piece, following = window(text, offset, size)
        found.append(piece)
        if following is None:
            return found
        assert following == offset + len(piece) > offset
        offset = following


@given(TEXTS, st.integers(1, 80))
def test_all_windows_together_are_the_whole_text(text: str, size: int) -> None:
    found = windows(text, size)
    assert "".join(found) == text
    assert all(len(piece) <= size for piece in found)


@pytest.mark.parametrize(
    ("text", "size", "first"),
    [
        ("one line\nanother line\n", 15, "one line\n"),
        ("one line\nanother line\n", 9, "one line\n"),
        ("x\n" + "word " * 10, 12, "x\nword word "),
        ("unbreakable" * 3, 10, "unbreakabl"),
        ("abcde\u0301fgh", 5, "abcd"),
        ("abc👩\u200d👩\u200d👧 and so on", 6, "abc"),
        ("abcd👍🏽 and so on", 5, "abcd"),
        ("abcமிழ் and so on", 4, "abc"),
        ("short", 5, "short"),
        ("", 5, ""),
    ],
)
def test_a_window_ends_at_a_line_else_at_a_word_else_between_characters(
    text: str, size: int, first: str
) -> None:
    assert window(text, 0, size)[0] == first


def test_a_pile_of_accents_longer_than_a_character_is_cut() -> None:
    assert [len(piece) for piece in windows("a" + "\u0301" * 100, 50)] == [50, 50, 1]


def test_a_window_that_begins_at_the_end_is_empty_and_the_last() -> None:
    assert window("text", 4, 10) == ("", None)


@pytest.mark.parametrize(("marks", "shown"), [(31, 50), (32, 83)])
def test_a_character_of_up_to_thirty_two_code_points_stays_whole(marks: int, shown: int) -> None:
    text = "x" * 50 + "a" + "\u0301" * 100
    assert len(window(text, 0, 51 + marks)[0]) == shown
