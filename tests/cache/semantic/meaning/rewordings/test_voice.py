"""Passive questions are parsed as active ones, and agent and object never change places."""

from __future__ import annotations

import pytest

from websearch_gateway.cache.semantic.meaning.difference import difference
from websearch_gateway.cache.semantic.meaning.frames import parse_question


@pytest.mark.parametrize(
    ("passive", "active"),
    [
        ("was poland invaded by germany in 1939", "did germany invade poland in 1939"),
        ("when was america discovered by columbus", "when did columbus discover america"),
        ("who was the mona lisa painted by", "who painted the mona lisa"),
        ("who was carthage destroyed by", "who destroyed carthage"),
        ("which company is the playstation made by", "which company makes the playstation"),
        ("where was the declaration of independence signed", "where did they sign the declaration of independence"),
    ],
)
def test_a_passive_question_equals_its_active_form(passive: str, active: str) -> None:
    assert difference(parse_question(passive), parse_question(active)) is None
    assert difference(parse_question(active), parse_question(passive)) is None


@pytest.mark.parametrize(
    ("passive", "active"),
    [
        ("was poland invaded by germany", "did poland invade germany"),
        ("who was taught by plato", "who taught plato"),
        ("who was the mona lisa painted for", "who painted the mona lisa"),
        ("was the bridge built by 1900", "was the bridge built in 1900"),
        ("when was paris liberated", "when did paris liberate"),
        ("which company was bought by instagram", "which company bought instagram"),
        ("when was the king crowned by the pope", "when did the king crown the pope"),
    ],
)
def test_agent_and_object_never_change_places(passive: str, active: str) -> None:
    assert difference(parse_question(passive), parse_question(active)) is not None
