from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.retrieval.language import language_of


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


@given(st.text())
def test_any_text_has_a_language(text: str) -> None:
    assert len(language_of(text)) == 2
