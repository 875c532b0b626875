"""The features of blocks, and how likely they make a block part of the main text."""

import pytest

from websearch_gateway.readers.extraction import blocks, page
from websearch_gateway.readers.extraction.filter.features import columns, likelihoods
from websearch_gateway.readers.extraction.filter.measures import Measures
from websearch_gateway.readers.extraction.filter.trees import load

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
