from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from websearch_gateway.answers.extractive import Findings, find_evidence
from websearch_gateway.evidence.embedders.local import Encode, encode
from websearch_gateway.evidence.ranking import (
    COMPARED,
    Question,
    content_words,
    gate_values,
    rank,
    runs,
    signals,
    terms_in,
    word_likeness,
)
from websearch_gateway.evidence.sentences import Document, candidates

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors


GAME = Document(
    "The final",
    "# The final\n\nThe defense of the Harbour Seals gave up just 308 points, ranking sixth in the league. The defense "
    "of the Harbour Seals was coached by Ann Lee in the final. The crowd sang for an hour.",
)
SOUP = Document(
    "Potato soup", "Peel the potatoes for the soup. Cook them for half an hour. Serve the soup hot."
)


def found(question: str, *pages: Document) -> Findings:
    return find_evidence(question, pages, 800, encode, 4)


def test_a_sentence_in_other_words_than_the_question_comes_first() -> None:
    page = Document(
        "Hut",
        "The hut needs coal.\n\nThe owner purchased an automobile.\n\nThe owner painted a door.",
    )
    question = "What car did the owner of the hut buy?"
    assert found(question, page).sentences[0].text == "The owner purchased an automobile."


def test_the_sentence_with_the_number_asked_for_comes_first() -> None:
    best = found(
        "How many points did the defense of the Harbour Seals surrender?", GAME, SOUP
    ).sentences[0]
    assert "308" in best.text


def test_a_page_that_shares_only_words_of_the_question_does_not_answer() -> None:
    assert found("How many points did the Harbour Seals give up?", GAME, SOUP).is_answer
    assert not found("How long was the war over the soup of the Spartan army?", SOUP).is_answer


def gate(text: str, *pages: Document) -> dict[str, float]:
    """The values of the gate for the best sentence of some pages."""
    question = Question.of(text)
    sentences = candidates(question.terms, question.language, pages)
    at, best = next(iter(signals(question, sentences, encode).items()))
    return dict(gate_values(question, sentences[at], best, pages, encode))


def test_a_rare_word_that_a_page_lacks_weighs_more_than_a_common_one() -> None:
    page = Document("", "The quokka lives in the forest of the island. " * 3)
    lacks_common, lacks_rare = (
        gate("Which quokka has an uncle?", page),
        gate("Which forest has a zugzwang?", page),
    )
    assert lacks_common["rare"] > 0.5 > lacks_rare["rare"]
    assert lacks_rare["rarest"] > lacks_common["rarest"]
    assert gate("Which forest?", page)["rare"] == 1


def test_the_headings_say_words_of_the_question_too() -> None:
    page = Document("Quokkas", "They live in the forest of the island.")
    assert gate("Which forest has quokkas?", page)["rare"] == 1


def test_the_length_of_all_pages_counts_within_bounds() -> None:
    def amount(characters: int) -> float:
        return gate("Which forest?", Document("", "A forest is old. " + "x" * characters))["amount"]

    assert amount(10) == amount(9_000) < amount(11_000) < amount(190_000)
    assert amount(190_000) < amount(210_000) == amount(400_000)


def test_rivals_are_quoted_and_what_is_clearly_worse_is_not() -> None:
    rivals = (
        "The tall tower of Oslo was lit in spring. The tall tower of Kyoto was lit against fog."
    )
    worse = "A tower needs paint, and its keepers sing songs of the sea while they wait for the boat with the bread."
    told = [
        each.text
        for each in found("Which tall tower was lit?", Document("", f"{rivals} {worse}")).sentences
    ]
    assert " ".join(told).count("was lit") == 2
    assert worse not in " ".join(told)


