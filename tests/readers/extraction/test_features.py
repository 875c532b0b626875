from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.readers.extraction import blocks, page
from websearch_gateway.readers.extraction.blocks import Measures
from websearch_gateway.readers.extraction.features import Trees, columns, likelihoods, load

PAGE = (
    "<main><h1>Head</h1><p>Some <b>bold</b> text here.</p><p>More text after it.</p></main><footer>All rights</footer>"
)


def outline_of(markup: str) -> blocks.Outline:
    root = page.parse(markup)
    assert root is not None
    return blocks.outline(root)


@pytest.mark.parametrize("name", ["block_filter", "block_filter_alone"])
def test_the_filters_were_trained_on_these_features(name: str) -> None:
    assert load(name).features == tuple(columns(Measures(outline_of(PAGE), "Head"), ""))


def test_likelihoods_are_between_zero_and_one_with_and_without_a_second_opinion() -> None:
    outline = outline_of(PAGE)
    measures = Measures(outline, "Head")
    for found in (None, "Some bold text here."):
        likely = likelihoods(measures, found)
        assert likely.shape == (len(outline.blocks),)
        assert 0 <= likely.min() <= likely.max() <= 1


# One tree: is a > 1? On the right: is b > 2? Its leaves from left to right come to 1, 2 and 4.
SMALL = Trees(
    features=("a", "b"),
    feature=np.array([[0, 1]]),
    threshold=np.array([[1.0, 2.0]]),
    left=np.array([[0b001, 0b010]], dtype=np.uint16),
    value=np.array([[1.0, 2.0, 4.0]]),
    first=load("block_filter").first,
)


@pytest.mark.parametrize(("a", "b", "score"), [(0, 9, 1), (1, 9, 1), (1.5, 2, 2), (1.5, 2.5, 4), (0, 0, 1)])
def test_a_row_gets_the_value_of_the_leaf_that_its_path_reaches(a: float, b: float, score: float) -> None:
    likely = SMALL.probabilities(np.array([[a, b]]))
    assert likely == pytest.approx([1 / (1 + np.exp(-score))])


def test_a_row_has_the_same_probability_in_any_batch() -> None:
    rows = np.random.default_rng(1).normal(size=(250, 2)) * 3
    one_by_one = [SMALL.probabilities(row[None, :])[0] for row in rows]
    assert SMALL.probabilities(rows).tolist() == pytest.approx(one_by_one)
    assert SMALL.probabilities(rows[:0]).shape == (0,)
