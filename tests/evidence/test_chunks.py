"""Chunking loses no text of a page, and keeps connected text together."""

from itertools import islice, pairwise, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.base.markdown import Block
from websearch_gateway.base.tokenization import estimate_tokens
from websearch_gateway.base.urls import page_in
from websearch_gateway.evidence import chunks as chunking
from websearch_gateway.evidence.chunks import at_page, chunk, overlapping, page_of, pieces

PROSE = st.lists(
    st.sampled_from(("word", "a", "é", "东", ". ", "! ", "。", " ", "\n")), max_size=40
).map("".join)
BLOCKS = st.one_of(
    PROSE,
    st.sampled_from(
        (
            "# One",
            "## Two",
            "###### Six",
            "Title\n===",
            "---",
            "- item\n- item",
            "1. first",
            "> quote",
        )
    ),
    st.sampled_from(
        ("```\ncode\n\n# no heading\n```", "~~~\nopen", "| a | b |\n|---|---|\n| 1 | 2 |")
    ),
)
PAGES = st.one_of(
    st.text(),
    st.lists(BLOCKS, max_size=20).map("\n\n".join),
    st.lists(BLOCKS, max_size=20).map("\n".join),
)


PROSE_PAGES = st.lists(
    st.one_of(PROSE, st.sampled_from(("# One", "- item\n- item", "> quote"))), max_size=20
).map("\n".join)


@given(
    st.one_of(
        st.tuples(PROSE_PAGES, st.integers(min_value=1, max_value=40)),
        st.tuples(PAGES, st.integers(min_value=1_000, max_value=2_000)),
    )
)
def test_passages_are_slices_that_contain_all_text_in_order(case: tuple[str, int]) -> None:
    """Parts of very long blocks are not slices: the fence or header of the whole is before them."""
    page, size = case
    position = 0
    for passage in chunk(page, size):
        assert passage.text.strip()
        start = page.index(passage.text, position)
        assert page[position:start].strip() == ""
        position = start + len(passage.text)
    assert page[position:].strip() == ""


@given(
    st.lists(PROSE.filter(str.strip), min_size=1, max_size=8),
    st.integers(min_value=4, max_value=40),
)
def test_a_passage_of_prose_is_never_longer_than_the_size(paragraphs: list[str], size: int) -> None:
    """The blank lines between paragraphs are not counted while a passage fills; they are one token each."""
    for passage in chunk("\n\n".join(paragraphs), size):
        assert estimate_tokens(passage.text) <= size + len(paragraphs)


def test_passages_follow_the_headings() -> None:
    page = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n### On *Linux* [here](x)\n\nSudo.\n\n## Use\n\nGo."
    assert [(passage.section_path, passage.text) for passage in chunk(page)] == [
        (("Guide",), "# Guide\n\nIntro."),
        (("Guide", "Install"), "## Install\n\nRun it."),
        (("Guide", "Install", "On Linux here"), "### On *Linux* [here](x)\n\nSudo."),
        (("Guide", "Use"), "## Use\n\nGo."),
    ]


def test_a_heading_without_text_joins_the_text_below_it() -> None:
    page = "# Guide\n\n## Install\n\nRun it.\n\n## Nothing"
    assert [(passage.section_path, passage.text) for passage in chunk(page)] == [
        (("Guide", "Install"), "# Guide\n\n## Install\n\nRun it."),
        (("Guide", "Nothing"), "## Nothing"),
    ]


def test_underlined_headings_are_recognised() -> None:
    assert chunk("Guide\n=====\n\nIntro.")[0].section_path == ("Guide",)


def test_an_endless_heading_is_cut_in_the_path_that_every_passage_repeats() -> None:
    page = f"# {'heading ' * 20_000}\n\n" + "".join(f"## x{n}\n\nBody.\n\n" for n in range(3_000))
    passages = chunk(page)
    assert len(passages) == 3_000
    assert all(len(passage.section_path[0]) <= 200 for passage in passages)


def test_text_before_the_first_heading_has_an_empty_path() -> None:
    assert chunk("Hello.")[0].section_path == ()


