"""The fitted numbers on small pages of our own: what they must reach, so that a changed constant is noticed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from importlib import resources

import pytest

from tests.evidence.labelled_questions import PAGES
from websearch_gateway.answers.extractive import Findings, find_evidence
from websearch_gateway.evidence import Document, encode
from websearch_gateway.evidence.ranking import NUMBERS, Fitted, fitted

ROOM = 720


@dataclass(frozen=True)
class Asked:
    """A question, what is quoted from all pages and from all others than its own, and the words that answer."""

    question: str
    answer: str
    own: Findings
    strangers: Findings


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    found = []
    for page in PAGES:
        documents = [Document(other.title, other.markdown) for other in PAGES]
        strangers = [document for document in documents if document.title != page.title]
        for question, answer in page.questions.items():
            own = find_evidence(question, documents, ROOM, encode)
            others = find_evidence(question, strangers, ROOM, encode)
            found.append(Asked(question, answer, own, others))
    return found


def missed(asked: list[Asked], quotes: int | None) -> list[str]:
    return [
        each.question
        for each in asked
        if not any(each.answer in quote.text for quote in each.own.sentences[:quotes])
    ]


def test_the_answer_is_quoted_and_mostly_first(asked: list[Asked]) -> None:
    assert len(missed(asked, quotes=None)) <= 2
    assert len(missed(asked, quotes=1)) <= 3


def test_own_questions_are_answered_and_those_of_strangers_are_not(asked: list[Asked]) -> None:
    assert sum(not each.own.is_answer for each in asked) <= 1
    assert not [each.question for each in asked if each.strangers.is_answer]


def test_little_is_quoted_that_nobody_asked_for(asked: list[Asked]) -> None:
    quotes = [quote.text for each in asked for quote in each.own.sentences]
    assert len(quotes) <= 50
    assert sum(map(len, quotes)) <= 4_900


def test_the_numbers_name_their_data_and_each_is_used() -> None:
    read = json.loads(resources.files("websearch_gateway.evidence").joinpath(NUMBERS).read_text())
    assert any("XQuAD" in name for name in read["data"])
    assert any("SQuAD" in name for name in read["data"])
    named = {field.name for field in fields(Fitted)}
    assert named | {"data"} >= read.keys() >= named
    assert fitted().choice.keys() == {
        "bias", "share", "adds", "passage", "beside", "lacks", "further"
    }  # fmt: skip
