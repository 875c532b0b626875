import pytest

from websearch_gateway.text.answer_kinds import asked_for


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


CASES = (
    ("de", "Wann verließ der Wärter die Insel?", "date", "Er ging im Herbst.", "Er ging allein."),
    ("de", "Wie viele Boote hatte Ann?", "number", "Es waren zwölf Boote.", "Es waren viele Boote."),
    ("de", "Wer baute den Turm?", "person", "Ihn baute Ann Berg.", "Ihn baute eine Firma."),
    ("de", "Warum ging der Wärter?", "reason", "Er ging, weil es kalt war.", "Er ging nach Hause."),
    ("es", "¿Cuándo se fue el farero?", "date", "Se fue en abril.", "Se fue solo."),
    ("es", "¿Cuántos barcos tenía Ann?", "number", "Tenía doce barcos.", "Tenía muchos barcos."),
    ("es", "¿Dónde vivía el farero?", "place", "Vivía en Bergen.", "Vivía en una casa."),
    ("ru", "Когда ушёл смотритель?", "date", "Он ушёл в апреле.", "Он ушёл один."),
    ("ru", "Сколько лодок было у Анны?", "number", "Было пять лодок.", "Было много лодок."),
    ("ru", "Почему ушёл смотритель?", "reason", "Он ушёл из-за холода.", "Он ушёл домой."),
    ("el", "Πότε έφυγε ο φύλακας;", "date", "Έφυγε τον Απρίλιο του 1901.", "Έφυγε μόνος."),
    ("tr", "Bekçi ne zaman gitti?", "date", "Nisan ayında gitti.", "Tek başına gitti."),
    ("tr", "Ann'ın kaç teknesi vardı?", "number", "Beş teknesi vardı.", "Tekneleri vardı."),
    ("vi", "Người gác đèn rời đảo khi nào?", "date", "Ông rời đảo vào tháng tư.", "Ông rời đảo một mình."),
    ("ro", "Câte bărci avea Ann?", "number", "Avea cinci bărci.", "Avea multe bărci."),
    ("ar", "متى غادر الحارس؟", "date", "غادر في أبريل.", "غادر وحيدا."),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने 1987 में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने फरवरी में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने फ़रवरी में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("th", "ผู้ดูแลออกจากเกาะเมื่อใด", "date", "เขาออกไปในเดือนเมษายน", "เขาออกไปคนเดียว"),
    ("zh", "守塔人什么时候离开？", "date", "他于1987年离开。", "他独自离开。"),
    ("zh", "守塔人为什么离开？", "reason", "由于天冷，他离开了。", "他回家了。"),
)


@pytest.mark.parametrize(("language", "question", "kind", "given", "missing"), CASES)
def test_a_question_asks_for_a_kind_that_a_sentence_has_or_not(
    language: str, question: str, kind: str, given: str, missing: str
) -> None:
    asked = asked_for(question, language)
    assert asked is not None
    assert asked.name == kind
    assert asked.found_in(given, asked.said_in(question))
    assert not asked.found_in(missing, asked.said_in(question))


def test_the_first_question_word_decides() -> None:
    asked = asked_for("Сколько лет было Анне, когда она ушла?", "ru")
    assert asked is not None
    assert asked.name == "number"


def test_a_name_in_the_question_is_not_its_answer_in_any_grammatical_case() -> None:
    question = "Кто построил маяк Скерри?"
    asked = asked_for(question, "ru")
    assert asked is not None
    assert not asked.found_in("Он служил на Скеррисе.", asked.said_in(question))
    assert asked.found_in("Он служил у Берга.", asked.said_in(question))


@pytest.mark.parametrize(("language", "text"), [("de", "Was geschah?"), ("sw", "Nani?"), ("ar", "ماذا حدث؟")])
def test_other_questions_ask_for_no_kind(language: str, text: str) -> None:
    assert asked_for(text, language) is None
