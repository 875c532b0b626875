from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.answers.draft import Checked, check
from websearch_gateway.answers.drafted_claims import Cite, Claim, claims_of
from websearch_gateway.answers.prompt_passages import NumberedPassage
from websearch_gateway.models import Source


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
    sentences = [
        {"text": f"{word}.", "quotes": [{"passage": 1, "words": word}]} for word in ("One", "Two")
    ]
    whole = json.dumps({"sentences": sentences})
    assert claims_of(f"```json\n{whole}\n```")[0].cites == (Cite(1, "One"),)
    assert told(f"```json\n{whole}\n```") == [("One.", [1]), ("Two.", [1])]
    assert told(whole[: whole.index("Two")]) == [("One.", [1])]


def test_a_quote_of_another_form_is_none() -> None:
    reply = {
        "sentences": [
            {"text": "One.", "quotes": [{"passage": 1}]},
            {"text": "Two.", "quotes": [{"passage": True}, 7]},
        ]
    }
    assert told(json.dumps(reply)) == [("One.", [1]), ("Two.", [])]


def test_words_stay_apart_where_a_mark_was_removed() -> None:
    """Otherwise `3` and `30`, which a passage holds, would become `330`, which it does not."""
    assert told("It is 3[1]30 m high [1].") == [("It is 3 30 m high.", [1])]


def test_sentences_in_one_field_of_json_are_checked_one_by_one() -> None:
    reply = json.dumps(
        {"sentences": [{"text": "It is 330 m high. It is haunted.", "quotes": [{"passage": 1}]}]}
    )
    assert told(reply) == [("It is 330 m high.", [1]), ("It is haunted.", [1])]


def test_an_unfinished_thought_is_not_an_answer() -> None:
    assert told("<think>It is 330 m high [1].") == []


@given(st.text(alphabet='{["text":1,]} <think>/', max_size=200))
def test_any_reply_can_be_read(reply: str) -> None:
    assert isinstance(claims_of(reply), list)


SILMARK = "Silmark, which supplies makers of phones, confirmed its plans on Monday."


def checked(sentence: str, passage: str) -> Checked:
    source = NumberedPassage(1, Source("https://a.example", "News"), "News", passage)
    return check([Claim(sentence, (Cite(1, passage),))], [source])


@pytest.mark.parametrize(
    "written",
    [
        "Silmark, which supplies makers of cars, confirmed its plans on Monday.",
        "Silmark, which supplies makers of phones, confirmed all plans on Monday.",
        "Silmark, which supplies makers of phones, confirmed its plans to investors on Monday.",
        SILMARK,
    ],
)
def test_what_nearly_copies_its_source_is_given_as_the_source_has_it_or_not_at_all(
    written: str,
) -> None:
    found = checked(written, SILMARK)
    assert found.text in ("", f"{SILMARK} [1]")
    assert {span.support for span in found.spans} <= {"verbatim"}


LANTERN = "The Sprig lantern weighs 340 grams and runs for nine hours on one charge."
COVER = "The warranty covers two years, or five if the lantern is registered within 30 days."


@pytest.mark.parametrize(
    ("written", "served"),
    [
        ("Whoever buys a Sprig gets five years of warranty.", COVER),
        ("The Sprig lantern weighs 340 grams, and its warranty covers two years.", None),
    ],
)
def test_what_a_model_combines_of_two_sentences_stays_only_if_it_has_most_of_their_words(
    written: str, served: str | None
) -> None:
    source = NumberedPassage(
        1, Source("https://a.example", "Lanterns"), "Lanterns", f"{LANTERN} {COVER}"
    )
    assert check([Claim(written)], [source]).text == f"{served or written} [1]"


def test_a_sentence_that_leaves_out_a_number_of_its_source_is_given_with_it() -> None:
    lift = "The Olm lift, in service since 1932, carries up to 40 visitors to the upper town."
    assert (
        checked("Since 1932 the Olm lift has taken visitors up the hill.", lift).text
        == f"{lift} [1]"
    )


FOUNDED, OPENED = "The museum was founded in 1793.", "The library was opened in 1850."
URGED, STOPPED = (
    "The mayor urged residents to stay at home.",
    "The rail operator stopped all trains on Friday.",
)


@pytest.mark.parametrize(
    ("passage", "written"),
    [
        (
            "Anna Berg designed the arch; Tom Lund designed the piers.",
            "Anna Lund designed the arch.",
        ),
        (
            "The bridge was built by John Miller, and Anna Berg designed the towers.",
            "Anna Berg built the bridge.",
        ),
        ("The tower was built from 1887 to 1889 in Olm.", "The tower was finished in 1887."),
        (f"{FOUNDED} {OPENED}", "The library was founded in 1793."),
        (f"{URGED} {STOPPED}", "The rail operator urged residents to stay at home."),
        (
            "One of the authors of the report is Tom Lund of Oslo.",
            "Tom Lund of Oslo is the author of the report.",
        ),
        (
            "The road will likely be numbered Interstate 9 by the state.",
            "Interstate 9 is how the state numbered the road.",
        ),
        (
            "Tickets bought on board cost more than those bought online.",
            "Tickets bought online cost more than on board.",
        ),
        (
            "The majority of the wool comes from Peru, with 60% of it, followed by Chile with 13%, Bolivia with 10%.",
            "Bolivia supplies 13 percent of the wool, a share that trails Peru.",
        ),
        (
            "Curator Lena Brandt urged visitors not to touch the clock, and Joel Pike praised the old museum.",
            "Joel Pike urged visitors not to touch the clock.",
        ),
        (
            "Since 1926 the codex has belonged to the Trento library.",
            "Trento has owned the codex since the 1920s.",
        ),
    ],
)
def test_where_a_sentence_may_say_something_else_its_source_is_given(
    passage: str, written: str
) -> None:
    found = checked(written, passage)
    (shown,) = {span.quote for span in found.spans}
    assert found.text == f"{shown} [1]"
    assert shown is not None
    assert shown in passage
    assert {span.support for span in found.spans} == {"verbatim"}


def test_what_no_source_supports_counts_as_left_out_though_the_source_is_given() -> None:
    found = checked("Silmark confirmed none of its plans on Monday.", SILMARK)
    assert (found.text, found.dropped_sentences, found.kept_sentences) == (f"{SILMARK} [1]", 1, 0)
    assert checked("The moon is made of green cheese.", SILMARK).text == ""


def test_a_sentence_cut_after_an_initial_does_not_stand_for_another() -> None:
    passage = "The Olm board sold the old mill to Anna Berg in consideration of c. £400 as the clerk of the parish wrote."
    assert checked("Tom Lund sold the old mill of the Olm board.", passage).text == ""


def test_a_near_copy_is_given_once() -> None:
    source = NumberedPassage(1, Source("https://a.example", "News"), "News", SILMARK)
    twice = [
        Claim(SILMARK.replace(one, other), (Cite(1, SILMARK),))
        for one, other in (("its", "the"), ("which", "that"))
    ]
    assert check(twice, [source]).text == f"{SILMARK} [1]"


@pytest.mark.parametrize(
    ("written", "passage"),
    [
        ("Plans of Silmark, a helper of phone makers, stood on Monday.", SILMARK),
        (
            "Silmark confirmed its plans for phones on Monday.",
            "It confirmed its plans for Silmark phones on Monday.",
        ),
    ],
)
def test_other_words_and_a_source_that_does_not_stand_alone_are_left(
    written: str, passage: str
) -> None:
    assert SILMARK not in checked(written, passage).text
    assert "It confirmed" not in checked(written, passage).text
