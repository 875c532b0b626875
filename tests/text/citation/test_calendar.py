"""Dates in a text, however they are written."""

from __future__ import annotations

import pytest

from websearch_gateway.text.citation.calendar import dates, foreign_months, is_stated


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 3 March 1889", (1889, 3, 3)),
        ("the 3rd of March, 1889", (1889, 3, 3)),
        ("on March 3, 1889", (1889, 3, 3)),
        ("Sept. 21 2026", (2026, 9, 21)),
        ("in March 1889", (1889, 3, None)),
        ("in March", (None, 3, None)),
        ("2026-09-21", (2026, 9, 21)),
        ("2026-09", (2026, 9, None)),
        ("21.9.2026", (2026, 9, 21)),
        ("9/21/2026", (2026, 9, 21)),
    ],
)
def test_a_date_is_found(text: str, expected: tuple[int | None, ...]) -> None:
    assert expected in set(dates(text))


def test_an_ambiguous_date_in_digits_is_read_both_ways() -> None:
    assert set(dates("3/4/2026")) == {(2026, 4, 3), (2026, 3, 4)}


@pytest.mark.parametrize("text", ["they may march", "page 12 of 30", "13/13/2026", "1889", ""])
def test_a_text_without_a_month_has_no_date(text: str) -> None:
    assert list(dates(text)) == []


def test_a_date_is_stated_by_one_that_has_all_its_parts() -> None:
    stated = [(1889, 3, 3), (None, 5, None)]
    assert is_stated((1889, 3, None), stated)
    assert is_stated((None, 5, None), stated)
    assert not is_stated((1889, 5, None), stated), "the year of one date and the month of another"
    assert not is_stated((None, 5, 1), stated)


def test_months_of_other_languages_are_found_between_day_and_year() -> None:
    assert foreign_months("le 31 mars 1889, el 3 de marzo de 1890, am 3. März 1891") == {"mars", "marzo", "märz"}
    assert foreign_months("on 3 March 1889") == set()
