from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from websearch_gateway.entrypoints.arguments import MOST_FAULTS, SYNONYMS
from websearch_gateway.entrypoints.tools.table import TOOLS, Tool
from websearch_gateway.errors import MOST_SHOWN, SearchValidationError

BY_NAME = {tool.name: tool for tool in TOOLS}


@pytest.mark.parametrize(
    "name",
    [
        "max_results",
        "maxResults",
        "num_results",
        "numResults",
        "resultsPerQuery",
        "results_per_query",
        "limit",
        "count",
        "top_k",
    ],
)
@pytest.mark.parametrize(
    "tool", ["search_web", "web_search", "web_search_raw", "search_similar", "search_docs"]
)
def test_the_number_of_results_is_understood_by_any_usual_name(tool: str, name: str) -> None:
    assert BY_NAME[tool].parse({"query": "How tall?", name: 2}).max_results == 2


@pytest.mark.parametrize("tool", TOOLS)
def test_names_are_listed_in_one_style(tool: Tool) -> None:
    listed = [field.alias for field in tool.arguments.model_fields.values()]
    assert listed == [name and to_camel(name) for name in listed]
    assert not {"numResults", "limit", "count"} & set(listed)


def test_the_earlier_names_of_web_search_are_understood() -> None:
    given = {
        "query": "How tall?",
        "num_results": 2,
        "use_cache": False,
        "include_domains": ["example.org"],
    }
    parsed = BY_NAME["web_search"].parse(given)
    assert (parsed.max_results, parsed.use_cache, parsed.include_domains) == (
        2,
        False,
        ("example.org",),
    )


def test_a_value_of_another_type_with_one_possible_meaning_is_understood() -> None:
    parsed = BY_NAME["web_search"].parse(
        {"query": 42, "includeDomains": "example.org", "maxResults": 2.0}
    )
    assert (parsed.query, parsed.include_domains, parsed.max_results) == ("42", ("example.org",), 2)
    assert BY_NAME["read_from_page"].parse({"url": "x", "query": "a"}).queries == ("a",)


def test_a_fault_names_the_argument_as_it_is_listed_and_as_it_was_given() -> None:
    with pytest.raises(SearchValidationError, match=r"maxResults \(given as num_results\)"):
        BY_NAME["web_search"].parse({"query": "How tall?", "num_results": "three"})


def test_other_guesses_are_understood() -> None:
    assert BY_NAME["search_web"].parse({"question": "How tall?", "country": "DE"}).region == "DE"
    assert BY_NAME["get_content"].parse({"link": "x", "max_length": 9}).max_chars == 9
    parsed = BY_NAME["read_from_page"].parse({"url": "x", "question": ["a", "b"], "limit": 3})
    assert (parsed.queries, parsed.max_results) == (("a", "b"), 3)


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


@pytest.mark.parametrize(
    ("tool", "given", "field", "value"),
    [
        ("search_docs", {"site_id": 1}, "site_id", "1"),
        ("search_docs", {"siteId": 1.0}, "site_id", "1"),
        ("search_docs", {"site": "python"}, "site_id", "python"),
        ("search_docs", {"sites_filter": "127.0.0.1"}, "sites_filter", "127.0.0.1"),
        ("search_docs", {"sites": "py"}, "sites_filter", "py"),
        ("search_docs", {"version": 3, "max_tokens": 500}, "label", "3"),
        ("search_docs", {"limit": 3}, "max_results", 3),
        ("read_docs", {"section_id": "3979840b7d36f4ce"}, "section_id", "3979840b7d36f4ce"),
        ("read_docs", {"id": "3979840b7d36f4ce"}, "section_id", "3979840b7d36f4ce"),
        ("update_docs", {"siteId": 2, "label": "3.12"}, "site", "2"),
        ("add_docs", {"link": "https://example.org/", "max_pages": 5}, "max_pages", 5),
    ],
)
def test_the_arguments_of_the_documentation_tools_are_understood_by_other_names(
    tool: str, given: dict[str, object], field: str, value: object
) -> None:
    asked = {"query": "zebra"} if tool == "search_docs" else {}
    assert getattr(BY_NAME[tool].parse({**asked, **given}), field) == value


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_has_two_arguments_that_one_word_may_mean(tool: Tool) -> None:
    listed = [str(field.alias).lower() for field in tool.arguments.model_fields.values()]
    assert [words for words in SYNONYMS if len(words.intersection(listed)) > 1] == []


def refused(tool: str, arguments: dict[str, Any]) -> SearchValidationError:
    with pytest.raises(SearchValidationError) as refusal:
        BY_NAME[tool].parse(arguments)
    return refusal.value


def test_a_list_that_is_too_long_is_one_fault_and_its_items_are_not_looked_at() -> None:
    class Untouchable:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("looked at")

    error = refused("web_search_raw", {"query": [Untouchable()] * 21})
    assert error.details["faults"] == [
        {"field": "query", "problem": "At most 20 items are allowed, not 21"}
    ]


def test_a_list_as_long_as_allowed_is_read() -> None:
    parsed = BY_NAME["web_search_raw"].parse({"query": ["one question"] * 20})
    assert len(parsed.queries) == 20


@pytest.mark.parametrize("tool", ["web_search_raw", "web_search", "search_news", "read_from_page"])
def test_every_list_of_a_tool_has_a_limit(tool: str) -> None:
    """A list without one would be validated item by item, however long it is."""
    name = "providers" if "providers" in BY_NAME[tool].arguments.model_fields else "query"
    assert "At most" in refused(tool, {name: [1] * 1_000}).message


def test_unknown_names_are_told_ten_at_most_and_that_there_are_more() -> None:
    error = refused(
        "search_web", {"query": "How tall?", **{f"unknown{number}": 1 for number in range(1_000)}}
    )
    assert len(error.details["faults"]) == MOST_FAULTS
    assert "There are more. search_web takes: query, maxResults," in error.message


@given(
    st.dictionaries(
        st.text(max_size=300), st.one_of(st.text(max_size=300), st.lists(st.integers()))
    )
)
def test_no_fault_is_longer_than_the_limit(arguments: dict[str, Any]) -> None:
    faults = refused("web_search", arguments).details["faults"]
    assert 1 <= len(faults) <= MOST_FAULTS
    assert all(len(text) <= MOST_SHOWN for fault in faults for text in fault.values())
