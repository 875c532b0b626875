"""The group of settings about what is kept and counted."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, field_validator

from websearch_gateway.settings.fields import APP_NAME, Amounts, Budget, Quota, SettingsGroup, Text, any_case

HTTP_LIMITS = {
    "rate_limit": "20/10minutes",
    "search_rate_limit": "60/10minutes",
    "read_rate_limit": "120/10minutes",
    "cached_rate_limit": "600/10minutes",
}
"""What limits that are not set are over HTTP, where users share a gateway."""


def _data_dir() -> Path:
    """The folder for data of this user. For a user without a home it is one that nobody can make."""
    try:
        return Path(platformdirs.user_data_dir(APP_NAME, appauthor=False))
    except RuntimeError:
        return Path(os.devnull, APP_NAME)


class Storage(SettingsGroup):
    """State, cache, limits and budgets"""

    data_dir: Path = Field(
        default_factory=lambda: _data_dir(),
        description="The folder of local files.",
    )
    state_url: Text = Field(
        None,
        description="`sqlite:///PATH` (default: state.db in DATA_DIR), `memory://`, `firestore://PROJECT/PREFIX` or "
        "`postgresql://…`.",
    )
    docs_refresh_hours: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        description="How often `serve` looks for documentation whose refresh is due (1 to 45 days after the last one, "
        "depending on how much had changed); 0 for never.",
    )
    docs_url: Text = Field(
        None,
        description="Where the documentation index is stored: `sqlite:///PATH` (default: docs/docs.db in DATA_DIR), or "
        "`postgresql://…` with pgvector.",
    )
    docs_vectors: Text = Field(
        None,
        description="Where the vectors of the documentation index are searched: `lance:///FOLDER`, "
        "`lance+s3://BUCKET/PREFIX` or `lance+gs://BUCKET/PREFIX` (extra `lancedb`). Default: where DOCS_URL says.",
    )
    max_state_mb: int = Field(
        1_024,
        ge=1,
        description="Size of the state's file (MB), without its log; the least recently used pages and answers are "
        "deleted before it grows beyond. For `sqlite://` and `memory://`.",
    )
    cache_ttl_seconds: float = Field(
        300.0,
        ge=0,
        allow_inf_nan=False,
        description="How long the cache serves results about changing subjects (news, prices ...); 0 turns it off.",
    )
    cache_long_ttl_seconds: float = Field(
        3_600.0, ge=0, allow_inf_nan=False, description="How long the cache serves all other results."
    )
    stale_if_error_seconds: float = Field(
        86_400.0,
        ge=0,
        allow_inf_nan=False,
        description="How much longer answers, results and pages may be served when every upstream, or the page's site, "
        "fails; never for changing subjects.",
    )
    cache_scope: Literal["shared", "user"] = Field(
        "shared", description="Whether users may see each other's cached answers."
    )
    semantic_cache: bool = Field(True, description="Whether a question that means the same gets the stored answer.")
    similarity_threshold: float = Field(
        0.25, ge=0, le=1, description="The least score of a passage that `read_from_page` shows; 0 shows all."
    )
    rate_limit: Quota | None = Field(
        None,
        description="Calls of `search_web` per user, as `N/PERIOD`; `none` for no limit. Only a call that leaves the "
        "cache counts. Default: 20/10minutes over HTTP, none elsewhere.",
    )
    search_rate_limit: Quota | None = Field(
        None,
        description="Calls of `web_search` and `search_news`, and queries of `web_search_raw`, per user. Default: "
        "60/10minutes over HTTP.",
    )
    read_rate_limit: Quota | None = Field(
        None,
        description="Calls of `get_content` and `read_from_page`, and all of the documentation tools, per user. "
        "Default: 120/10minutes over HTTP.",
    )
    cached_rate_limit: Quota | None = Field(
        None,
        description="All other calls per user: those that the cache or an identical call in flight answers. Default: "
        "600/10minutes over HTTP.",
    )
    global_rate_limit: Quota = Field(
        "", description="Searches of all users together that leave the cache. Default: no limit."
    )
    daily_budget_usd: Budget = Field(
        5.0,
        description="The most that all users together may spend per day (USD, UTC); `none` for no limit. Below 0.07 "
        "OpenAI is never called.",
    )
    user_daily_budget_usd: Budget = Field(
        None, description="The most that one user may spend per day (USD, UTC). Default: no limit."
    )
    prices: Amounts = Field(
        {}, description="USD per call of a provider, such as `brave:0.005`, instead of the built-in price."
    )

    _scope_case = any_case("cache_scope")

    @field_validator("data_dir")
    @classmethod
    def _at_home(cls, value: Path) -> Path:
        try:
            return value.expanduser()
        except RuntimeError:
            raise ValueError("must not begin with ~ for a user without a home folder") from None

    @field_validator("docs_vectors")
    @classmethod
    def _lance_url(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"lance:///.|lance\+(?:s3|gs)://.", value):
            raise ValueError("must name a folder or bucket, as in lance:///vectors or lance+s3://bucket/prefix")
        return value

    @field_validator("docs_url")
    @classmethod
    def _docs_file(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"sqlite:///.|postgresql://.", value):
            raise ValueError("must name a file, as in sqlite:///docs.db, or a database, as in postgresql://host/name")
        return value
