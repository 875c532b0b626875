"""The words of other languages, reduced for comparison."""

import pytest

from websearch_gateway.text.retrieval.languages import language_tokens, query_terms


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Leuchttürme", "Leuchtturm"),
        ("es", "construyeron", "construyó"),
        ("ru", "маяками", "маяк"),
        ("uk", "маяками", "маяк"),
        ("ar", "والمنارة", "منارة"),
        ("hi", "लोगों", "लोग"),
        ("sv", "fyrarna", "fyrar"),
        ("pl", "latarniami", "latarniach"),
        ("ar", "١٩٠١", "1901"),
        ("hi", "१९०१", "1901"),
    ],
)
def test_forms_of_a_word_are_one_token(language: str, one: str, other: str) -> None:
    first, second = language_tokens([one, other], language)
    assert first == second


def test_vietnamese_words_that_differ_in_tone_alone_stay_apart() -> None:
    assert len(set(map(tuple, language_tokens(["ma", "má", "mã", "mạ"], "vi")))) == 4


@pytest.mark.parametrize(
    ("language", "question", "terms"),
    [
        ("de", "Wer wohnt in welchem Turm?", ["wohnt", "turm"]),
        ("vi", "Hải đăng được xây dựng khi nào?", ["hải", "đăng", "xây", "dựng"]),
        ("sv", "När byggdes den och vem betalade?", ["bygg", "den", "betal"]),
    ],
)
def test_function_words_of_a_question_do_not_count(language: str, question: str, terms: list[str]) -> None:
    assert query_terms(question, language) == terms
