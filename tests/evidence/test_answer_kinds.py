import pytest

from websearch_gateway.evidence.answer_kinds import asked_for


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the tower built?", "date"),
        ("In which decade were injectors widely used?", "date"),
        ("How old was the keeper when he left?", "number"),
        ("When it rains, what city floods first?", None),
        ("Who was king when the tower was built?", None),
        ("What percentage of the forest was lost?", "number"),
        ("What was the population of Oslo?", "number"),
        ("How much money did the bridge cost?", "number"),
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
        ("How many keepers lived there in 1901?", "In 1901 four keepers lived there.", ["four"]),
        ("How many sisters had Ann?", "She had six.", ["six"]),
        ("How long did the plague last?", "The plague lasted a year.", ["a year"]),
        ("When was it lit?", "It was lit in the late 1870s.", ["1870"]),
        ("When was it lit?", "It was lit in May, at 330 metres.", []),
        ("When was it lit?", "It was lit in 911, or 912.", ["911", "912"]),
        ("When was it lit?", "It was lit in May 1901.", ["May", "1901"]),
    ],
)
def test_words_of_the_question_are_not_its_answer(
    question: str, sentence: str, things: list[str]
) -> None:
    kind = asked_for(question, "en")
    assert kind is not None
    assert [match[0] for match in kind.found_in(sentence)] == things


CASES = (
    ("de", "Wann verließ der Wärter die Insel?", "date", "Er ging im Herbst.", "Er ging allein."),
    (
        "de",
        "Wie viele Boote hatte Ann?",
        "number",
        "Es waren zwölf Boote.",
        "Es waren viele Boote.",
    ),
    ("es", "¿Cuándo se fue el farero?", "date", "Se fue en abril.", "Se fue solo."),
    ("es", "¿Cuántos barcos tenía Ann?", "number", "Tenía doce barcos.", "Tenía muchos barcos."),
    ("ru", "Когда ушёл смотритель?", "date", "Он ушёл в апреле.", "Он ушёл один."),
    ("ru", "Сколько лодок было у Анны?", "number", "Было пять лодок.", "Было много лодок."),
    ("el", "Πότε έφυγε ο φύλακας;", "date", "Έφυγε τον Απρίλιο του 1901.", "Έφυγε μόνος."),
    ("tr", "Bekçi ne zaman gitti?", "date", "Nisan ayında gitti.", "Tek başına gitti."),
    ("tr", "Ann'ın kaç teknesi vardı?", "number", "Beş teknesi vardı.", "Tekneleri vardı."),
    (
        "vi",
        "Người gác đèn rời đảo khi nào?",
        "date",
        "Ông rời đảo vào tháng tư.",
        "Ông rời đảo một mình.",
    ),
    ("ro", "Câte bărci avea Ann?", "number", "Avea cinci bărci.", "Avea multe bărci."),
    ("ar", "متى غادر الحارس؟", "date", "غادر في أبريل.", "غادر وحيدا."),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने 1987 में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने फरवरी में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("hi", "रखवाले ने द्वीप कब छोड़ा?", "date", "उसने फ़रवरी में छोड़ा।", "उसने अकेले छोड़ा।"),
    ("th", "ผู้ดูแลออกจากเกาะเมื่อใด", "date", "เขาออกไปในเดือนเมษายน", "เขาออกไปคนเดียว"),
    ("zh", "守塔人什么时候离开？", "date", "他于1987年离开。", "他独自离开。"),
)


@pytest.mark.parametrize(("language", "question", "kind", "given", "missing"), CASES)
def test_a_question_asks_for_a_kind_that_a_sentence_has_or_not(
    language: str, question: str, kind: str, given: str, missing: str
) -> None:
    asked = asked_for(question, language)
    assert asked is not None
    assert asked.name == kind
    assert asked.found_in(given)
    assert not asked.found_in(missing)


@pytest.mark.parametrize(
    ("sentence", "has_number"),
    [("เรือมีสามลำ", True), ("เรือมีพันลำ", True), ("เขาสามารถแล่นเรือ", False), ("เขามีพันธุ์ข้าว", False)],
)
def test_a_number_inside_of_another_thai_word_is_none(sentence: str, has_number: bool) -> None:
    asked = asked_for("เขามีเรือกี่ลำ", "th")
    assert asked is not None
    assert bool(asked.found_in(sentence)) is has_number


def test_the_first_twenty_numbers_of_a_sentence_are_looked_at() -> None:
    asked = asked_for("How many boats came?", "en")
    assert asked is not None
    assert len(asked.found_in("7 " * 40)) == 20


@pytest.mark.parametrize(
    ("language", "text", "asks"),
    [("en", "Somehow many boats came.", False), ("ar", "ومتى غادر الحارس؟", True)],
)
def test_a_question_word_begins_a_word_but_in_arabic_where_it_may_be_joined(
    language: str, text: str, asks: bool
) -> None:
    assert (asked_for(text, language) is not None) is asks


def test_the_first_question_word_decides() -> None:
    asked = asked_for("Сколько лет было Анне, когда она ушла?", "ru")
    assert asked is not None
    assert asked.name == "number"


def test_a_number_of_the_question_is_not_its_answer_in_any_grammatical_case() -> None:
    asked = asked_for("Сколько лодок было у тысячников?", "ru")
    assert asked is not None
    assert not asked.found_in("Тысяча рублей.")
    assert asked.found_in("Пять рублей.")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Was geschah?"),
        ("de", "Wer kam, und wann?"),
        ("fr", "Quand ?"),
        ("ar", "ماذا حدث؟"),
        ("th", "เขาพูดอะไรเกี่ยวกับหอคอย"),
    ],
)
def test_other_questions_ask_for_no_kind(language: str, text: str) -> None:
    assert asked_for(text, language) is None
