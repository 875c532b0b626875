"""How well a page or a section answers a query: the product of its features with fitted weights.

`tools/fit_docs_ranking.py` fits the weights on queries whose answers are known, and writes them with the names of its
data.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import mul

from websearch_gateway.docs.search.features import PageFeatures, SectionFeatures

WEIGHTS_FILE = "weights.json"


@dataclass(frozen=True, slots=True)
class Weights:
    """One weight for each feature."""

    page: PageFeatures
    section: SectionFeatures


def score(features: Sequence[float], weights: Sequence[float]) -> float:
    """The product: higher is better, within one query."""
    products: Iterable[float] = map(mul, features, weights)
    return sum(products)


@cache
def fitted_weights() -> Weights:
    """The weights of the package."""
    stored = json.loads(files(__package__).joinpath(WEIGHTS_FILE).read_text("utf-8"))["weights"]
    return Weights(PageFeatures(**stored["page"]), SectionFeatures(**stored["section"]))