@pytest.mark.parametrize(
    "unit",
    [
        "```python\n" + "x = 1\n\n" * 50 + "```",
        "| a | b |\n|---|---|\n" + "| some | row |\n" * 49 + "| last | row |",
        "- " + "A sentence of an item. " * 49 + "The last one.",
        "- An item.\n\n" + "\n\n".join("  A further paragraph of the item." for _ in range(20)),
    ],
    ids=["code", "table", "item", "item of paragraphs"],
)
def test_code_tables_and_list_items_stay_whole_when_long(unit: str) -> None:
    passages = chunk(f"Before.\n\n{unit}\n\nAfter.", estimate_tokens(unit) // 4 + 1)
    assert [passage.text for passage in passages] == ["Before.", unit, "After."]


@pytest.mark.parametrize(
    "unit",
    ["```\n" + "x = 1\n" * 1_300 + "```", "| a |\n|---|\n" + "\n".join(["| row |"] * 1_000)],
    ids=["code", "table"],
)
def test_code_and_tables_of_common_sizes_stay_whole_for_any_size_of_passages(unit: str) -> None:
    assert estimate_tokens(unit) <= 2_048
    assert [passage.text for passage in chunk(f"Before.\n\n{unit}\n\nAfter.", 32)] == [
        "Before.",
        unit,
        "After.",
    ]


def test_a_very_long_code_block_is_cut_between_lines_and_each_part_is_fenced() -> None:
    code = "".join(f"value_{n} = {n}\n" for n in range(900))
    passages = chunk(f"# Values\n\n```python\n{code}```\n\n# After", 40)
    parts = [passage.text.removeprefix("# Values\n\n") for passage in passages[:-1]]
    assert len(parts) > 5
    assert all(part.startswith("```python\n") and part.endswith("\n```") for part in parts)
    assert "".join(part.removeprefix("```python\n").removesuffix("```") for part in parts) == code
    assert passages[-1].text == "# After"


def test_a_very_long_table_is_cut_between_rows_and_each_part_has_the_header() -> None:
    head = "| name | value |\n|---|---|\n"
    rows = [f"| name {n} | {n} |" for n in range(900)]
    passages = chunk(head + "\n".join(rows), 40)
    assert len(passages) > 5
    assert all(passage.text.startswith(head) for passage in passages)
    assert [
        row for passage in passages for row in passage.text.removeprefix(head).split("\n")
    ] == rows


@pytest.mark.parametrize(
    "unit", ["- " + "A sentence of an item. " * 90, "- one\n\n" + "  A paragraph of it.\n\n" * 90]
)
def test_a_very_long_list_item_is_cut_between_sentences(unit: str) -> None:
    assert max(estimate_tokens(passage.text) for passage in chunk(unit, 40)) <= 60


@pytest.mark.parametrize(
    "page",
    [
        "```" + "x" * 9_000,
        "```\n" + "word " * 9_000,
        f"```{'x' * 900}\n" + "line\n" * 2_000,
        f"| {'x' * 900} |\n" * 20,
        f"| {'x' * 900} |\n|---|\n" + "| y |\n" * 2_000,
    ],
)
def test_a_very_long_line_is_cut_and_no_header_multiplies_the_text(page: str) -> None:
    passages = chunk(page, 20)
    assert len(passages) > 1
    assert len(page) / 2 < sum(len(passage.text) for passage in passages) < 4 * len(page)


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    sentences = [f"This is sentence number {n} of the paragraph." for n in range(20)]
    passages = chunk(" ".join(sentences), 30)
    assert len(passages) > 5
    assert all(
        passage.text.startswith("This is") and passage.text.endswith(".") for passage in passages
    )


def test_a_long_sentence_is_cut_between_words() -> None:
    passages = chunk("word " * 100, 10)
    assert all(set(passage.text.split()) == {"word"} for passage in passages)
    assert max(estimate_tokens(passage.text) for passage in passages) <= 10


def test_small_paragraphs_of_a_section_share_a_passage() -> None:
    assert len(chunk("One.\n\nTwo.\n\nThree.", 100)) == 1


def test_an_id_survives_changes_elsewhere_and_distinguishes_sections() -> None:
    before = chunk("# A\n\nSame.\n\n# B\n\nSame.")
    after = chunk("# A\n\nChanged.\n\n# B\n\nSame.")
    assert before[1].id == after[1].id
    assert before[0].id != after[0].id
    page = "# A\n\nx\n\n## Notes\n\nNone.\n\n# B\n\ny\n\n## Notes\n\nNone."
    assert len({passage.id for passage in chunk(page)}) == 4


def test_an_empty_page_has_no_passages() -> None:
    assert chunk(" \n\n ") == []


def test_a_heading_of_blanks_costs_linear_time() -> None:
    """A quadratic pattern would need an hour for it, and the test would time out."""
    assert len(chunk(f"# a{' ' * 1_000_000}b")) == 1


def test_a_block_of_only_a_fence_does_not_multiply_the_text() -> None:
    """Each part would repeat the fence."""
    text = "`" * 200_000
    assert sum(len(passage.text) for passage in chunk(text)) <= len(text)


@given(PAGES)
def test_a_page_with_too_many_pieces_loses_no_text(page: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunking, "MOST_PIECES", 3)
        passages = chunk(page, 1_000)
    assert "".join("".join(passage.text for passage in passages).split()) == "".join(page.split())


def test_more_headings_than_pieces_are_cut_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunking, "MOST_PIECES", 2_000)
    passages = chunk("# a\n" * 6_000)
    assert sum(passage.text.count("#") for passage in passages) == 6_000
    # The last are cut by size, not by headings.
    assert len(passages[-1].text) > 80


