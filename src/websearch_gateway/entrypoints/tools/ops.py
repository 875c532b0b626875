"""The toolset `ops`: how the gateway is doing. No call here reaches the web."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.entrypoints.tools.base import Arguments, Tool
from websearch_gateway.models import Caller
from websearch_gateway.ports import Progress
from websearch_gateway.results.ops import CacheStats, ProviderStatuses, ServerStats

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
        description="Hit rate of the cache, what it saved, its size and age.",
        arguments=NoArguments,
        result=CacheStats,
        run=_cache_stats,
        open_world=False,
    ),
    Tool(
        name="get_provider_status",
        toolset="ops",
        title="Health of the upstreams",
        description="Health, breaker, latency and last error of every search upstream.",
        arguments=NoArguments,
        result=ProviderStatuses,
        run=_provider_status,
        open_world=False,
    ),
    Tool(
        name="get_server_stats",
        toolset="ops",
        title="Load and costs",
        description="Calls, latencies and errors of this gateway, and what it spent per day and provider.",
        arguments=NoArguments,
        result=ServerStats,
        run=_server_stats,
        open_world=False,
    ),
)
