from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.draft import Cite, claims_of


def told(reply: str) -> list[tuple[str, list[int]]]:
    return [(claim.text, [cite.passage for cite in claim.cites]) for claim in claims_of(reply)]


@pytest.mark.parametrize(
    "reply",
    [
        "It is 330 m high [1]. It opened in 1889 [2][3].",
        "It is 330 m high. [1] It opened in 1889. [2, 3]",
        "Answer: It is 330 m high [[1]]. It opened in 1889【2】【3】.",
        "<think>Let me see [9].</think>It is 330 m high [1]. It opened in 1889 [2][3].",
        "So the passage says 330.</think>\nIt is 330 m high [1]. It opened in 1889 [2][3].",
        "- It is 330 m high [1].\n- It opened in 1889 [2][3].",
        'It is 330 m high [1: "The tower is tall. It has 330 m."]. It opened in 1889 [2: “open since 1889”] [3].',
    ],
)
def test_plain_text_is_read_however_a_model_writes_its_marks(reply: str) -> None:
    assert told(reply) == [("It is 330 m high.", [1]), ("It opened in 1889.", [2, 3])]


def test_the_copied_words_belong_to_their_passage() -> None:
    reply = 'It is high [1: "it rises. 330 m up"] and old [2: „seit 1889“][3].'
    (claim,) = claims_of(reply)
    assert claim.text == "It is high and old."
    assert claim.cites == (Cite(1, "it rises. 330 m up"), Cite(2, "seit 1889"), Cite(3))


def test_truncated_json_is_read_up_to_its_end() -> None:
    sentences = [{"text": f"{word}.", "quotes": [{"passage": 1, "words": word}]} for word in ("One", "Two")]
    whole = json.dumps({"sentences": sentences})
    assert claims_of(f"```json\n{whole}\n```")[0].cites == (Cite(1, "One"),)
    assert told(f"```json\n{whole}\n```") == [("One.", [1]), ("Two.", [1])]
    assert told(whole[: whole.index("Two")]) == [("One.", [1])]


def test_numbers_without_quotes_are_understood_in_json() -> None:
    reply = {"sentences": [{"text": "One.", "passages": [1, 2]}, {"text": "Two.", "quotes": [{"passage": True}, 7]}]}
    assert told(json.dumps(reply)) == [("One.", [1, 2]), ("Two.", [])]


def test_words_stay_apart_where_a_mark_was_removed() -> None:
    """Otherwise `3` and `30`, which a passage holds, would become `330`, which it does not."""
    assert told("It is 3[1]30 m high [1].") == [("It is 3 30 m high.", [1])]


def test_sentences_in_one_field_of_json_are_checked_one_by_one() -> None:
    reply = json.dumps({"sentences": [{"text": "It is 330 m high. It is haunted.", "passages": [1]}]})
    assert told(reply) == [("It is 330 m high.", [1]), ("It is haunted.", [1])]


def test_an_unfinished_thought_is_not_an_answer() -> None:
    assert told("<think>It is 330 m high [1].") == []


@given(st.text(alphabet='{["text":1,]} <think>/', max_size=200))
def test_any_reply_can_be_read(reply: str) -> None:
    assert isinstance(claims_of(reply), list)