def _sentences(first: int, last: int) -> str:
    return " ".join(
        f"Sentence number {number:03} is about the tides." for number in range(first, last)
    )


def test_inside_a_section_a_passage_begins_with_the_last_sentences_of_the_one_before() -> None:
    page = f"# Tides\n\n{_sentences(0, 40)}\n\n{_sentences(40, 80)}\n\n# Moons\n\n{_sentences(80, 120)}"
    found = overlapping(page, 200, 100)
    assert len(found) > 4
    assert all(estimate_tokens(passage.text) <= 200 for passage, _ in found)
    for (before, _), (passage, own) in pairwise(found):
        repeated = passage.text.removesuffix(own)
        assert passage.text in page
        if before.section_path != passage.section_path:
            assert repeated == ""
        else:
            assert repeated.startswith("Sentence")
            assert repeated.strip() in before.text
            assert 0.1 <= len(repeated) / len(before.text) <= 0.16


def test_code_and_tables_are_not_repeated() -> None:
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| {number} | tide |" for number in range(400))
    assert [passage.text for passage, _ in overlapping(table, 100, 100)] == [
        own for _, own in overlapping(table, 100, 100)
    ]


@given(PAGES, st.integers(min_value=8, max_value=400))
def test_overlapping_passages_are_slices_of_the_page_and_lose_no_text(page: str, size: int) -> None:
    found = overlapping(page, size, 10_000)
    assert all(passage.text.endswith(own) for passage, own in found)
    assert [own for _, own in found] == [
        passage.text for passage in chunk(page, round(size / 1.125))
    ]


def test_an_overlap_never_begins_inside_a_table() -> None:
    """The prose below the table is shorter than the wanted overlap: all of it is repeated, and nothing above it."""
    rows = "".join(f"| Tower {number} | {number} metres |\n" for number in range(10, 14))
    passing = "every ship that passed and " * 14
    page = f"| Name | Height |\n|---|---|\n{rows}\nIt is old.\n\nThe keeper counted {passing}then slept."
    second, _ = overlapping(page, 100, 100)[1]
    assert second.text.startswith("It is old.\n\nThe keeper counted every ship")


@pytest.mark.parametrize(("characters", "is_plain"), [(3_800, True), (4_200, False)])
def test_a_heading_with_a_long_link_is_plain_up_to_a_limit(characters: int, is_plain: bool) -> None:
    link = "https://a.example/".ljust(characters, "x")
    (passage,) = chunk(f"# [The tower]({link}) of Skerry\n\nIt is old.", 10_000)
    assert (passage.section_path == ("The tower of Skerry",)) == is_plain


def test_a_page_of_a_pdf_begins_a_passage() -> None:
    text = "Before.\n\n*Page 2*\n\n# Head\n\nWords.\n\n## End\n\n*Page 3*\n\nMore words.\n\n*Page 4* is here."
    assert [(one.page, one.text) for one in chunk(text)] == [
        (None, "Before."),
        (2, "*Page 2*\n\n# Head\n\nWords."),
        (3, "## End\n\n*Page 3*\n\nMore words.\n\n*Page 4* is here."),
    ]


