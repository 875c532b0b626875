"""The tools as models read them: what changes here changes every conversation."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from websearch_gateway.doors.lazy import LazyGateway
from websearch_gateway.doors.mcp import create_server
from websearch_gateway.doors.tools import TOOLS, listed
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import TOOLSETS, Settings

SNAPSHOT = Path(__file__).with_name("tools.json")


async def test_the_listing_is_the_one_that_was_agreed_on() -> None:
    """After a change that is meant, write the new listing into tools.json: it is what models read."""
    server = create_server(LazyGateway(Settings(toolsets=TOOLSETS)))
    entry = server.get_request_handler("tools/list")
    assert entry is not None
    listing = await entry.handler(SimpleNamespace(request=None), None)  # type: ignore[arg-type]
    shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listing.tools]
    assert shown == json.loads(SNAPSHOT.read_text())


def test_names_are_unique_and_plain() -> None:
    """Dotted names break clients, so they are understood and never listed."""
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() for name in names)


def test_a_toolset_without_tools_is_refused_by_name() -> None:
    with pytest.raises(SearchNotConfiguredError, match=r"TOOLSETS.*answer"):
        listed(("docs",))
