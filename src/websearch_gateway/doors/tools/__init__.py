"""The tools as data: name, toolset, arguments, result, and the call of the gateway behind it. One module per toolset.

Adding a tool: one argument model, one function, one row in its toolset's tuple. The texts are read by models: every
word costs tokens in every conversation, so they say when to use the tool and nothing that the schema says already.
"""

from __future__ import annotations

from websearch_gateway.doors.tools.admin import ADMIN
from websearch_gateway.doors.tools.answer import ANSWER
from websearch_gateway.doors.tools.base import Arguments, Tool
from websearch_gateway.doors.tools.cache import CACHE
from websearch_gateway.doors.tools.ops import OPS
from websearch_gateway.doors.tools.read import READ
from websearch_gateway.doors.tools.search import SEARCH
from websearch_gateway.errors import SearchNotConfiguredError

__all__ = ["TOOLS", "Arguments", "Tool", "listed"]

TOOLS: tuple[Tool, ...] = (*ANSWER, *SEARCH, *READ, *CACHE, *OPS, *ADMIN)
"""In the order in which they are listed."""


def listed(toolsets: tuple[str, ...]) -> tuple[Tool, ...]:
    """The tools of the given toolsets.

    Raises:
        SearchNotConfiguredError: there is none.
    """
    tools = tuple(tool for tool in TOOLS if tool.toolset in toolsets)
    if not tools:
        known = ", ".join(sorted({tool.toolset for tool in TOOLS}))
        raise SearchNotConfiguredError(f"TOOLSETS selects no tool. Toolsets with tools: {known}.")
    return tools
