"""The tools as data: name, toolset, arguments, result, and the call of the gateway behind it.

Adding a tool: one argument model, one function, one row in its toolset's tuple. Models read the texts, and every word
costs tokens in every conversation: say when to use the tool, and do not repeat the schema.
"""

from __future__ import annotations

from websearch_gateway.docs_index.store import has_site
from websearch_gateway.entrypoints.tools.base import Arguments, Tool
from websearch_gateway.entrypoints.tools.documentation import DOCS
from websearch_gateway.entrypoints.tools.operating import ADMIN, CACHE, OPS
from websearch_gateway.entrypoints.tools.web import ANSWER, READ, SEARCH
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.settings import Settings

__all__ = ["TOOLS", "Arguments", "Tool", "callable_tools", "is_fixed", "listed", "toolsets_of"]

TOOLS: tuple[Tool, ...] = (*ANSWER, *SEARCH, *READ, *DOCS, *CACHE, *OPS, *ADMIN)
"""In the order in which they are listed."""


def is_fixed(settings: Settings) -> bool:
    """Whether the toolsets in force stay the same: TOOLSETS is set, or a database is assumed to hold sites."""
    return "toolsets" in settings.model_fields_set or settings.docs_path is None


def toolsets_of(settings: Settings) -> tuple[str, ...]:
    """The toolsets in force: unless TOOLSETS is set, `docs` is added as soon as one site is indexed. A database is not
    queried: it is assumed to hold sites.
    """
    path = settings.docs_path
    if "toolsets" in settings.model_fields_set or (path is not None and not has_site(path)):
        return settings.toolsets
    return (*settings.toolsets, "docs")


def callable_tools(settings: Settings) -> tuple[Tool, ...]:
    """The tools that may be called: those that are listed now or later."""
    if "toolsets" in settings.model_fields_set:
        return listed(settings.toolsets)
    return listed((*settings.toolsets, "docs"))


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
