"""The sentences that may be quoted: where long Thai text is cut, and how long a row with links may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.extractive import find_evidence
from websearch_gateway.base import query_terms
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.sentences import (
    SHORTEST,
    Candidate,
    Document,
    candidates,
    clauses,
)

CLAUSE = "ผู้ดูแลประภาคารอาศัยอยู่บนเกาะนี้มาเป็นเวลาหลายปี"


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in clauses(text, [(0, len(text))])]


def test_thai_without_full_stops_is_cut_at_spaces() -> None:
    pieces = cut(" ".join([CLAUSE] * 20))
    assert len(pieces) > 1
    assert all(150 <= len(piece) <= 300 for piece in pieces)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("เขาพบกับ", "ผู้ดูแล"),
        ("เรือแล่นระหว่าง", "เกาะ"),
        ("หอนี้ชื่อว่า", "สเกอร์รี"),
        ("เขาสร้างหอคอย", "ซึ่งสูงมาก"),
        ("เขาสร้างหอคอย", "โดยไม่มีเงิน"),
    ],
)
def test_thai_is_cut_where_a_clause_ends_and_not_inside_of_one(before: str, after: str) -> None:
    """Thai has spaces around names and numbers too; the words beside them tell which one ends a clause."""
    long = "ก" * SHORTEST
    text = f"{long}{before} {after}{CLAUSE} {CLAUSE}{long}"
    assert cut(text) == [f"{long}{before} {after}{CLAUSE}", f"{CLAUSE}{long}"]


def test_thai_is_cut_before_a_word_that_begins_a_clause() -> None:
    long = "ก" * SHORTEST
    text = f"{long} {CLAUSE} ต่อมา{CLAUSE}{long}"
    assert cut(text) == [f"{long} {CLAUSE}", f"ต่อมา{CLAUSE}{long}"]


@pytest.mark.parametrize(("characters", "place"), [(390, 1), (410, 0)])
def test_the_end_of_a_clause_is_looked_for_up_to_a_limit(characters: int, place: int) -> None:
    parts = ["ก" * SHORTEST, "ข" * (characters - SHORTEST - 1), "ต่อมา" + "ค" * 300]
    assert cut(" ".join(parts))[0] == " ".join(parts[: place + 1])


@pytest.mark.parametrize(
    ("before", "behind", "pieces"), [(150, 150, 2), (149, 300, 1), (300, 149, 1)]
)
def test_a_clause_has_at_least_150_characters(before: int, behind: int, pieces: int) -> None:
    assert len(cut(f"{'ก' * before} {'ข' * behind}")) == pieces


def test_a_short_thai_sentence_and_long_ones_of_other_languages_stay_whole() -> None:
    assert cut(f"{CLAUSE} {CLAUSE}") == [f"{CLAUSE} {CLAUSE}"]
    assert len(cut("the keeper lived on the rock " * 40)) == 1


@given(
    st.lists(st.sampled_from((CLAUSE, "ก" * SHORTEST, "a", "1901", " ")), max_size=30).map(" ".join)
)
def test_only_blanks_are_lost(text: str) -> None:
    assert "".join(cut(text)).replace(" ", "") == text.replace(" ", "")


def test_an_answer_in_a_thai_paragraph_of_a_thousand_characters_is_quoted() -> None:
    story = " ".join([CLAUSE] * 12)
    page = f"{story} ประภาคารสเกอร์รีสร้างขึ้นในปี 1901 โดยบริษัทของมารี {story}"
    found = find_evidence("ประภาคารสเกอร์รีสร้างขึ้นในปีใด", [Document("", page)], 800, encode)
    assert any("1901" in one.text for one in found.sentences)


@pytest.mark.parametrize(("characters", "is_quoted"), [(3_800, True), (4_200, False)])
def test_a_row_with_a_long_link_is_quoted_up_to_a_limit(characters: int, is_quoted: bool) -> None:
    link = "https://a.example/".ljust(characters, "x")
    table = f"| Name | Height |\n|---|---|\n| [Skerry tower]({link}) | is 42 metres tall |"
    sentences = candidates(["tower", "tall"], "en", [Document("", table)])
    quoted = [sentence.text for sentence in sentences]
    assert quoted == (["Skerry tower | is 42 metres tall"] if is_quoted else [])


@pytest.mark.parametrize(
    ("term", "language", "is_found"),
    [
        ("segel", "de", True),
        ("egel", "de", False),  # too short
        ("segel", "en", False),  # no compounds
    ],
)
def test_a_longer_word_with_a_word_of_five_letters_may_be_a_compound_of_it(
    term: str, language: str, is_found: bool
) -> None:
    page = Document("", "Ein Fischer braucht ein gutes Fischersegel an jedem Morgen im Jahr.")
    assert bool(candidates([term], language, [page])) is is_found


def test_a_thai_paragraph_of_eight_hundred_characters_is_one_passage() -> None:
    """A letter counts as a token in the size of a passage, so most Thai paragraphs would be cut in two."""
    paragraph = " ".join([CLAUSE] * 16)
    assert 750 < len(paragraph) < 1_000
    terms = query_terms(CLAUSE, "th")
    passages = {each.order[0] for each in candidates(terms, "th", [Document("", paragraph)])}
    assert passages == {0}
    longer = " ".join([CLAUSE] * 24)
    assert 1_100 < len(longer) < 1_500
    assert len({each.order[0] for each in candidates(terms, "th", [Document("", longer)])}) == 2


def about_towers(*pages: str) -> list[Candidate]:
    return candidates(["tower"], "en", [Document("", page) for page in pages])


def texts(page: str) -> list[str]:
    return [candidate.text for candidate in about_towers(page)]


def test_the_twelve_best_passages_are_searched() -> None:
    assert len(about_towers(*["The tower is tall."] * 20)) == 12


@pytest.mark.parametrize(
    ("sentence", "is_candidate"),
    [
        ("The tower is tall.".rjust(600, "x"), True),
        ("The tower is tall.".rjust(601, "x"), False),
        ("A tower fell.", True),
        ("Tower fell.", False),
        ("Which tower fell?", False),
    ],
)
def test_a_sentence_has_at_least_three_words_and_at_most_600_characters(
    sentence: str, is_candidate: bool
) -> None:
    assert texts(sentence) == [sentence] * is_candidate


@pytest.mark.parametrize(
    ("words", "end", "is_scrap"), [(12, "", True), (13, "", False), (12, ".", False)]
)
def test_a_line_of_up_to_twelve_words_without_an_end_is_a_scrap(
    words: int, end: str, is_scrap: bool
) -> None:
    (line,) = about_towers(" ".join(["tower"] * words) + end)
    assert line.scrap is is_scrap


@pytest.mark.parametrize(("linked", "is_text"), [(60, True), (61, False)])
def test_a_paragraph_of_which_three_fifths_are_links_is_text(linked: int, is_text: bool) -> None:
    link = "[tower](https://a.example/".ljust(linked - 1, "x") + ")"
    page = f"{link} is the tallest of all seen here.".ljust(99, "!") + "."
    assert len(page) == 100
    assert bool(texts(page)) is is_text


def test_the_header_of_a_table_is_no_sentence_and_its_words_are_those_of_each_row() -> None:
    table = "| Name of the tower | Its height today |\n|---|---|\n| Skerry of Marn | 42 metres |"
    (row,) = about_towers(table)
    assert row.text == "Skerry of Marn | 42 metres"
    assert "tower" in row.words
    assert "tower" not in row.own


def test_the_sentence_before_is_that_of_the_same_paragraph() -> None:
    page = "A tower stood here. The tower fell.\n\nNo tower stands now."
    assert [candidate.before for candidate in about_towers(page)] == ["", "A tower stood here.", ""]


def test_a_number_that_begins_a_line_of_a_paragraph_marks_no_list_item() -> None:
    assert texts("The tower was lit in\n1901. The tower fell.") == [
        "The tower was lit in 1901.",
        "The tower fell.",
    ]