def test_only_the_first_sentences_by_words_are_embedded() -> None:
    asked: list[str] = []

    class Counted(Encode):
        def __call__(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return encode(texts)

    page = Document(
        "", "\n\n".join(f"The tall tower of town{number} is high." for number in range(3_000))
    )
    find_evidence("How tall is the tower?", [page], 800, Counted(), 4)
    assert 0 < len(asked) < 8 * COMPARED


def test_questions_in_other_languages_are_ordered_by_their_words_alone() -> None:
    class Never(Encode):
        def __call__(self, texts: Sequence[str]) -> Vectors:
            raise AssertionError(texts)

    page = Document("", "Der Leuchtturm von Skerry wurde 1901 gebaut. Brot ist gut.")
    assert find_evidence("Wann wurde der Leuchtturm gebaut?", [page], 800, Never(), 4).is_answer


def alike(one: str, other: str) -> float:
    return float(word_likeness([one], [other], encode)[0, 0])


def test_forms_of_a_word_are_the_same() -> None:
    assert alike("elections", "election") == 1


def test_synonyms_are_alike_and_other_words_are_not() -> None:
    assert alike("car", "automobile") > 0.3
    assert alike("soup", "treaty") < 0.1


def test_words_that_share_only_some_letters_are_not_alike() -> None:
    assert alike("ship", "shop") == alike("hall", "hill") == 0


def test_the_matrix_has_a_row_for_each_word_asked_and_a_column_for_each_word_of_the_vocabulary() -> (
    None
):
    assert word_likeness(["soup", "treaty"], ["war", "peace", "bread"], encode).shape == (2, 3)


def test_content_words_are_distinct_and_without_stop_words() -> None:
    assert content_words("The war and the Peace of the war") == ["war", "peace"]


def test_a_word_has_runs_of_four_letters_and_of_three_where_vowels_are_not_written() -> None:
    assert runs("tower") == ["_tow", "towe", "ower", "wer_"]
    assert runs("שלום") == ["_של", "שלו", "לום", "ום_"]
    assert runs("東京") == ["東京", "東", "京"]
    assert runs("a") == ["_a_"]


@pytest.mark.parametrize(("token", "says_it"), [("lightho", True), ("lighth", False)])
def test_a_word_with_three_fifths_of_the_runs_of_another_says_the_same(
    token: str, says_it: bool
) -> None:
    """Of eight runs it has five, or four."""
    question = Question.of("Which lighthouse?")
    assert [len(runs(term)) for term in question.terms] == [8]
    assert bool(terms_in(question, [token])) is says_it


def test_the_vectors_of_twenty_four_sentences_are_compared() -> None:
    page = Document("", " ".join(f"The tower of town{number} is high." for number in range(40)))
    question = Question.of("How high is the tower?")
    sentences = candidates(question.terms, question.language, [page])
    assert len(sentences) == 40
    assert len(signals(question, sentences, encode)) == 24


@pytest.mark.parametrize(("cosine", "likeness"), [(0.3, 0.0), (0.65, 0.5), (1.0, 1.0)])
def test_words_whose_vectors_have_a_cosine_of_three_tenths_are_not_alike(
    cosine: float, likeness: float
) -> None:
    class Fixed(Encode):
        def __call__(self, texts: Sequence[str]) -> Vectors:
            other = [cosine, math.sqrt(1 - cosine**2)]
            return np.array([[1, 0] if text == "soup" else other for text in texts], np.float32)

    assert word_likeness(["soup"], ["stew"], Fixed())[0, 0] == pytest.approx(likeness, abs=1e-6)


@pytest.mark.parametrize(("before", "is_read"), [(1_900, True), (2_000, False)])
def test_a_paragraph_is_read_up_to_two_thousand_characters(before: int, is_read: bool) -> None:
    first = "The forest is old. "
    filler = "It rains all day. " * 200
    item = f"- {first}{filler[: before - len(first)]} zugzwang {filler}"
    assert (gate("Which forest has a zugzwang?", Document("", item))["rare"] == 1) is is_read


def test_two_sentences_before_and_two_after_are_around_a_sentence() -> None:
    sentences = [f"Die Insel hat {count} Boote." for count in ("acht", "neun", "elf", "zehn")]
    page = Document("", " ".join((*sentences, "Der Leuchtturm der Insel ist alt.")))
    question = Question.of("Wo steht der Leuchtturm auf der Insel?")
    found = candidates(question.terms, question.language, [page])
    around = [every["around"] for _, every in sorted(signals(question, found, encode).items())]
    assert len(around) == 5
    assert max(around[:2]) < min(around[2:])


@pytest.mark.parametrize(
    ("sentence", "is_near"),
    [("The lighthouse of Marn sells bread.", True), ("Windows of Marn are blue here.", False)],
)
def test_a_sentence_with_three_tenths_of_the_runs_of_a_question_is_near(
    sentence: str, is_near: bool
) -> None:
    """The second has less than two tenths."""
    text, page = (
        "When did the keepers of Skerry paint their lighthouse windows?",
        Document("", sentence),
    )
    question = Question.of(text)
    ranked = rank(question, candidates(question.terms, "en", [page]), [page], encode)
    assert (ranked.is_near, ranked.is_answer) == (is_near, False)
