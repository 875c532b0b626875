from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.extractive import find_evidence
from websearch_gateway.base.tokenization import language_of, query_terms, tokens_of_each
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.sentences import Document


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How tall is the Eiffel Tower?", "en"),
        ("eiffel tower height", "en"),
        ("", "en"),
        ("Wie hoch ist der Eiffelturm?", "de"),
        ("Was versteht man unter Kulturerbe?", "de"),
        ("Weshalb zogen Einwohner in Vororte?", "de"),
        ("Was forderte die Wärterin?", "de"),
        ("Was war Skerry?", "de"),
        ("Was Skerry built by Ann Berg?", "en"),
        ("Wo regierte die Trần-Dynastie?", "de"),
        ("¿A qué isla fue?", "es"),
        ("Skerry'nin feneri neydi?", "tr"),
        ("Skerry là gì?", "vi"),
        ("Câte bărci a avut Ann?", "ro"),
        ("Eyfel Kulesi hangi nehrin kenarında?", "tr"),
        ("¿Cuánto mide la torre Eiffel?", "es"),
        ("Quelle est la hauteur de la tour Eiffel ?", "fr"),
        ("Quanto è alta la torre Eiffel?", "it"),
        ("Qual é a altura da Torre Eiffel?", "pt"),
        ("Hoe hoog is de Eiffeltoren?", "nl"),
        ("Jak wysoka jest wieża Eiffla?", "pl"),
        ("Eyfel Kulesi ne kadar yüksek?", "tr"),
        ("Cât de înalt este Turnul Eiffel?", "ro"),
        ("Tháp Eiffel cao bao nhiêu mét?", "vi"),
        ("エッフェル塔の高さは?", "ja"),
        ("埃菲尔铁塔有多高?", "zh"),
        ("에펠탑의 높이는?", "ko"),
        ("Какова высота Эйфелевой башни?", "ru"),
        ("Яка висота Ейфелевої вежі?", "uk"),
        ("ما ارتفاع برج إيفل؟", "ar"),
        ("Πόσο ψηλός είναι ο Πύργος του Άιφελ;", "el"),
        ("एफिल टॉवर कितना ऊँचा है?", "hi"),
    ],
)
def test_the_language_of_a_question_is_recognised(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    "keywords",
    [
        "max paracetamol dose per day",
        "calories per slice rye bread",
        "lighthouse visitors per 100 inhabitants",
        "skerry health care costs",
        "pet care centers skerry",
        "long term care insurance",
        "cat food brands",
        "indoor cats lifespan",
        "los angeles population",
        "hotels las vegas cheap",
        "el paso weather",
        "el salvador president",
        "az property tax",
        "erie pa beach",
        "480 volt motor wiring",
        "e-bike battery range",
        "O'Hara lighthouse opening hours",
        "roe v. wade summary",
        "w-4 tax form",
        "co2 concentration chart",
        "u.s.a. lighthouse map",
    ],
)
def test_keywords_stay_english_beside_a_word_that_another_language_has_too(keywords: str) -> None:
    assert language_of(keywords) == "en"


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("ricette dolci per bambini", "it"),
        ("latte e farina", "it"),
        ("orasul care exporta sare", "ro"),
        ("cat costa benzina", "ro"),
        ("los faros más altos", "es"),
        ("el faro rojo", "es"),
        ("faros y playas", "es"),
        ("pogoda w Gdyni", "pl"),
        ("počasí v Brně", "cs"),
        ("vad kostar fyren på Skerry", "sv"),
        ("mi az a világítótorony", "hu"),
        ("farol o mais antigo", "pt"),
    ],
)
def test_a_few_words_of_another_language_are_not_taken_for_english(
    question: str, language: str
) -> None:
    assert language_of(question) == language


@given(st.text())
def test_any_text_has_a_language(text: str) -> None:
    assert len(language_of(text)) == 2


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
    first, second = tokens_of_each([one, other], language)
    assert first == second


def test_vietnamese_words_that_differ_in_tone_alone_stay_apart() -> None:
    assert len(set(map(tuple, tokens_of_each(["ma", "má", "mã", "mạ"], "vi")))) == 4


@pytest.mark.parametrize(
    ("language", "question", "terms"),
    [
        ("de", "Wer wohnt in welchem Turm?", ["wohnt", "turm"]),
        ("vi", "Hải đăng được xây dựng khi nào?", ["hải", "đăng", "xây", "dựng"]),
        ("sv", "När byggdes den och vem betalade?", ["bygg", "den", "betal"]),
    ],
)
def test_function_words_of_a_question_do_not_count(
    language: str, question: str, terms: list[str]
) -> None:
    assert query_terms(question, language) == terms


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("雨", "斯凯里岛上有一座灯塔。岛上全年都会下雨。守塔人养了两只羊。"),
        ("岛", "灯塔由石头砌成。守塔人住在岛上。渡轮每天开两次。"),
        ("霧", "灯台は岩の上にある。冬は霧が多い。船は一日に二便ある。"),
    ],
)
def test_a_question_of_one_character_is_answered(question: str, page: str) -> None:
    found = find_evidence(question, [Document("", page)], 720, encode)
    assert question in found.sentences[0].text
    assert found.is_answer


def test_a_question_of_one_character_is_not_answered_by_a_page_without_it() -> None:
    assert (
        find_evidence(
            "茶", [Document("", "岛上全年都会下雨。守塔人养了两只羊。")], 720, encode
        ).sentences
        == ()
    )
