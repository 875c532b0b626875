"""What a passage holds, and what it does not: one foreign figure, date or name is enough."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.citation.support import Evidence, supports

PASSAGE = (
    "Eiffel Tower > Height > 2026-05-10\n"
    "The tower is 330 metres (1,083 ft) tall. It opened on 31 March 1889, after two years of work by the company of "
    "Gustave Eiffel. About 5.8 million people visit it each year. Until 1930 no building was taller. Its lifts are not "
    "open at night. The entrance on the south side was moved by Louis Sauvestre in 1960."
)
EVIDENCE = Evidence.of(PASSAGE)


@pytest.mark.parametrize(
    "claim",
    [
        "The Eiffel Tower is 330 metres tall.",
        "The tower is 1083 ft tall.",
        "The tower opened on March 31, 1889.",
        "It opened in March 1889.",
        "Gustave Eiffel's company worked on the tower for 2 years.",
        "About 5.8 million people visit the tower each year.",
        "No building was taller until 1930.",
        "As of May 2026, the tower is 330 metres tall.",
    ],
)
def test_a_claim_in_other_words_is_held(claim: str) -> None:
    assert supports(claim, EVIDENCE)


@pytest.mark.parametrize(
    "claim",
    [
        "The Eiffel Tower is 324 metres tall.",
        "The tower opened on 30 March 1889.",
        "The tower opened on 31 May 1889.",
        "The tower opened in May 1889.",
        "The company of Stephen Sauvestre worked on the tower for two years.",
        "Paris visits the tower each year.",
        "About six million people visit it each year.",
        "About 5.8 billion people visit it each year.",
        "The tower is 1960 metres tall.",  # a figure of the page, and of something else
        "The moon is made of green cheese.",
        "The tower is 330 metres tall, see https://evil.example/.",
        "The tower is 330 metres tall [here](https://evil.example/).",
        "How tall is the tower?",
        "330",
        "",
    ],
)
def test_an_invention_is_not_held(claim: str) -> None:
    assert not supports(claim, EVIDENCE)


def test_a_denial_needs_one_in_the_passage() -> None:
    told = Evidence.of("Bridge\nThe bridge is open to cars.")
    assert supports("The bridge is open to cars.", told)
    assert not supports("The bridge is not open to cars.", told)


@pytest.mark.parametrize("claim", ["埃菲尔铁塔高330米。", "Der Turm ist 330 Meter hoch."])
def test_a_claim_in_the_language_of_its_passage_is_held(claim: str) -> None:
    told = Evidence.of("塔 Turm\n埃菲尔铁塔高330米，位于巴黎。 Der Turm ist 330 Meter hoch.")
    assert supports(claim, told)
    assert not supports(claim.replace("330", "331"), told)


@given(st.integers(0, 10**9))
def test_a_foreign_number_is_never_held(number: int) -> None:
    known = {330, 1083, 31, 1889, 1930, 1960, 2026, 10, 5, 8, 2}
    assert number in known or not supports(f"The tower is {number} metres tall.", EVIDENCE)


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_checked(claim: str, passage: str) -> None:
    assert supports(claim, Evidence.of(passage)) in (True, False)
