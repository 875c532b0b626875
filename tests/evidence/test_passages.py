"""A repeated text is found, and a text with another number is not a repetition; a number answers "how many"."""

from __future__ import annotations

import re
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.evidence.passages import (
    ANSWERS,
    bm25,
    cut_passages,
    matches,
    near_duplicates,
    ranked,
    shown,
)

WORDS = ("moon", "tide", "wind", "harbour", "reef")
LONG = " ".join(f"{word} follows {word[::-1]} near the {word[1:]} coast." for word in WORDS)


def test_a_repeated_text_is_found_whatever_its_punctuation_and_case() -> None:
    assert near_duplicates([LONG, "Something else.", f"**{LONG.upper()}**", LONG + " So."]) == [
        2,
        3,
    ]


def test_a_text_with_another_number_is_another_text() -> None:
    assert near_duplicates([f"{LONG} In 1998.", f"{LONG} In 1999."]) == []


def test_a_text_that_differs_in_a_tenth_is_another_text() -> None:
    assert (
        near_duplicates(
            [LONG, LONG + "And the harbour master of the town keeps a book about all of it."]
        )
        == []
    )


@pytest.mark.parametrize(("new_words", "is_repeated"), [(1, True), (4, True), (5, False)])
def test_a_text_that_repeats_nine_tenths_of_an_earlier_one_is_no_other(
    new_words: int, is_repeated: bool
) -> None:
    """Each new word at the end adds a shingle to the forty of the text."""
    text = " ".join(f"w{letter}{other}" for letter in "abcdef" for other in "abcdefg")
    longer = f"{text} {' '.join('xyzuv'[:new_words])}"
    assert near_duplicates([text, longer]) == [1] * is_repeated


@pytest.mark.parametrize(("words", "is_repeated"), [(59, True), (58, False)])
def test_another_word_in_the_middle_changes_the_three_shingles_with_it(
    words: int, is_repeated: bool
) -> None:
    text = [f"w{letter}{other}" for letter in "abcdefgh" for other in "abcdefgh"][:words]
    changed = [*text[:30], "other", *text[31:]]
    assert near_duplicates([" ".join(text), " ".join(changed)]) == [1] * is_repeated


def shingles(text: str) -> list[int]:
    in_order = text.split()
    return sorted(
        crc32(" ".join(in_order[at : at + 3]).encode()) for at in range(len(in_order) - 2)
    )


LETTERS = "abcdefghijklmnop"


@pytest.mark.parametrize(("smaller", "is_repeated"), [(7, True), (8, False)])
def test_two_texts_are_compared_if_they_share_one_of_their_eight_smallest_shingles(
    smaller: int, is_repeated: bool
) -> None:
    """One pair in 10^8 shares none, such as this one: nine tenths of its shingles are the same. Each of these words ends
    a shingle with a smaller checksum than all others."""
    text = " ".join(f"w{letter}{other}" for letter in LETTERS for other in "abcdef")
    words = ["aci", "aaa", "abe", "aak", "aap", "abd", "aea", "acb"]
    longer = " ".join((text, *words[:smaller]))
    assert near_duplicates([text, longer]) == [1] * is_repeated


@pytest.mark.parametrize(("others", "is_found"), [(15, True), (16, False)])
def test_sixteen_texts_with_the_same_small_shingle_are_compared(
    others: int, is_found: bool
) -> None:
    same = " ".join(f"w{letter}{other}" for letter in LETTERS for other in "abcdefg")
    smallest = shingles(same)[:8]
    endings = (f"{one}{two} " * 12 for one in LETTERS for two in LETTERS)
    texts = (f"{same} {ending}of {ending}in {ending}".strip() for ending in endings)
    alike = [text for text in texts if shingles(text)[:8] == smallest]
    *first, last = alike[: others + 1]
    assert near_duplicates([*first, last, last]) == [others + 1] * is_found


def test_a_text_without_words_does_not_repeat_one_with_words() -> None:
    assert near_duplicates(["", "a", "a b", "b a", "潮", "潮汐"]) == []
    assert near_duplicates(["---", "***"]) == [1]


@given(st.lists(st.text(st.sampled_from("ab 12潮é"), max_size=30), max_size=12))
def test_the_first_of_equal_texts_stays(texts: list[str]) -> None:
    dropped = near_duplicates(texts)
    kept = [text for place, text in enumerate(texts) if place not in dropped]
    assert all(text in kept or near_duplicates([*kept, text]) for text in texts)
    assert near_duplicates(kept) == []
    assert texts[:1] == kept[:1]


def test_many_texts_with_the_same_beginning_take_little_time() -> None:
    texts = [f"Home Products About Contact {LONG} {n}" for n in range(1_500)]
    assert near_duplicates(texts) == []


