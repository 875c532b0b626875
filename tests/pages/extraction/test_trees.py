from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction.trees import Trees, load

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
