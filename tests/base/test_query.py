"""The codes are those that Babel, from Unicode's CLDR, knows."""

from __future__ import annotations

import pytest
from babel import Locale

from websearch_gateway.base.query import (
    COUNTRIES,
    LANGUAGES,
    checked_query,
    country_code,
    country_name,
    language_code,
)
from websearch_gateway.errors import SearchValidationError

NOT_COUNTRIES = {
    "AC",
    "CP",
    "CQ",
    "DG",
    "EA",
    "EU",
    "EZ",
    "IC",
    "QO",
    "TA",
    "UN",
    "XA",
    "XB",
    "XK",
    "ZZ",
}
"""Two-letter codes of CLDR that ISO 3166-1 has reserved or left to users."""


def test_the_country_codes_are_those_of_cldr() -> None:
    assert {
        code for code in Locale("en").territories if len(code) == 2
    } - NOT_COUNTRIES == COUNTRIES


def test_the_names_are_those_of_cldr() -> None:
    territories = Locale("en").territories
    assert {code for code in COUNTRIES if country_code(territories[code]) != code} == set()


def test_cldr_knows_the_language_codes_except_a_few_deprecated_ones() -> None:
    names = Locale("en").languages
    assert {code for code in LANGUAGES if code not in names} <= {"bh", "ii", "sh"}
    assert len(LANGUAGES) == 184


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Germany", "DE"),
        ("usa", "US"),
        ("de", "DE"),
        ("uk", "GB"),
        ("turkey", "TR"),
        ("Türkiye", "TR"),
    ],
)
def test_a_country_is_found_by_its_name_or_code(text: str, code: str) -> None:
    assert country_code(text) == code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("U.K.", "GB"),
        ("The Netherlands", "NL"),
        ("Bosnia and Herzegovina", "BA"),
        ("côte d'ivoire", "CI"),
        ("USA", "US"),
    ],
)
def test_a_country_is_found_by_its_english_name(name: str, code: str) -> None:
    assert country_code(name) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *[
            ("German", "de"),
            ("EN", "en"),
            (" pt-BR ", "pt"),
            ("zh_Hans", "zh"),
            ("Farsi", "fa"),
            ("bokmål", "nb"),
        ],
        *[
            ("traditional  chinese", "zh"),
            ("Brazilian Portuguese", "pt"),
            ("Scottish Gaelic", "gd"),
        ],
    ],
)
def test_a_language_is_found_by_its_code_name_or_tag(text: str, code: str) -> None:
    assert language_code(text) == code


@pytest.mark.parametrize("text", ["", "xx", "eng", "Klingon", "Deutsch"])
def test_a_name_that_is_not_an_english_one_has_no_language_code(text: str) -> None:
    assert language_code(text) is None


@pytest.mark.parametrize("text", ["", "atlantis", "EU", "xx", "zz"])
def test_a_name_that_is_not_a_country_has_no_code(text: str) -> None:
    assert country_code(text) is None


def test_every_country_is_found_by_its_name() -> None:
    assert {code for code in COUNTRIES if country_code(country_name(code)) != code} == set()
    assert [country_name(code) for code in ("GB", "CZ", "KP", "BA")] == [
        *("united kingdom", "czech republic", "north korea", "bosnia and herzegovina")
    ]


def test_a_query_of_more_than_ten_thousand_characters_is_not_normalised() -> None:
    assert checked_query("why are there tides".rjust(10_000)) == "why are there tides"
    with pytest.raises(SearchValidationError):
        checked_query("why are there tides".rjust(10_001))
