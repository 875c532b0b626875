"""The tools as models read them: what changes here changes every conversation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.entrypoints.mcp.server import INSTRUCTIONS, create_server
from websearch_gateway.entrypoints.tools.table import TOOLS, Tool, listed
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.settings.groups import APART, DEFAULT_TOOLSETS, TOOLSETS
from websearch_gateway.settings.loading import Settings

NOBODY = SimpleNamespace(request=None, session=SimpleNamespace(client_params=None))
"""The context of a request whose client says nothing of itself."""

SNAPSHOT = Path(__file__).with_name("tools.json")


async def test_the_listing_is_the_one_that_was_agreed_on() -> None:
    """After a change that is meant, write the new listing into tools.json: it is what models read."""
    server = create_server(LazyGateway(Settings(toolsets=(*TOOLSETS, *APART))))
    entry = server.get_request_handler("tools/list")
    assert entry is not None
    listing = await entry.handler(NOBODY, None)  # type: ignore[arg-type]
    shown = [
        tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing.tools
    ]
    assert shown == json.loads(SNAPSHOT.read_text())


@pytest.mark.parametrize("count", [2, 2.0])
def test_a_whole_number_is_an_integer_however_it_is_written(count: float) -> None:
    """JSON Schema Validation 2020-12, section 6.1.1: what our schema lets pass must not be refused."""
    by_name = {tool.name: tool for tool in TOOLS}
    parsed = by_name["search_web"].parse({"query": "How tall?", "maxResults": count})
    assert repr(parsed.max_results) == "2"
    similar = by_name["search_similar"].parse({"query": "How tall?", "threshold": 1})
    assert similar.threshold == 1.0


@pytest.mark.parametrize("count", [2.5, "two", True, float("inf"), float("nan")])
def test_what_is_no_integer_is_refused(count: object) -> None:
    search_web = next(tool for tool in TOOLS if tool.name == "search_web")
    with pytest.raises(SearchValidationError, match="maxResults"):
        search_web.parse({"query": "How tall?", "maxResults": count})


LONGEST_PREFIX = "mcp__websearch-gateway__"
"""Of Claude Code and others, before the name of a tool."""


def test_names_are_unique_and_plain_and_short_enough_with_the_prefix_of_a_client() -> None:
    """Dotted names break clients, so they are understood and never listed. Gemini CLI cuts at 63 characters."""
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)
    assert max(len(LONGEST_PREFIX + name) for name in names) <= 63


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_the_first_sentence_of_a_description_fits_what_clients_show_before_a_tool_is_chosen(
    tool: Tool,
) -> None:
    first = re.split(r"(?<=[.;])\s", tool.description)[0]
    assert 20 < len(first) <= 160


def test_the_beginning_of_the_instructions_says_what_each_default_tool_is_for() -> None:
    """Codex shows no more of them until a tool is chosen."""
    named = {*INSTRUCTIONS[:250].split(), "web_search_raw"}
    assert [tool.name for tool in listed(DEFAULT_TOOLSETS) if tool.name not in named] == []


def test_a_toolset_without_tools_is_refused_by_name() -> None:
    with pytest.raises(SearchNotConfiguredError, match=r"TOOLSETS.*answer"):
        listed(())
