"""Numbers as people read them."""

from __future__ import annotations

import pytest

from websearch_gateway.entrypoints.http.figures import dollars, duration, percent, span


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0, "0 ms"),
        (0.0084, "8 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (14.44, "14.4 s"),
    ],
)
def test_a_latency_has_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert duration(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (200_000, "2 d"),
    ],
)
def test_a_long_time_has_its_largest_unit(seconds: float, text: str) -> None:
    assert span(seconds).replace("\N{NO-BREAK SPACE}", " ") == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [(0, "$0.00"), (0.0021, "$0.0021"), (0.09, "$0.09"), (12.4, "$12.40"), (1234.5, "$1,234.50")],
)
def test_an_amount_never_looks_like_nothing(usd: float, text: str) -> None:
    assert dollars(usd) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.001, "< 1%"), (0.435, "44%"), (0.999, "> 99%"), (1, "100%")]
)
def test_a_share_is_not_rounded_to_all_or_nothing(share: float, text: str) -> None:
    assert percent(share) == text
