"""Words that are synonyms in some contexts, and not in others."""

from __future__ import annotations

import pytest

from websearch_gateway.cache.semantic.meaning.difference import difference
from websearch_gateway.cache.semantic.meaning.frames import parse_question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("how to reduce cholesterol", "how to lower cholesterol"),
        ("how to choose a mattress", "how to pick a mattress"),
        ("how to stop smoking", "how to quit smoking"),
        ("blood sugar level after eating", "blood sugar after eating"),
        ("power consumption of a refrigerator", "how much power does a refrigerator use"),
        ("what's new in typescript 5.4", "typescript 5.4 features"),
        ("date of the assassination of abraham lincoln", "when was abraham lincoln assassinated"),
        ("who was the 16th president of the united states", "sixteenth us president"),
        ("http error 502", "http 502 error"),
        ("what does error code 404 mean", "meaning of 404 error code"),
        ("is butter or margarine healthier", "is margarine or butter healthier"),
        ("is it cheaper to rent or buy in berlin", "is it cheaper to buy or rent in berlin"),
    ],
)
def test_in_these_contexts_they_are_synonyms(one: str, other: str) -> None:
    assert difference(parse_question(one), parse_question(other)) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lower back pain", "reduce back pain"),
        ("how to pick a lock", "how to choose a lock"),
        ("how to quit vim", "how to stop vim"),
        ("sea level of the dead sea", "dead sea"),
        ("energy consumption of germany", "energy production of germany"),
        ("new zealand population", "zealand population"),
        ("date of the assassination of lincoln", "place of the assassination of lincoln"),
        ("who was the 16th vice president", "who was the 16th president"),
        ("http error 502 in chrome 90", "http error 90 in chrome 502"),
        ("is whole milk or cream better", "is whole cream or milk better"),
        ("is tea or coffee maker cheaper", "is coffee or tea maker cheaper"),
    ],
)
def test_in_other_contexts_they_are_not(one: str, other: str) -> None:
    assert difference(parse_question(one), parse_question(other)) is not None
