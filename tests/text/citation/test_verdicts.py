"""Whether a page says a sentence."""

from __future__ import annotations

from websearch_gateway.text.citation.verdicts import verdicts

SHIPS = (f"Ship number {n} passed in the year {1900 + n}." for n in range(90))
PAGE = "\n\n".join(["# Harbour Bridge", *SHIPS, "The bridge is 120 m long."])


def test_each_sentence_gets_the_words_of_the_page_for_it() -> None:
    said = ["The Harbour Bridge has a length of 120 m.", "The bridge is 120 m long.", "The bridge is 130 m long."]
    assert verdicts(said, PAGE, "Bridges") == [
        ("paraphrase", "The bridge is 120 m long."),
        ("verbatim", "The bridge is 120 m long."),
        ("not_found", ""),
    ]


def test_an_empty_page_says_nothing() -> None:
    assert verdicts(["The bridge is 120 m long."], "", "") == [("not_found", "")]
