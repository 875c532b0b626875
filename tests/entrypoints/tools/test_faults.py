"""What is wrong with a call's arguments, told in a reply whose size the caller cannot choose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.entrypoints.tools import TOOLS
from websearch_gateway.entrypoints.tools.faults import MOST_FAULTS
from websearch_gateway.errors import MOST_SHOWN, SearchValidationError

BY_NAME = {tool.name: tool for tool in TOOLS}


def refused(tool: str, arguments: dict[str, Any]) -> SearchValidationError:
    with pytest.raises(SearchValidationError) as refusal:
        BY_NAME[tool].parse(arguments)
    return refusal.value


def test_a_list_that_is_too_long_is_one_fault_and_its_items_are_not_looked_at() -> None:
    class Untouchable:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("looked at")

    error = refused("web_search_raw", {"query": [Untouchable()] * 21})
    assert error.details["faults"] == [{"field": "query", "problem": "At most 20 items are allowed, not 21"}]


def test_a_list_as_long_as_allowed_is_read() -> None:
    parsed = BY_NAME["web_search_raw"].parse({"query": ["one question"] * 20})
    assert len(parsed.model_dump()["query"]) == 20


@pytest.mark.parametrize("tool", ["web_search_raw", "web_search", "search_news", "read_from_page"])
def test_every_list_of_a_tool_has_a_limit(tool: str) -> None:
    """A list without one would be validated item by item, however long it is."""
    name = "providers" if "providers" in BY_NAME[tool].arguments.model_fields else "query"
    assert "At most" in refused(tool, {name: [1] * 1_000}).message


def test_unknown_names_are_told_ten_at_most_and_that_there_are_more() -> None:
    error = refused("search_web", {"query": "How tall?", **{f"unknown{number}": 1 for number in range(1_000)}})
    assert len(error.details["faults"]) == MOST_FAULTS
    assert error.message.endswith("There are more.")


@given(st.dictionaries(st.text(max_size=300), st.one_of(st.text(max_size=300), st.lists(st.integers()))))
def test_no_fault_is_longer_than_the_limit(arguments: dict[str, Any]) -> None:
    faults = refused("web_search", arguments).details["faults"]
    assert 1 <= len(faults) <= MOST_FAULTS
    assert all(len(text) <= MOST_SHOWN for fault in faults for text in fault.values())
