"""British spellings read as American ones, and names stay."""

import pytest

from websearch_gateway.cache.spelling import american


@pytest.mark.parametrize(
    ("british", "expected"),
    [
        ("colours of neighbouring theatres", "colors of neighboring theaters"),
        ("travelling and cancelled", "traveling and canceled"),
        ("organising, organised, organisation", "organizing, organized, organization"),
        ("reorganise and disorganised", "reorganize and disorganized"),
        ("grey wolves", "gray wolves"),
        ("anaemia and diarrhoea", "anemia and diarrhea"),
    ],
)
def test_a_british_spelling_becomes_the_american_one(british: str, expected: str) -> None:
    assert american(british) == expected


@pytest.mark.parametrize(
    "text",
    [
        "labour party",
        "grey's anatomy",
        "tyre in lebanon",
        "organism",
        "realist",
        "analysis",
        "color",
    ],
)
def test_names_and_other_words_stay(text: str) -> None:
    assert american(text) == text
