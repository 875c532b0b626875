"""The results of the tools that change or remove data."""

from __future__ import annotations

from pydantic import Field

from websearch_gateway.results.base import ErrorInfo, WireModel


class MigrateResult(WireModel):
    """The result of `cache_migrate`.

    `copied` counts values and `counters` counters; all were read back from the target. `already_there` counts counters
    that the target had already, `expired` entries that expired during the run. `resumed`: an earlier run was
    interrupted, and the entries that it copied are not counted again.
    """

    target: str = ""
    copied: int = 0
    counters: int = 0
    already_there: int = 0
    expired: int = 0
    resumed: bool = False
    error: ErrorInfo | None = None


class CacheClearResult(WireModel):
    """The result of `cache_clear`: the number of entries removed from the shared state, by kind.

    Kinds are `answers`, `questions` (their wordings), `web` (results), `pages` and `vectors` (of passages).
    """

    removed: int = 0
    removed_by_kind: dict[str, int] = Field(default_factory=dict)
    error: ErrorInfo | None = None
