"""Sentence splitting: what a citation supports and what an extractive answer quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import too_much
from websearch_gateway.base.markdown import split_sentences

SCRAPS = (
    "a",
    " x ",
    "é",
    "Dr.",
    "B.",
    "3.14",
    ". ",
    "! ",
    "? ",
    "…",
    "...",
    "。",
    "！",
    "「",
    "」",
    "\\",
    "\t",
    "\n",
    "\n\n",
)
MARKS = (
    "# ",
    "- ",
    "1. ",
    "`",
    "```",
    "```\n",
    "~~~",
    "===",
    "---",
    "| ",
    "> ",
    "*",
    "**",
    "_",
    "[",
    "]",
    "(",
    ")",
)
LINKS = ("[a](b)", "https://a.b/c.", "([x](y))", "[1]", "\r\n")
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(SCRAPS + MARKS + LINKS), max_size=60).map("".join)
)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@given(TEXTS)
def test_sentences_tile_the_non_blank_text_in_order(text: str) -> None:
    position = 0
    for start, end in split_sentences(text):
        assert start < end
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip()
        position = end
    assert text[position:].strip() == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It rained. It poured! Did it stop? No.",
            ["It rained.", "It poured!", "Did it stop?", "No."],
        ),
        ("Dr. Smith met J. R. Ewing. He left.", ["Dr. Smith met J. R. Ewing.", "He left."]),
        (
            "It made 94 000 (c. 23,800 EUR). He left.",
            ["It made 94 000 (c. 23,800 EUR).", "He left."],
        ),
        (
            "Writers like J. A. Hobson agreed. A. I. Smith did not.",
            ["Writers like J. A. Hobson agreed.", "A. I. Smith did not."],
        ),
        (
            "It was settled in Roe v. Wade. Then Doe v. Bolton came.",
            ["It was settled in Roe v. Wade.", "Then Doe v. Bolton came."],
        ),
        (
            "Pi is 3.14 at 3 p.m. in the U.S. The end.",
            ["Pi is 3.14 at 3 p.m. in the U.S.", "The end."],
        ),
        ("He lives in the U.S. Virgin Islands.", ["He lives in the U.S. Virgin Islands."]),
        (
            "See Fig. 3 and No. 5. He said no. Then he left.",
            ["See Fig. 3 and No. 5.", "He said no.", "Then he left."],
        ),
        ("Acme Inc. Ltd. makes it, e.g. Anvils.", ["Acme Inc. Ltd. makes it, e.g. Anvils."]),
        ('"Really?" he asked. "Yes." She left.', ['"Really?" he asked.', '"Yes."', "She left."]),
        (
            "Wait... what? And… so on. Well… Then he left.",
            ["Wait... what?", "And… so on.", "Well…", "Then he left."],
        ),
        ("Founded in 1999. The rest.", ["Founded in 1999.", "The rest."]),
        ("It was **bold.** Then it was not.", ["It was **bold.**", "Then it was not."]),
    ],
)
def test_english_is_split_only_at_real_sentence_ends(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("彼は言った。本当？うん！", ["彼は言った。", "本当？", "うん！"]),
        ("「はい。」と答えた。終わり。", ["「はい。」と答えた。", "終わり。"]),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
        (
            "¿Qué es? ¡Hola! El Sr. Pérez llegó. ¿Y tú?",
            ["¿Qué es?", "¡Hola!", "El Sr. Pérez llegó.", "¿Y tú?"],
        ),
        ("«Vino.» Luego se fue.", ["«Vino.»", "Luego se fue."]),
        ("ما هذا؟ هذا كتاب.", ["ما هذا؟", "هذا كتاب."]),
        ("यह ई. बर्ग का घर है। वह गया।", ["यह ई. बर्ग का घर है।", "वह गया।"]),
        ("वह घर है. वह गया.", ["वह घर है.", "वह गया."]),
        ("บ้านของ อี. เบิร์ก อยู่บนเกาะ", ["บ้านของ อี. เบิร์ก อยู่บนเกาะ"]),
        ("ปี 1901. เขาไปแล้ว", ["ปี 1901.", "เขาไปแล้ว"]),
    ],
)
def test_sentences_of_other_languages_are_split_by_their_own_marks(
    text: str, expected: list[str]
) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.b/c.d?e=fo. Next.", ["See https://a.b/c.d?e=fo.", "Next."]),
        ("Run `a. B. C` now. Then stop.", ["Run `a. B. C` now.", "Then stop."]),
        (
            "Read [One. Two](https://x.y/(z)) now. Stop.",
            ["Read [One. Two](https://x.y/(z)) now.", "Stop."],
        ),
        ("# A heading. Whole\nText. More.", ["# A heading. Whole", "Text.", "More."]),
        ("Title\n===\nText.", ["Title\n===", "Text."]),
        ("- One. Two\n- Three\n2. Four. Five", ["- One.", "Two", "- Three", "2. Four.", "Five"]),
        ("| A. B | C |\n|---|---|\n| 1. 2 | 3 |", ["| A. B | C |", "|---|---|", "| 1. 2 | 3 |"]),
        (
            "```py\nx. Y. Z\n\n# no heading\n```\nDone.",
            ["```py\nx. Y. Z\n\n# no heading\n```", "Done."],
        ),
        ("````\n```\nx. Y\n````\nDone.", ["````\n```\nx. Y\n````", "Done."]),
        (
            "A paragraph without a stop\n\nAnother one",
            ["A paragraph without a stop", "Another one"],
        ),
        ("A line that is\nwrapped softly. Next.", ["A line that is\nwrapped softly.", "Next."]),
        ("", []),
    ],
)
def test_each_unit_of_markdown_is_one_sentence(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It rains ([bbc.com](https://bbc.com/a)). It pours. ([x.y](https://x.y)) Then sun.",
            [
                "It rains ([bbc.com](https://bbc.com/a)).",
                "It pours. ([x.y](https://x.y))",
                "Then sun.",
            ],
        ),
        ("It rains. [1] [2] It pours.[3] Sun.", ["It rains. [1] [2]", "It pours.[3]", "Sun."]),
        ("It rains.【1†source】It pours.", ["It rains.【1†source】", "It pours."]),
        ("It rains. [BBC](https://bbc.com)", ["It rains. [BBC](https://bbc.com)"]),
        (
            "It rains. [BBC](https://bbc.com) said so.",
            ["It rains.", "[BBC](https://bbc.com) said so."],
        ),
    ],
)
def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before_it(
    text: str, expected: list[str]
) -> None:
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "scrap",
    [
        "a. ",
        "[",
        "[a](",
        "![a",
        "`",
        "``a`",
        ".",
        "((",
        "**",
        "_a",
        "|",
        "- ",
        "\n",
        "\n\n ",
        "。」",
        "A.",
        "https://",
        "[[a]",
        "--- ",
        "1. ",
        "([",
    ],
)
def test_hostile_text_costs_linear_time(scrap: str) -> None:
    assert too_much(split_sentences, scrap) is None
    text = scrap * 1_000
    assert all(text[start:end].strip() for start, end in split_sentences(text))


@pytest.mark.parametrize(
    "text", ["." * 300_000 + "a", "。" * 300_000 + "」ぁ"], ids=["full stops", "wide stops"]
)
def test_endless_full_stops_that_end_no_sentence_cost_linear_time(text: str) -> None:
    """Looked at from each of them to the last, they took many minutes."""
    assert sentences(text) == [text]
