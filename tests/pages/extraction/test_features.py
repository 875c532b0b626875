from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.features import Features
from websearch_gateway.pages.extraction.measures import Measures
from websearch_gateway.pages.extraction.trees import load

PAGE = "<main><h1>Head</h1><p>Some <b>bold</b> text here.</p><p>More text after it.</p></main><footer>All rights</footer>"


def outline_of(markup: str) -> blocks.Outline:
    root = page.parse(markup)
    assert root is not None
    return blocks.outline(root)


def test_every_feature_of_the_filters_is_computed() -> None:
    features = Features(Measures(outline_of(PAGE), "Head"))
    later = features.later(np.full(4, 0.5), np.ones(4))
    assert set(load("block_filter_alone").features) <= set(features.alone)
    assert set(load("block_filter").features) <= set(later)
    assert {np.broadcast_to(values, 4).size for values in later.values()} == {4}


def test_likelihoods_are_between_zero_and_one_before_and_after_a_second_opinion() -> None:
    features = Features(Measures(outline_of(PAGE), "Head"))
    alone = features.likelihoods()
    unconfirmed = features.reconsidered(alone, np.zeros(4))
    confirmed = features.reconsidered(alone, np.ones(4))
    for likely in (alone, unconfirmed, confirmed):
        assert likely.shape == (4,)
        assert 0 <= likely.min() <= likely.max() <= 1


def later_of(words: list[int], alone: list[float], opinion: list[float]) -> dict[str, list[float]]:
    """The later features of paragraphs of so many words."""
    measures = Measures(outline_of("".join(f"<p>{'word ' * count}</p>" for count in words)), "")
    later = Features(measures).later(np.array(alone), np.array(opinion))
    return {name: np.broadcast_to(values, len(words)).tolist() for name, values in later.items()}


def test_a_block_knows_how_likely_its_neighbours_are() -> None:
    later = later_of([10, 10, 10, 30], [0.9, 0.7, 0.1, 0.3], [0.0] * 4)
    assert later["likely-1"] == [-1, 0.9, 0.7, 0.1]
    assert later["likely+2"] == [0.1, 0.3, -1, -1]
    assert later["since_last_likely"] == [-1, 0, 1, 2]
    assert later["until_likely"] == [0, 0, 99, 99]
    assert later["likely_window3"] == pytest.approx([(9 + 7 + 1 + 9) / 60] * 4)


def test_a_block_knows_where_the_other_extractor_begins_and_ends() -> None:
    later = later_of([5] * 6, [0.5] * 6, [0, 0, 1, 1, 0, 0])
    assert later["since_last_found"] == [-3, -2, -1, 0, 1, 2]
    assert later["until_found"][:4] == [2, 1, 0, 0]
    assert later["since_found"][2:] == [0, 0, 1, 2]
    assert later["both_follow"] == [1, 1, 0.5, 0, 0, 0]
    assert later["both_of_likely"] == pytest.approx([1 / 3] * 6)


PROSE = "<p>This paragraph has many words, and it ends in a full stop as prose does.</p>"
TEASERS = "".join(
    f"<li><h3><a href='/{n}'>Another headline of the day</a></h3></li>" for n in range(4)
)
CONTEXT_PAGE = (
    f"<div><a href='/'>Home</a></div><article><h1>The title of it all</h1>{PROSE * 4}</article>"
    f"<aside><h2>Related stories</h2><ul>{TEASERS}</ul></aside><div class='comments'><p>I liked it.</p></div>"
)


def columns(markup: str, title: str = "The title of it all") -> tuple[list[str], dict[str, Any]]:
    outline = outline_of(markup)
    texts = [block.text for block in outline.blocks]
    alone = Features(Measures(outline, title)).alone
    return texts, {name: np.broadcast_to(values, len(texts)) for name, values in alone.items()}


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


def test_a_likely_block_has_a_likelihood_above_60_percent() -> None:
    later = later_of([10, 10], [0.61, 0.59], [0.0, 0.0])
    assert later["since_likely"] == [0, 1]


def test_a_chosen_block_was_chosen_by_half_and_a_last_one_has_five_words() -> None:
    later = later_of([5, 5, 4], [0.5] * 3, [0.51, 0.49, 1.0])
    assert later["since_found"] == [0, 1, 0]
    assert later["since_last_found"] == [0, 1, 2]
    assert later_of([5, 5], [0.5] * 2, [0.0, 0.0])["since_last_found"] == [-999, -999]


@pytest.mark.parametrize(("levels", "is_found"), [(63, True), (64, False)])
def test_an_element_is_sought_64_levels_up(levels: int, *, is_found: bool) -> None:
    deep = "<div>" * levels + "<p>deep</p>" + "</div>" * levels
    _, found = columns(f"<section><p>{'word ' * 400}</p>{deep}</section><p>Last.</p>")
    assert (found["size300_words"][1] > 300) == is_found


@pytest.mark.parametrize(
    ("heading", "since"), [("one two three x y", [-1, 0]), ("one two x y", [-999, -999])]
)
def test_the_heading_of_a_page_has_three_fifths_of_its_words_in_the_title(
    heading: str, since: list[int]
) -> None:
    _, found = columns(f"<p>Before.</p><h2>{heading}</h2>", "one two three four")
    assert found["since_title"].tolist() == since


@pytest.mark.parametrize(("words", "core"), [(13, [1, 1, 1]), (11, [1, 0, 0])])
def test_a_run_of_prose_goes_on_after_a_label_if_it_gains_more_than_twelve_words(
    words: int, core: list[int]
) -> None:
    def prose(count: int) -> str:
        return f"<p>{'word ' * (count - 1)}end.</p>"

    _, found = columns(f"{prose(20)}<p>A label</p>{prose(words)}", "")
    assert found["core"].tolist() == core


@pytest.mark.parametrize(("words", "since"), [(29, 0), (31, -999)])
def test_a_box_after_the_text_has_less_than_three_tenths_of_the_words(
    words: int, since: int
) -> None:
    box = f"<div class='author-box'><p>{'name ' * words}</p></div>"
    _, found = columns(f"<div><p>{'word ' * (99 - words)}end.</p></div>{box}", "")
    assert found["end_author"][1] == since


@pytest.mark.parametrize(("more", "since"), [(8, 0), (9, -999)])
def test_a_line_after_the_text_has_at_most_twelve_words(more: int, since: int) -> None:
    line = f"<p>Teilen Sie den Artikel{' jetzt' * more}</p>"
    _, found = columns(f"{PROSE * 5}{line}", "")
    assert found["end_words_share"][5] == since
