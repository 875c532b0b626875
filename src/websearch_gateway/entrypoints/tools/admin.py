"""The toolset `admin`: what changes or removes data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import StrictFloat, StrictStr

from websearch_gateway.entrypoints.tools.base import Arguments, Tool, declared
from websearch_gateway.models import Caller
from websearch_gateway.ports import Progress
from websearch_gateway.results.admin import CacheClearResult, MigrateResult

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class CacheClearArguments(Arguments):
    older_than_hours: Annotated[
        StrictFloat | None, declared("Only what is older; default: any age.", exclusiveMinimum=0)
    ] = None
    query: Annotated[
        StrictStr | None, declared("Only answers to this question; default: everything.", minLength=1, maxLength=400)
    ] = None


async def _cache_clear(gateway: Gateway, arguments: CacheClearArguments, _: Caller, __: Progress) -> CacheClearResult:
    return await gateway.cache.clear(older_than_hours=arguments.older_than_hours, query=arguments.query)


class CacheMigrateArguments(Arguments):
    target: Annotated[StrictStr, declared("A STATE_URL; over HTTP sqlite:///NAME only.", minLength=1, maxLength=2000)]


async def _cache_migrate(
    gateway: Gateway, arguments: CacheMigrateArguments, caller: Caller, _: Progress
) -> MigrateResult:
    return await gateway.migrate(arguments.target, caller)


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
        description="Copy all cached entries to another state backend. After an interruption, call it again to go on.",
        arguments=CacheMigrateArguments,
        result=MigrateResult,
        run=_cache_migrate,
        changes_data=True,
        open_world=False,
    ),
)
