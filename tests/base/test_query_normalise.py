"""Normalised queries: one spelling for each, without invisible characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from websearch_gateway.base.query import matching_form, matching_letters, normalise
from websearch_gateway.errors import SearchValidationError


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("  who   won\n\tthe cup ", "who won the cup"),
        ("a\u00a0b\u3000c\u2028d\x85e", "a b c d e"),
        ("\uff30\uff2f\uff2c\uff39\uff01", "POLY!"),
        ("\uff76\uff9e\uff7d", "\u30ac\u30b9"),
        ("e\u0301t\u00e9", "\u00e9t\u00e9"),
        ("o\ufb03ce \ufb01nd", "office find"),
        ("\ufb00 \ufb02 \ufb04 \ufb05 \ufb06", "ff fl ffl st st"),
        ("\ufeb3\ufefc\ufee1", "\u0633\u0644\u0627\u0645"),
        ("\u212b", "\u00c5"),
    ],
)
def test_typography_is_folded(written: str, read: str) -> None:
    assert normalise(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "10\u00b2",
        "\u00bd cup",
        "\u2460",
        "\u210c \u211d",
        "x\u2082",
        "\ufdfa",
        "\u2122",
        "\u3392",
        "\u2167",
    ],
)
def test_characters_whose_meaning_nfkc_would_change_stay(text: str) -> None:
    """NFKC makes 10² into 102 and one character of U+FDFA into eighteen."""
    assert unicodedata.normalize("NFKC", text) != text
    assert normalise(text) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "\u200b",
        "\u00ad",
        "\ufeff",
        "\u2060",
        "\u180e",
        "\u3164",
        "\ufe0f",
        "\U000e0100",
        "\U000e0041",
        "\u200e",
        "\u200d",
    ],
)
def test_invisible_characters_are_removed(hidden: str) -> None:
    assert normalise(f"poly{hidden}market") == "polymarket"


@pytest.mark.parametrize(
    "text",
    [
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: ZWNJ is spelling
        "\u0915\u094d\u200d\u0937",  # Devanagari: ZWJ chooses the half form
        "\u0d28\u0d4d\u200d good",  # Malayalam: a final ZWJ makes the chillu letter
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 emoji",
    ],
)
def test_joiners_stay_where_they_are_part_of_the_spelling(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(
    "character",
    ["\x00", "\x07", "\x1b", "\x7f", "\x9b", "\ud800", "\ufffe"],
)
def test_the_refusal_of_control_and_surrogate_characters_names_the_code_point(
    character: str,
) -> None:
    with pytest.raises(SearchValidationError) as refused:
        normalise(f"secret plan {character}x")
    assert refused.value.details == {"field": "query", "codePoint": f"U+{ord(character):04X}"}
    assert "plan" not in refused.value.message


@pytest.mark.parametrize(
    "code", [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
)
def test_marks_of_the_direction_of_text_are_removed(code: int) -> None:
    """Keyboards and address books put them around names in Arabic and Hebrew."""
    assert (
        normalise(f"who is {chr(code)}\u05d3\u05e0\u05d4{chr(code)}?")
        == "who is \u05d3\u05e0\u05d4?"
    )


@given(st.text())
def test_normalising_is_idempotent(text: str) -> None:
    try:
        once = normalise(text)
    except SearchValidationError:
        return
    assert normalise(once) == once


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_normalising_plain_text_changes_only_its_white_space(text: str) -> None:
    assert normalise(text) == " ".join(text.split())


@example(
    "\u0301\u200b\u094d\u200c"
)  # marks that change places once what stood between them is removed
@example("\u0301\u200c\u094d\u200c")
@given(
    st.text(
        st.sampled_from(
            "ab\u0646\u0915\u094d\U0001f468\u200c\u200d\u200b\u0301\uff41\uff9e\u3164\ufe0f \u00a0"
        )
    )
)
def test_normalising_is_stable_among_joiners_marks_and_wide_letters(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert "\u200b" not in once
    assert "  " not in once


def test_the_matching_form_has_no_case_accents_joiners_or_look_alikes() -> None:
    assert matching_form("P\u00d3ly\u200dM\u0430rket \U0001d428dds") == "polymarket odds"


def test_the_matching_form_of_each_letter_gives_the_same_english_words() -> None:
    assert matching_letters("P\u00d3ly\u200dM\u0430rket \U0001d428dds") == "PolyMarket odds"
    assert matching_letters("\u6f6e\u306e\u6642\u523b") is None