def test_words_are_found_on_their_page_however_lines_break() -> None:
    text = "*Page 2*\n\nThe **tide**\nrises.\n\n*Page 3*\n\nThe tide falls."
    assert [page_of(text, words) for words in ("The tide rises.", "tide falls", "wind")] == [
        2,
        3,
        None,
    ]


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("x.pdf#page=3", 3),
        ("x.pdf#zoom=2&page=4", 4),
        ("x.pdf#page=5&zoom=2", 5),
        ("x?page=3", None),
        ("x#page=a", None),
    ],
)
def test_the_page_in_an_address(url: str, page: int | None) -> None:
    assert page_in(f"https://a.example/{url}") == page


def test_an_address_leads_to_a_page() -> None:
    assert at_page("https://a.example/x.pdf#top", 3) == "https://a.example/x.pdf#page=3"
    assert at_page("https://a.example/x.pdf#top", None) == "https://a.example/x.pdf#top"


CODE = "abcd abcdefg abcdefg abcdefg abcd\n"
ITEM = "It rains a lot here. "


@pytest.mark.parametrize(
    ("unit", "size", "is_whole"),
    [
        (f"```\n{CODE * 240}```\n", 64, True),  # 2,042 tokens
        (f"```\n{CODE * 242}```\n", 64, False),
        (f"- {ITEM * 48}", 64, True),  # 253 tokens: four times the size
        (f"- {ITEM * 49}", 64, False),
        (f"```\n{CODE * 280}```\n", 600, True),  # 2,382 tokens
        (f"```\n{CODE * 284}```\n", 600, False),
    ],
)
def test_a_block_is_split_if_it_has_2048_tokens_and_four_times_the_size(
    unit: str, size: int, is_whole: bool
) -> None:
    assert (len(chunk(unit, size)) == 1) is is_whole


@pytest.mark.parametrize(("marks", "is_repeated"), [(100, True), (101, False)])
def test_a_fence_of_up_to_a_hundred_characters_is_repeated(marks: int, is_repeated: bool) -> None:
    fence = "`" * marks
    second = chunk(f"{fence}\n{CODE * 400}{fence}\n", 64)[1]
    assert second.text.startswith(fence) is is_repeated


def test_a_heading_has_at_most_200_characters_in_the_path() -> None:
    assert chunk(f"# {'x' * 250}\n\nWords.")[0].section_path == ("x" * 200,)


@pytest.mark.parametrize(("headings", "passages"), [(20, 1), (21, 2)])
def test_twenty_headings_join_the_text_below_the_last(headings: int, passages: int) -> None:
    page = "".join(f"# {'Tides ' * 40}{number}\n\n" for number in range(headings - 1))
    assert len(chunk(f"{page}Words.", 64)) == passages


@pytest.mark.parametrize(
    ("characters", "begins"), [(34, False), (38, True), (52, True), (53, False)]
)
def test_an_overlap_begins_with_a_sentence_of_about_an_eighth_of_the_passage(
    characters: int, begins: bool
) -> None:
    """An eighth of 89 tokens of four characters are 44 characters, give or take a fifth."""
    sentence = "A" + " b c" * 20
    sentence = f"{sentence[: characters - 2]}. ".replace(" .", "d.")
    second, own = overlapping(sentence * 60, 100, 50)[1]
    repeated = second.text.removesuffix(own)
    assert repeated.startswith("A") is begins


def test_a_passage_has_512_tokens_by_default() -> None:
    lengths = [estimate_tokens(passage.text) for passage in chunk(ITEM * 1_000)]
    assert 500 <= max(lengths) <= 540


@pytest.mark.parametrize(
    ("last_word", "repeated"),
    [("word" * 12, ""), ("word", "word word word word word word word word.")],
)
def test_an_overlap_without_a_sentence_begins_with_a_word(last_word: str, repeated: str) -> None:
    """An eighth of 89 tokens of four characters are 44 characters: the long word has more."""
    page = f"{'word ' * 56}{last_word}. {'Tides ' * 50}rise."
    second, own = overlapping(page, 100, 10)[1]
    assert second.text.removesuffix(own).strip() == repeated


def test_a_page_has_a_hundred_thousand_pieces_and_what_follows_is_cut_by_size() -> None:
    text = "word " * 30 + "end."
    whole = Block("paragraph", 0, 4)
    last, *behind = islice(pieces(text, 10, repeat(whole)), 99_999, None)
    assert (last.start, last.end) == (0, 4)
    assert len(behind) > 1
    assert behind[-1].end == len(text)
