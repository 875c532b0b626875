"""The results of what changes the gateway's data."""

from __future__ import annotations

from pydantic import Field

from websearch_gateway.results.base import ErrorInfo, WireModel


class MigrateResult(WireModel):
    """The result of `cache_migrate`.

    `copied` values and `counters` are in the target, and were read back there. `already_there` are counters that the
    target had begun itself. `expired` ran out under way. `resumed` tells of an earlier run that was interrupted: what
    that one copied is not counted again.
    """

    target: str = ""
    copied: int = 0
    counters: int = 0
    already_there: int = 0
    expired: int = 0
    resumed: bool = False
    error: ErrorInfo | None = None


class CacheClearResult(WireModel):
    """The result of `cache_clear`: entries that were removed from the shared state, by kind.

    Kinds are `answers`, `questions` (their wordings), `web` (results), `pages` and `vectors` (of passages).
    """

    removed: int = 0
    removed_by_kind: dict[str, int] = Field(default_factory=dict)
    error: ErrorInfo | None = None
