"""How a sentence is read: one spelling for each number, date and unit, and what stands before a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.dates import MONTHS
from websearch_gateway.evidence.facts import (
    Word,
    is_rounding,
    is_same_name,
    is_year,
    numerals,
    read,
)


def numbers(text: str) -> list[tuple[str, str]]:
    return [(word.text, word.unit) for word in read(text) if word.kind == "number"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("$5.8 million", "5,800,000 dollars"),
        ("€5.8bn", "5,800,000,000 euros"),
        ("330 metres", "330 m"),
        ("May 3, 1889", "3rd of May 1889"),
        ("2026-05-10T07:00:00Z", "10 May 2026"),
        ("two hundred fifty tons", "250 tonnes"),
        ("6½ sacks", "6.5 sacks"),
        ("7,000,000 square kilometres", "7,000,000 sq km"),
        ("12 percent", "12%"),
        ("the sixteenth century", "the 16th century"),
        ("\u0663\u0663\u0660 km", "330 km"),
    ],
)
def test_spellings_of_one_number_or_date_are_equal(one: str, other: str) -> None:
    assert numbers(one) == numbers(other) != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("version 3.1", "version 3.10"),
        ("-12 °C", "12 °C"),
        ("12 °C", "12 °F"),
        ("4.1%", "4.1 percentage points"),
        ("687 nm", "687 mm"),
        ("1960", "the 1960s"),
        ("5 square miles", "5 miles"),
    ],
)
def test_different_numbers_and_units_are_not_equal(one: str, other: str) -> None:
    assert numbers(one) != numbers(other)


def test_a_square_and_a_cubic_unit_are_units_of_their_own() -> None:
    assert numbers("5 square miles, 6 cubic metres, 7 square pegs") == [
        ("5", "square mile"),
        ("6", "cubic meter"),
        ("7", ""),
    ]


def test_the_first_number_of_a_pair_has_the_unit_of_the_second() -> None:
    assert numbers("peaks at 687 and 760 nm") == [("687", "nm"), ("760", "nm")]


def test_names_have_a_capital_inside_the_sentence() -> None:
    assert [
        word.text
        for word in read("The bridge by Anna Berg spans the Rhine.")
        if word.kind == "name"
    ] == [
        "anna",
        "berg",
        "rhine",
    ]


def test_a_share_in_words_is_a_percentage() -> None:
    assert numbers("two fifths of it, one in five, a third of the town") == [
        ("40", "percent"),
        ("20", "percent"),
        ("33.33", "percent"),
    ]


def test_points_of_the_compass_are_names() -> None:
    assert [
        word.text for word in read("the western shore, the east side") if word.kind == "name"
    ] == ["west", "east"]


def test_a_denial_belongs_to_the_word_behind_it_and_a_bound_to_its_number() -> None:
    words = read("Some towns have not lost over 20 mills within five years.")
    assert [word.raw for word in words if word.is_denied] == ["lost"]
    assert [(word.text, word.bound) for word in words if word.kind == "number"] == [
        ("20", "over"),
        ("5", "under"),
    ]


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert all(word.text for word in read(text))


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (
            "twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety",
            "20 30 40 50 60 70 80 90",
        ),
        (
            "two hundred, three thousand, four million, five billion, six trillion",
            "200 3000 4000000 5000000000 6000000000000",
        ),
        (
            "the twelfth, the twentieth, the thirtieth, the fortieth, the fiftieth, the sixtieth",
            "12 20 30 40 50 60",
        ),
        ("the seventieth, the eightieth, the ninetieth, the hundredth", "70 80 90 100"),
        ("the twenty first, the thirty ninth, the ninety fifth", "21 39 95"),
        ("the twenty tenth", "20 10"),
    ],
)
def test_a_number_in_words_has_its_value(words: str, values: str) -> None:
    assert " ".join(text for text, _ in numbers(words)) == values


@pytest.mark.parametrize(
    ("part", "percent"),
    [
        *(("half", "50"), ("third", "33.33"), ("quarter", "25"), ("fifth", "20")),
        *(("sixth", "16.67"), ("seventh", "14.29"), ("eighth", "12.5"), ("ninth", "11.11")),
        ("tenth", "10"),
    ],
)
def test_each_part_has_its_percentage(part: str, percent: str) -> None:
    assert numbers(f"a {part} of the town" if part != "half" else "half of the town") == [
        (percent, "percent")
    ]


def test_a_month_may_have_its_first_three_letters_alone() -> None:
    for month in map(str.capitalize, MONTHS):
        in_full = numbers(f"3 {month} 2020")
        assert in_full == [("3", "the day"), (month.lower(), "the month"), ("2020", "the year")]
        assert numbers(f"3 {month[:3]} 2020") == numbers(f"{month[:3]} 3, 2020") == in_full


@pytest.mark.parametrize(
    ("text", "is_month"), [("mayo 3", True), ("el 3 de mayo", True), ("hay 3 casas de mayo", False)]
)
def test_a_month_that_is_another_word_in_english_stands_near_a_number(
    text: str, is_month: bool
) -> None:
    assert (("may", "the month") in numbers(text)) is is_month


@pytest.mark.parametrize(
    ("number", "exact", "is_rounded"),
    [
        ("2100000", "2102650", True),
        ("2200000", "2102650", False),
        # With one digit it is at most a twentieth away.
        ("2000000", "2040000", True),
        ("2000000", "2400000", False),
        # Below 1,000 each is exact.
        ("1000", "1004", True),
        ("900", "904", False),
        ("1.2.3", "1.2", False),
    ],
)
def test_a_number_with_fewer_digits_may_be_another_one_rounded(
    number: str, exact: str, is_rounded: bool
) -> None:
    assert is_rounding(number, exact) is is_rounding(exact, number) is is_rounded


def test_ordinals_have_the_letters_of_their_number() -> None:
    words = ["first", "twenty", "first", "second", "third", "eleventh", "twelfth", "fortieth"]
    assert numerals(words) == ["1st", "21st", "2nd", "3rd", "11th", "12th", "40th"]


def test_a_programming_language_keeps_its_sign() -> None:
    texts = [word.text for word in read("She writes C++ and C# code")]
    assert texts[1:] == ["c++", "c#", "code"]


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("li", "li", True),
        ("canada", "canadian", True),
        ("canadian", "canada", True),
        ("berg", "moen", False),
        ("li", "lian", False),
    ],
)
def test_a_name_is_the_same_with_the_ending_of_a_people(
    one: str, other: str, is_same: bool
) -> None:
    assert is_same_name(Word(one, "name"), Word(other, "name")) is is_same


@pytest.mark.parametrize(
    ("text", "is_written_year"),
    [("1000", True), ("2199", True), ("0999", False), ("2200", False), ("193", False)],
)
def test_a_year_has_four_digits(text: str, is_written_year: bool) -> None:
    assert is_year(text) is is_written_year


def test_the_first_two_thousand_characters_of_a_sentence_are_read() -> None:
    assert [numbers("x" * length + " 7") for length in (1_998, 1_999)] == [[("7", "")], []]