FERRY = "The ferry leaves at noon, and its crew serves soup to the many guests of the island."


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("how many eggs", "In spring the wardens of the reef counted 412 eggs in 2025."),
        ("How tall is the beacon?", "The beacon measures 41 metres."),
        ("wie viele Eier", "Im Frühling lagen 412 Eier am Strand."),
    ],
)
def test_a_number_stands_for_the_words_that_ask_for_it(query: str, answer: str) -> None:
    ((place, score),) = ranked([query], [answer], [[None]], 1.0, 1)[0]
    assert (place, score > ANSWERS) == (0, True)
    without = re.sub(r"\d+", "some", answer)
    ((_, less),) = ranked([query], [without], [[None]], 1.0, 1)[0]
    assert less < ANSWERS
    best = ranked([query], [FERRY, without, answer], [[None] * 3], 1.0, 3)[0]
    assert best[0][0] == 2


def test_a_number_of_the_question_does_not_answer_it() -> None:
    ((_, score),) = ranked(["how many eggs in 2025"], ["Eggs of 2025."], [[None]], 1.0, 1)[0]
    assert (
        score < ranked(["how many eggs in 2025"], ["12 eggs in 2025."], [[None]], 1.0, 1)[0][0][1]
    )


@pytest.mark.parametrize(("times_worse", "is_shown"), [(18, True), (22, False)])
def test_a_passage_with_far_worse_odds_than_the_best_is_left_out(
    times_worse: int, is_shown: bool
) -> None:
    best = 0.9
    odds = best / (1 - best) / times_worse
    scores = [best, odds / (1 + odds)]
    assert shown(scores, 0.01) == 1 + is_shown
    assert shown(scores, 0) == 2


@pytest.mark.parametrize(
    ("between", "sentence", "paragraph"), [(18, 1, 1), (22, 0.5, 1), (46, 0.5, 1), (54, 0.5, 0.5)]
)
def test_words_belong_together_within_a_sentence_and_within_a_paragraph(
    between: int, sentence: float, paragraph: float
) -> None:
    passage = ["tide", *["and"] * between, "reef"]
    close = matches(["tide", "reef"], passage, {"tide": 1.0, "reef": 1.0})
    assert (close.covered, close.sentence, close.paragraph) == (1, sentence, paragraph)


def test_repeated_words_count_ever_less_and_a_long_passage_counts_less() -> None:
    once, twice = bm25(["tide"], [["tide", "reef"], ["tide", "tide"]])
    assert (once, twice) == (pytest.approx(2 / 5), pytest.approx(4 / 7))
    short, long = bm25(["tide"], [["tide"], ["tide", "and", "the"]])
    assert (short, long) == (pytest.approx(16 / 31), pytest.approx(16 / 49))


@pytest.mark.parametrize(("length", "stay"), [(190, 2), (210, 1)])
def test_a_short_text_stays_in_each_section_and_a_long_one_once(length: int, stay: int) -> None:
    text = "".join(f"word{number} " for number in range(100))[: length - 1] + "."
    page = f"# One\n\n{text}\n\n# Two\n\n{text}"
    assert len(cut_passages(page, 512).passages) == stay


@pytest.mark.parametrize(("others", "is_found"), [(9, True), (10, False)])
def test_the_ten_best_by_words_are_compared_by_relevance(others: int, is_found: bool) -> None:
    """A passage with both words side by side answers best, but a short one that repeats them scores more."""
    far = " ".join(["tide"] * 6 + ["and"] * 60 + ["reef"] * 6)
    close = f"tide reef {'and ' * 300}"
    ((best, _),) = ranked(["tide reef"], [*[far] * others, close], [[None] * (others + 1)], 1.0, 1)[
        0
    ]
    assert (best == others) is is_found


def test_an_answer_is_more_probable_than_not() -> None:
    assert ANSWERS == 0.5


def test_a_passage_is_embedded_below_its_two_nearest_headings_and_up_to_a_limit() -> None:
    (embedded,) = cut_passages("# One\n\n## Two\n\n### Three\n\nText.", 512).embedded
    assert embedded.startswith("Two\nThree\n")
    (beginning,) = cut_passages(f"{'word ' * 1_580}near {'word ' * 40}far", 10_000).embedded
    assert "near" in beginning
    assert "far" not in beginning


@pytest.mark.parametrize(("paragraphs", "more"), [(2_990, False), (3_010, True)])
def test_a_page_has_at_most_three_thousand_passages(paragraphs: int, more: bool) -> None:
    page = "\n\n".join(f"Tide {10_000 + number}." for number in range(paragraphs))
    cut = cut_passages(page, 4)
    assert (len(cut.passages), cut.more) == (min(paragraphs, 3_000), more)
