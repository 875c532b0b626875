"""The kind of thing that a question in another language asks for, and sentences with such a thing."""

import pytest

from websearch_gateway.text.retrieval.answer_kinds import asked_for

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
