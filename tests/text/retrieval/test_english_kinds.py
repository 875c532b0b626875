"""The kind of thing that an English question asks for, and the things of this kind."""

import pytest

from websearch_gateway.text.retrieval.answer_kinds import asked_for


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who built the Eiffel tower?", "person"),
        ("What German poet came from Weimar?", "person"),
        ("What individual is the school named after?", "person"),
        ("When was the tower built?", "date"),
        ("In which decade were injectors widely used?", "date"),
        ("How old was the keeper when he left?", "number"),
        ("When it rains, what city floods first?", "place"),
        ("What is the largest city of Poland?", "place"),
        ("What percentage of the forest was lost?", "number"),
        ("What was the population of Oslo?", "number"),
        ("How much money did the bridge cost?", "money"),
        ("How long did the plague last?", "duration"),
        ("What are engines with four stages known as?", "name"),
        ("What color is the school?", "color"),
        ("Why was the club relegated?", "reason"),
        ("What language do they speak?", "named"),
        ("What kind of forest is it?", None),
        ("How does a turbine work?", None),
        ("eiffel tower", None),
    ],
)
def test_the_question_word_and_its_noun_give_the_kind(question: str, kind: str | None) -> None:
    found = asked_for(question, "en")
    assert (found.name if found else None) == kind


@pytest.mark.parametrize(
    ("question", "sentence", "things"),
    [
        ("Who built the Eiffel tower?", "The tower was built by Gustave Koechlin then.", ["Gustave Koechlin"]),
        ("Who built it?", "The men built it. In May it stood.", ["May"]),
        ("How many keepers lived there in 1901?", "In 1901 four keepers lived there.", ["four"]),
        ("What is the lamp called?", 'They call it "old eye".', ['"old eye']),
        ("When was it lit?", "It was lit in the late 1870s.", ["1870s"]),
        ("What color is it?", "The school is gold and black.", ["gold", "black"]),
    ],
)
def test_words_of_the_question_are_not_its_answer(question: str, sentence: str, things: list[str]) -> None:
    kind = asked_for(question, "en")
    assert kind is not None
    words = frozenset(question.lower().strip("?").split())
    assert [match[0] for match in kind.found_in(sentence, words)] == things
