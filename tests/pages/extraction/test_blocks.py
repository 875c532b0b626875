from typing import Any

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.features import TAG_NUMBER, Measures, words_of

PAGE = (
    "<div class=nav><a href='/'>Home</a></div><h1>A short title</h1>"
    "<ul><li class=card>One, two.</li><li class=card>Three</li><li>Three</li></ul>"
)


def measures_of(markup: str, title: str = "") -> Measures:
    root = page.parse(markup)
    assert root is not None
    return Measures(blocks.outline(root), title)


def test_a_block_has_its_counts_and_its_share_of_links_and_of_the_title() -> None:
    measures = measures_of(PAGE, "Short title")
    assert measures.words.tolist() == [1, 3, 2, 1, 1]
    assert measures.link_share.tolist() == [1, 0, 0, 0, 0]
    assert measures.stops.tolist() == [0, 0, 1, 0, 0]
    assert measures.titled.tolist() == pytest.approx([0, 2 / 3, 0, 0, 0])
    assert measures.repeats.tolist() == [1, 1, 1, 2, 2]


def test_an_element_counts_its_siblings_with_the_same_tag_and_classes() -> None:
    measures = measures_of(PAGE)
    items = measures.tag == TAG_NUMBER["li"]
    assert measures.siblings[items].tolist() == [2, 2, 1]
    assert measures.place.tolist()[-3:] == items.nonzero()[0].tolist()


@pytest.mark.parametrize(
    ("found", "shares"),
    [
        ("", [0, 0]),
        ("one two three four\nsix seven", [1, 1]),
        ("two three four and six", [0.5, 0]),
        ("something else", [0, 0]),
    ],
    ids=["no opinion", "all", "a part", "none"],
)
def test_a_block_is_compared_with_the_text_of_another_extractor(
    found: str, shares: list[float]
) -> None:
    measures = measures_of("<p>One two three four</p><p>Six seven</p>")
    assert measures.found_in(found).tolist() == shares


def test_words_are_in_lower_case_and_without_punctuation() -> None:
    assert words_of("Tides, twice a DAY.") == ["tides", "twice", "a", "day"]


PROSE = "<p>This paragraph has many words, and it ends in a full stop as prose does.</p>"
TEASERS = "".join(
    f"<li><h3><a href='/{n}'>Another headline of the day</a></h3></li>" for n in range(4)
)
CONTEXT_PAGE = (
    f"<div><a href='/'>Home</a></div><article><h1>The title of it all</h1>{PROSE * 4}</article>"
    f"<aside><h2>Related stories</h2><ul>{TEASERS}</ul></aside><div class='comments'><p>I liked it.</p></div>"
)


def columns(markup: str, title: str = "The title of it all") -> tuple[list[str], dict[str, Any]]:
    measures = measures_of(markup, title)
    texts = [block.text for block in measures.outline.blocks]
    return texts, {
        name: np.broadcast_to(values, len(texts)) for name, values in measures.columns.items()
    }


def test_the_run_of_prose_and_the_element_around_it_are_found() -> None:
    texts, found = columns(CONTEXT_PAGE)
    prose = [text.startswith("This paragraph") for text in texts]
    assert (found["core"] == 1).tolist() == prose
    assert found["candidate"][prose].tolist() == [1] * 4


def test_blocks_under_a_related_heading_are_marked() -> None:
    texts, found = columns(CONTEXT_PAGE)
    expected = [text.startswith("Another") or text == "Related stories" for text in texts]
    assert found["in_related"].tolist() == expected


def test_blocks_have_their_distances_from_the_title_and_the_first_comment() -> None:
    texts, found = columns(CONTEXT_PAGE)
    assert found["since_title"].tolist() == [place - 1 for place in range(len(texts))]
    assert found["since_comments"].tolist() == [
        place - len(texts) + 1 for place in range(len(texts))
    ]


def test_a_page_without_prose_or_headings_also_has_all_columns() -> None:
    texts, found = columns("<ul><li><a href='/'>Home</a></li></ul>", "")
    assert {len(values) for values in found.values()} == {len(texts)}


def test_the_boxes_and_lines_after_the_text_mark_its_end() -> None:
    author = "<div class='author-box'><p>Someone writes here.</p></div><p>Teilen Sie den Artikel</p><p>Last.</p>"
    texts, found = columns(
        f"<div class='author-line'>By someone</div><div>{PROSE * 5}</div>{author}"
    )
    box = texts.index("Someone writes here.")
    assert found["end_author"].tolist() == [place - box for place in range(len(texts))]
    assert found["end_words_share"].tolist() == [place - box - 1 for place in range(len(texts))]
    assert set(found["end_share"].tolist()) == {-999}


def test_a_block_knows_how_far_it_is_from_the_prose_in_the_tree() -> None:
    texts, found = columns(
        f"<div><p>Top.</p></div><div><div><p>Head.</p></div><section>{PROSE * 3}</section></div>"
    )
    assert found["levels_up"].tolist() == [3, 2, 1, 0, 1]
    assert found["levels_down"].tolist() == [2, 2, 1, 0, 1]
    assert len(texts) == 5
