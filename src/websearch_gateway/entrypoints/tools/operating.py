"""The toolsets `ops`, `cache` and `admin`: how the gateway is doing, what it has stored, and what removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import StrictFloat, StrictInt, StrictStr

from websearch_gateway.entrypoints.reply import cached_text, fit_answer, fit_similar, similar_text
from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared, reply_tokens
from websearch_gateway.models import Caller, Progress
from websearch_gateway.results import (
    CacheClearResult,
    CachedAnswer,
    CacheStats,
    MigrateResult,
    ProviderStatuses,
    ServerStats,
    SimilarAnswers,
)

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class NoArguments(Arguments):
    pass


async def _cache_stats(gateway: Gateway, _: NoArguments, __: Caller, ___: Progress) -> CacheStats:
    return await gateway.cache.stats()


async def _provider_status(gateway: Gateway, _: NoArguments, __: Caller, ___: Progress) -> ProviderStatuses:
    return gateway.operations.provider_status()


async def _server_stats(gateway: Gateway, _: NoArguments, __: Caller, ___: Progress) -> ServerStats:
    return await gateway.operations.server_stats()


OPS: tuple[Tool, ...] = (
    Tool(
        name="get_cache_stats",
        toolset="ops",
        title="Use and size of the cache",
        description="Show the hit rate, savings, size and age of the cache.",
        arguments=NoArguments,
        result=CacheStats,
        run=_cache_stats,
        open_world=False,
    ),
    Tool(
        name="get_provider_status",
        toolset="ops",
        title="Health of the upstreams",
        description="Show health, breaker, latency and last error of every upstream.",
        arguments=NoArguments,
        result=ProviderStatuses,
        run=_provider_status,
        open_world=False,
    ),
    Tool(
        name="get_server_stats",
        toolset="ops",
        title="Load and costs",
        description="Show calls, latencies and errors of this gateway, and its costs per day and provider.",
        arguments=NoArguments,
        result=ServerStats,
        run=_server_stats,
        open_world=False,
    ),
)


class SearchCachedArguments(Arguments):
    query: Annotated[StrictStr, declared("The question, in full words.", minLength=1, maxLength=400)]


class SearchSimilarArguments(SearchCachedArguments):
    threshold: Annotated[StrictFloat, declared("The least similarity.", minimum=0, maximum=1)] = 0.72
    limit: Annotated[StrictInt, declared("The most answers.", minimum=1, maximum=20)] = 5


async def _search_similar(
    gateway: Gateway, arguments: SearchSimilarArguments, caller: Caller, _: Progress
) -> SimilarAnswers:
    found = await gateway.search_similar(**arguments.model_dump(), caller=caller)
    return fit_similar(found, reply_tokens(gateway, caller))


async def _search_cached(
    gateway: Gateway, arguments: SearchCachedArguments, caller: Caller, _: Progress
) -> CachedAnswer:
    return fit_answer(await gateway.search_cached(arguments.query, caller), reply_tokens(gateway, caller))


CACHE: tuple[Tool, ...] = (
    Tool(
        name="search_similar",
        toolset="cache",
        title="Find answers to similar questions",
        description=(
            "Get recent answers to similar questions; these may mean something else. Free, and calls no upstream."
        ),
        arguments=SearchSimilarArguments,
        result=SimilarAnswers,
        run=_search_similar,
        text=similar_text,
        open_world=False,
    ),
    Tool(
        name="search_cached",
        toolset="cache",
        title="Answer from the cache",
        description="Like search_web, but only from the cache; `found` is false if the answer is not there.",
        arguments=SearchCachedArguments,
        result=CachedAnswer,
        run=_search_cached,
        text=cached_text,
        open_world=False,
    ),
)


class CacheClearArguments(Arguments):
    older_than_hours: Annotated[
        StrictFloat | None, declared("Only entries older than this. Default: any age.", exclusiveMinimum=0)
    ] = None
    query: Annotated[
        StrictStr | None, declared("Only answers to this question. Default: everything.", minLength=1, maxLength=400)
    ] = None


async def _cache_clear(gateway: Gateway, arguments: CacheClearArguments, _: Caller, __: Progress) -> CacheClearResult:
    return await gateway.cache.clear(older_than_hours=arguments.older_than_hours, query=arguments.query)


class CacheMigrateArguments(Arguments):
    target: Annotated[StrictStr, declared("A STATE_URL; over HTTP sqlite:///NAME only.", minLength=1, maxLength=2000)]


async def _cache_migrate(
    gateway: Gateway, arguments: CacheMigrateArguments, caller: Caller, _: Progress
) -> MigrateResult:
    return await gateway.migration.migrate(arguments.target, caller)


ADMIN: tuple[Tool, ...] = (
    Tool(
        name="cache_clear",
        toolset="admin",
        title="Clear the cache",
        description="Remove cached answers, results and pages, for all users.",
        arguments=CacheClearArguments,
        result=CacheClearResult,
        run=_cache_clear,
        changes_data=True,
        open_world=False,
    ),
    Tool(
        name="cache_migrate",
        toolset="admin",
        title="Copy the cache elsewhere",
        description="Copy all cached entries to another state backend. After an interruption, call it again to resume.",
        arguments=CacheMigrateArguments,
        result=MigrateResult,
        run=_cache_migrate,
        changes_data=True,
        open_world=False,
    ),
)
