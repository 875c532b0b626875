"""Obvious guesses at the names of arguments are understood; what could mean two things is not."""

from __future__ import annotations

import pytest

from websearch_gateway.entrypoints.tools import TOOLS
from websearch_gateway.entrypoints.tools.names import SYNONYMS
from websearch_gateway.errors import SearchValidationError

BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.mark.parametrize("name", ["max_results", "maxResults", "num_results", "numResults", "limit", "count", "top_k"])
@pytest.mark.parametrize(
    ("tool", "field"),
    [("search_web", "max_results"), ("web_search", "num_results"), ("web_search_raw", "results_per_query")],
)
def test_the_number_of_results_is_understood_by_any_usual_name(tool: str, field: str, name: str) -> None:
    assert BY_NAME[tool].parse({"query": "How tall?", name: 2}).model_dump()[field] == 2


def test_other_guesses_are_understood() -> None:
    assert BY_NAME["search_web"].parse({"question": "How tall?", "country": "DE"}).model_dump()["region"] == "DE"
    assert BY_NAME["get_content"].parse({"link": "x", "max_length": 9}).model_dump()["max_chars"] == 9
    parsed = BY_NAME["read_from_page"].parse({"url": "x", "question": ["a", "b"], "limit": 3}).model_dump()
    assert (parsed["query"], parsed["max_results"]) == (("a", "b"), 3)


@pytest.mark.parametrize(
    "given",
    [
        {"query": "How tall?", "maxResults": 2, "limit": 3},
        {"query": "How tall?", "limit": 2, "count": 3},
        {"query": "How tall?", "colour": "red"},
        {"query": "How tall?", "q": "How wide?"},
    ],
)
def test_a_name_that_is_given_twice_or_means_nothing_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(SearchValidationError, match="Unknown argument"):
        BY_NAME["search_web"].parse(given)


def test_no_word_stands_for_two_things() -> None:
    assert sum(map(len, SYNONYMS)) == len(frozenset().union(*SYNONYMS))
