from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.features import (
    Measures,
    later_columns,
    likelihoods,
    reconsidered,
)
from websearch_gateway.pages.extraction.trees import Trees, load

PAGE = "<main><h1>Head</h1><p>Some <b>bold</b> text here.</p><p>More text after it.</p></main><footer>All rights</footer>"


def outline_of(markup: str) -> blocks.Outline:
    root = page.parse(markup)
    assert root is not None
    return blocks.outline(root)


def test_every_feature_of_the_filters_is_computed() -> None:
    measures = Measures(outline_of(PAGE), "Head")
    later = later_columns(measures, np.full(4, 0.5), np.ones(4))
    assert set(load("block_filter_alone").features) <= set(measures.columns)
    assert set(load("block_filter").features) <= set(later)
    assert {
        np.broadcast_to(values, 4).size for values in (*measures.columns.values(), *later.values())
    } == {4}


def test_likelihoods_are_between_zero_and_one_before_and_after_a_second_opinion() -> None:
    measures = Measures(outline_of(PAGE), "Head")
    alone = likelihoods(measures)
    for likely in (
        alone,
        *(reconsidered(measures, alone, found) for found in (np.zeros(4), np.ones(4))),
    ):
        assert likely.shape == (4,)
        assert 0 <= likely.min() <= likely.max() <= 1


def later_of(words: list[int], alone: list[float], found: list[float]) -> dict[str, list[float]]:
    """The later features of paragraphs of so many words."""
    measures = Measures(outline_of("".join(f"<p>{'word ' * count}</p>" for count in words)), "")
    later = later_columns(measures, np.array(alone), np.array(found))
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


# One tree: is a > 1? On the right: is b > 2? Its leaves from left to right come to 1, 2 and 4.
SMALL = Trees(
    features=("a", "b"),
    feature=np.array([[0], [1]]),
    threshold=np.array([[1.0], [2.0]]),
    left=np.array([[0b001], [0b010]], dtype=np.uint16),
    value=np.array([[1.0], [2.0], [4.0]]),
    first=load("block_filter").first,
)


@pytest.mark.parametrize(
    ("a", "b", "score"), [(0, 9, 1), (1, 9, 1), (1.5, 2, 2), (1.5, 2.5, 4), (0, 0, 1)]
)
def test_a_row_gets_the_value_of_the_leaf_that_its_path_reaches(
    a: float, b: float, score: float
) -> None:
    likely = SMALL.probabilities({"a": a, "b": b}, 1)
    assert likely == pytest.approx([1 / (1 + np.exp(-score))])


def test_a_row_has_the_same_probability_in_any_batch() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 250)) * 3
    one_by_one = [
        SMALL.probabilities({"a": one, "b": other}, 1)[0] for one, other in zip(a, b, strict=True)
    ]
    assert SMALL.probabilities({"a": a, "b": b}, 250).tolist() == pytest.approx(one_by_one)
    assert SMALL.probabilities({"a": a[:0], "b": b[:0]}, 0).shape == (0,)
