"""How much of the text of labelled pages is kept, and how little else: F1 of their words by kind of page.

Each floor is what is reached today, so that a rule or a tree that is lost is noticed.
"""

from __future__ import annotations

from statistics import mean

import pytest

from bench.extract import scores
from tests.pages.extraction.labelled_pages import PAGES
from websearch_gateway.pages.extraction.extract import extract

FLOORS = {
    "article": 0.978,
    "product": 0.774,
    "forum": 0.902,
    "documentation": 0.975,
    "collection": 1.0,
    "service": 0.932,
}


@pytest.mark.parametrize(("kind", "floor"), FLOORS.items())
def test_the_words_of_a_page_are_those_that_a_reader_wants(kind: str, floor: float) -> None:
    f1 = []
    for page in PAGES:
        if page.kind == kind:
            markdown = extract(page.html, "https://a.example/page", None).markdown
            f1.append(scores(page.gold, markdown)[2])
    assert mean(f1) >= floor


def test_each_kind_has_a_floor() -> None:
    assert {page.kind for page in PAGES} == FLOORS.keys()
