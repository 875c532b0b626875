"""The quotes of a passage: found by copied words, or by what a sentence says."""

from __future__ import annotations

import pytest

from websearch_gateway.base.urls import quote_url
from websearch_gateway.evidence.facts import LONGEST_QUOTE, Quotable, Quote, best_quotes

BRIDGE = """\
The bridge, 120 m long, opened on 14 May 1932. It cost “5.8 million” euros - more than planned.

| Tower | Height (m) | Lifts |
|---|---|---|
| North | 41 | 2 |
| South | 38 | none |

The **old** mill stands [nearby](https://example.com/)."""
PASSAGE = Quotable.of(BRIDGE, "Harbour Bridge")


@pytest.mark.parametrize(
    ("copied", "begins"),
    [
        ("opened on 14 May 1932", ["The bridge,"]),
        ('it cost "5.8 million" euros', ["It cost"]),
        ("It  cost\u00a0\u201e5.8 million\u201c Euros \u2013 more", ["It cost"]),
        ("the old mill stands nearby", ["The old"]),
        ("14 May 1932. It cost", ["The bridge,", "It cost"]),
        ("South", ["| South"]),
        ("| North | 41 | 2 |", ["| North"]),
    ],
)
def test_copied_words_are_found_in_spite_of_blanks_and_marks(copied: str, begins: list[str]) -> None:
    assert [quote.text[: len(begin)] for quote, begin in zip(PASSAGE.holding(copied), begins, strict=True)] == begins


@pytest.mark.parametrize("copied", ["", "the bridge", "120 m", "opened on 15 May 1932", "bridge mill tower lift"])
def test_words_that_do_not_stand_there_or_are_too_few_are_not_found(copied: str) -> None:
    assert PASSAGE.holding(copied) == []


def test_the_best_quotes_hold_the_facts_of_a_sentence() -> None:
    found = best_quotes("The bridge of 1932 cost 5.8 million euros.", PASSAGE.quotes)
    assert [quote.text[:8] for quote in found[:2]] == ["It cost ", "The brid"]


def test_a_row_is_a_quote_only_for_a_sentence_that_names_it() -> None:
    assert [
        quote.cells[0][1] for quote in best_quotes("The North tower is 38 m high.", PASSAGE.quotes) if quote.cells
    ] == ["North"]


def test_a_long_quote_is_cut_between_words() -> None:
    shown = Quote("word " * 200).shown
    assert len(shown) <= LONGEST_QUOTE
    assert shown.endswith("word")


@pytest.mark.parametrize(
    ("url", "quote", "expected"),
    [
        ("https://a.example/p", "It is 330 m, tall", "https://a.example/p#:~:text=It%20is%20330%20m%2C%20tall"),
        ("https://a.example/p#top", "well-known", "https://a.example/p#top:~:text=well%2Dknown"),
        (
            "https://a.example/",
            "one two three four five six seven eight nine ten eleven",
            "https://a.example/#:~:text=one%20two%20three%20four%20five,seven%20eight%20nine%20ten%20eleven",
        ),
    ],
)
def test_the_address_of_a_quote_has_its_words(url: str, quote: str, expected: str) -> None:
    assert quote_url(url, quote) == expected
