"""The toolset `admin`: what changes or removes data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import StrictStr

from websearch_gateway.doors.tools.base import Arguments, Tool, declared
from websearch_gateway.models import Caller
from websearch_gateway.ports import Progress
from websearch_gateway.wire.admin import MigrateResult

if TYPE_CHECKING:
    from websearch_gateway.app import Gateway


class CacheMigrateArguments(Arguments):
    target: Annotated[StrictStr, declared("A STATE_URL; over HTTP sqlite:///NAME only.", minLength=1, maxLength=2000)]


async def _cache_migrate(
    gateway: Gateway, arguments: CacheMigrateArguments, caller: Caller, _: Progress
) -> MigrateResult:
    return await gateway.migrate(arguments.target, caller)


ADMIN: tuple[Tool, ...] = (
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
