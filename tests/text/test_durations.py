"""Durations in words."""

import pytest

from websearch_gateway.text.durations import in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 seconds"), (1.9, "1 second"), (59, "59 seconds"), (60, "1 minute"), (7_199, "1 hour"), (200_000, "2 days")],
)
def test_the_largest_unit_is_named_and_rounded_down(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
