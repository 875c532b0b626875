"""What each fitted weight is worth, in words and places that a person can judge.

A weight that changes by half leaves its bounds. When the weights are fitted on other data, these are judged again.
"""

from math import exp

import pytest

from tests.docs.search.test_features import found, of_page, page
from websearch_gateway.docs.search.features import PageFeatures, SectionFeatures
from websearch_gateway.docs.search.model import fitted_weights, score

FAR = "x" * 250
"""Words before and after it are not close to each other."""
LINK = "[see](https://docs.example.org/tides/and/currents.html)"


def in_words(better: SectionFeatures, worse: SectionFeatures) -> float:
    """How many more words of the query the worse section must hold to be as good."""
    weights = fitted_weights().section
    one_word = weights.rich / 12
    return (score(better, weights) - score(worse, weights)) / one_word


def in_places(better: PageFeatures, worse: PageFeatures) -> float:
    """How many times earlier the searches must find the worse page for it to be as good."""
    weights = fitted_weights().page
    return exp((score(better, weights) - score(worse, weights)) / weights.found)


@pytest.mark.parametrize(
    ("better", "worse", "least", "most"),
    [
        pytest.param(f"upload {FAR} retry", f"retry {FAR} retry", 2.8, 5.2, id="another word"),
        pytest.param("upload, then retry", f"upload {FAR} retry", 2.1, 4.0, id="close words"),
        pytest.param("## Upload\n\nretry", "Upload\n\nretry", 4.8, 8.8, id="in the heading"),
        pytest.param(
            "uploads timeout retry uploads", "timeout uploads retry uploads", 1.7, 3.2, id="pairs"
        ),
        pytest.param(
            "uploads retry uploads timeout", "uploads timeout retry uploads", 1.7, 3.2, id="a run"
        ),
        pytest.param("retry ```", "retry", 1.3, 2.3, id="code"),
        pytest.param(f"retry {'x' * 160}", f"retry {LINK} {'x' * 103}", 3.2, 6.0, id="no links"),
    ],
)
def test_what_a_section_says_is_worth_some_words(better, worse, least, most):
    assert least < in_words(found(better), found(worse)) < most


@pytest.mark.parametrize(
    ("better", "worse", "least", "most"),
    [
        ({"above": ("Limits",)}, {"above": ("Retry",)}, 1.6, 3.0),  # any of its sections has them
        ({"ordinal": 0}, {"ordinal": 1}, 1.5, 2.7),
    ],
)
def test_where_a_section_stands_is_worth_some_words(better, worse, least, most):
    assert least < in_words(found("retry", **better), found("retry", **worse)) < most


@pytest.mark.parametrize(
    ("query", "better", "worse", "least", "most"),
    [
        pytest.param("how to wait", {"nearness": 0.8}, {"nearness": 0.3}, 1.7, 3.0, id="near"),
        pytest.param("how to wait", {"chunks": 1}, {"chunks": 1_000}, 2.0, 4.3, id="small"),
        pytest.param("wait on zsh", {"site": "zsh"}, {"site": "git"}, 1.7, 3.2, id="named"),
        pytest.param(
            "how to wait",
            {"title": "Waiting", "path": "howto/a.html"},
            {"title": "Waiting", "path": "ref/a.html"},
            4.2,
            14,
            id="guide",
        ),
        pytest.param(
            "wait for a tide", {"path": "a.html"}, {"path": "news/a.html"}, 4.8, 16, id="no news"
        ),
    ],
)
def test_what_is_known_of_a_page_is_worth_some_places(query, better, worse, least, most):
    assert least < in_places(of_page(query, page(**better)), of_page(query, page(**worse))) < most


def test_a_rare_word_of_the_title_is_worth_some_places():
    titles = ["Gulls"] * 20
    titled, plain = page("Tides"), page("Crabs")
    query = "gull, tern, auk, heron and tide"
    assert 2.5 < in_places(of_page(query, titled, *titles), of_page(query, plain, *titles)) < 5.5


def test_a_definition_is_worth_more_than_to_be_found_as_early():
    defining = of_page("wait", page(words=0.0, names=1.0))
    mentioning = of_page("wait", page(words=1.0))
    assert 1.4 < in_places(defining, mentioning) < 2.3
