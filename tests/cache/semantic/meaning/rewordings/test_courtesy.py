"""Courtesies around a question are not part of it."""

from __future__ import annotations

import pytest

from websearch_gateway.cache.semantic.meaning.rewordings.courtesy import without_courtesies


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("could you please explain how vaccines work", "how vaccines work"),
        ("Hi there, what is the boiling point of ethanol? Thanks!", "what is the boiling point of ethanol"),
        ("I was wondering how tall Mount Fuji is", "how tall is Mount Fuji"),
        ("does anyone know what the WHO does", "what the WHO does"),
        ("do you know what the capital of peru is?", "what is the capital of peru"),
        ("I'd like to know the population of norway, please", "the population of norway"),
        ("explain how photosynthesis works", "how does photosynthesis work"),
        ("how photosynthesis works", "how does photosynthesis work"),
    ],
)
def test_courtesies_are_removed_and_an_embedded_question_becomes_a_direct_one(said: str, asked: str) -> None:
    assert without_courtesies(said) == asked


@pytest.mark.parametrize(
    "text",
    [
        "hello world in rust",
        "hey jude lyrics",
        "how to say please in japanese",
        "how to say thank you",
        "please please me release date",
        "explain plan in postgres",
        "do you know how to dance song",
        "SO file on linux",
        "please",
        "",
    ],
)
def test_the_same_words_within_a_question_are_kept(text: str) -> None:
    assert without_courtesies(text).endswith(text.removeprefix("do you know "))
