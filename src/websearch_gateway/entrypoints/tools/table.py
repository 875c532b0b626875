"""The tools as data: name, toolset, arguments, result, and the call of the gateway behind it. The tools of the
toolsets `ops`, `cache` and `admin` are here: how the gateway is doing, what it has stored, and what removes it.

Adding a tool: one argument model, one function, one row in its toolset's tuple. Models read the texts, and every word
costs tokens in every conversation: say when to use the tool, and do not repeat the schema.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from websearch_gateway.docs import has_site
from websearch_gateway.entrypoints.reply.fitting import fit_answer, fit_similar
from websearch_gateway.entrypoints.reply.texts import (
    cached_text,
    facts_text,
    providers_text,
    similar_text,
)
from websearch_gateway.entrypoints.tools.base import Arguments, NoArguments, Tool, arguments_of
from websearch_gateway.entrypoints.tools.chatgpt import CHATGPT
from websearch_gateway.entrypoints.tools.documentation import DOCS
from websearch_gateway.entrypoints.tools.web import ANSWER, READ, SEARCH
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import (
    CacheClearRequest,
    CachedRequest,
    CacheMigrateRequest,
    SimilarRequest,
)
from websearch_gateway.results import (
    CacheClearResult,
    CachedAnswer,
    CacheStats,
    MigrateResult,
    ProviderStatuses,
    ServerStats,
    SimilarAnswers,
)
from websearch_gateway.settings.loading import Settings

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway

__all__ = ["TOOLS", "Arguments", "Tool", "callable_tools", "is_fixed", "listed", "toolsets_of"]


async def _provider_status(gateway: Gateway, *_: Any) -> ProviderStatuses:
    return gateway.operations.provider_status()


_ops = partial(Tool, toolset="ops", arguments=NoArguments, text=facts_text, open_world=False)

OPS: tuple[Tool, ...] = (
    _ops(
        name="get_cache_stats",
        title="Use and size of the cache",
        description="Show the hit rate, savings, size and age of the cache.",
        result=CacheStats,
        run=lambda gateway, *_: gateway.cache.stats(),
    ),
    _ops(
        name="get_provider_status",
        title="Health of the upstreams",
        description="Show health, breaker, latency and last error of every upstream.",
        result=ProviderStatuses,
        text=providers_text,
        run=_provider_status,
    ),
    _ops(
        name="get_server_stats",
        title="Load and costs",
        description="Show calls, latencies and errors of this gateway, and its costs per day and provider.",
        result=ServerStats,
        run=lambda gateway, *_: gateway.operations.server_stats(),
    ),
)


_cache = partial(Tool, toolset="cache", open_world=False)

CACHE: tuple[Tool, ...] = (
    _cache(
        name="search_similar",
        title="Find answers to similar questions",
        description=(
            "Get recent answers to similar questions; these may mean something else. Free, and calls no upstream."
        ),
        arguments=arguments_of(SimilarRequest, "SearchSimilarArguments"),
        result=SimilarAnswers,
        run=lambda gateway, asked, caller, _: gateway.search_similar(
            asked.query, caller, threshold=asked.threshold, max_results=asked.max_results
        ),
        fit=fit_similar,
        text=similar_text,
    ),
    _cache(
        name="search_cached",
        title="Answer from the cache",
        description="Like search_web, but only from the cache; `found` is false if the answer is not there.",
        arguments=arguments_of(CachedRequest, "SearchCachedArguments"),
        result=CachedAnswer,
        run=lambda gateway, asked, caller, _: gateway.search_cached(asked.query, caller),
        fit=fit_answer,
        text=cached_text,
    ),
)


_admin = partial(Tool, toolset="admin", text=facts_text, changes_data=True, open_world=False)

CACHE_CLEAR = _admin(
    name="cache_clear",
    title="Clear the cache",
    description="Remove cached answers, results and pages, for all users.",
    arguments=arguments_of(CacheClearRequest, "CacheClearArguments"),
    result=CacheClearResult,
    run=lambda gateway, asked, *_: gateway.cache.clear(
        older_than_hours=asked.older_than_hours, query=asked.query
    ),
)

ADMIN: tuple[Tool, ...] = (
    CACHE_CLEAR,
    _admin(
        name="cache_migrate",
        title="Copy the cache elsewhere",
        description="Copy all cached entries to another state backend. After an interruption, call it again to resume.",
        arguments=arguments_of(CacheMigrateRequest, "CacheMigrateArguments"),
        result=MigrateResult,
        run=lambda gateway, asked, caller, _: gateway.migration.migrate(asked.target, caller),
    ),
)


TOOLS: tuple[Tool, ...] = (*ANSWER, *SEARCH, *READ, *DOCS, *CACHE, *OPS, *ADMIN, *CHATGPT)
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
    """The tools that may be called: those that are listed now or later, and the search for news, which is listed only
    where TOOLSETS names it: it is `web_search` with the topic `news`, under an older name.
    """
    later = () if "toolsets" in settings.model_fields_set else ("docs",)
    unlisted = ("news",) if "search" in settings.toolsets else ()
    return listed((*settings.toolsets, *later, *unlisted))


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
