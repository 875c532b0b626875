"""The settings themselves, in groups. A field's description is its line in `docs/settings.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, Field, field_validator

from websearch_gateway.settings.fields import Amounts, Key, Names, OptionalUrl, Quota, RouteSettings, Text, Url

APP_NAME = "websearch-gateway"
TOOLSETS = ("answer", "search", "read", "docs", "cache", "ops", "admin")
DEFAULT_TOOLSETS = ("answer", "search", "read")


def any_case(*names: str) -> Any:
    """Choices are understood in any case."""

    def fold(value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value

    return field_validator(*names, mode="before")(fold)


class Upstreams(BaseModel):
    """Upstreams and their keys"""

    openai_api_key: Key = Field(None, description="Key for the answer engine. Without it raw search answers.")
    openai_base_url: Url = Field("https://api.openai.com/v1", description="Base URL of the Responses API.")
    openai_models: Names = Field(
        ("gpt-5-nano", "gpt-6-luna"), description="Models in order; the next is used when one is gone."
    )

    serper_api_key: Key = Field(None, description="Key for Serper.")
    tavily_api_key: Key = Field(None, description="Key for Tavily.")
    brave_api_key: Key = Field(None, description="Key for Brave Search.")
    google_api_key: Key = Field(None, description="Key for Google Custom Search (needs GOOGLE_SEARCH_ENGINE_ID too).")
    google_search_engine_id: Text = Field(None, description="The `cx` of the Google search engine.")
    synthetic_api_key: Key = Field(None, description="Key for synthetic.new.")
    github_token: Key = Field(None, description="Raises GitHub's rate limit for the reader of issues and files.")

    serper_base_url: Url = Field("https://google.serper.dev", description="Where Serper answers.")
    tavily_base_url: Url = Field("https://api.tavily.com", description="Where Tavily answers.")
    brave_base_url: Url = Field("https://api.search.brave.com", description="Where Brave answers.")
    google_search_base_url: Url = Field("https://www.googleapis.com", description="Where Google answers.")
    synthetic_base_url: Url = Field("https://api.synthetic.new", description="Where synthetic.new answers.")
    duckduckgo_base_url: Url = Field("https://html.duckduckgo.com", description="Where DuckDuckGo answers.")
    searxng_base_url: OptionalUrl = Field(None, description="Your SearXNG instance; it must allow `format=json`.")

    search_providers: Names = Field((), description="Raw providers in order. Default: every configured one.")
    provider_weights: Amounts = Field(
        {}, description="Share the searches, such as `brave:3,duckduckgo:1`, in place of a fixed order."
    )
    provider_rates: Amounts = Field(
        {}, description="Requests per second that a provider allows you, such as `brave:20`; 0 for no limit."
    )
    google_safe_search: Literal["off", "moderate", "strict"] = Field(
        "moderate", description="Safe search where a call does not say."
    )
    contact_url: OptionalUrl = Field(
        None, description="Who runs this gateway: a page that sites find in our user agent. Wikipedia allows more then."
    )

    _safe_search_case = any_case("google_safe_search")


class Reading(BaseModel):
    """Reading pages"""

    concurrency: int = Field(
        8,
        ge=1,
        le=64,
        description="Pages fetched at once per call. Unless it is set, `web_search` fetches all of its pages at once.",
    )
    fetch_allow_private_hosts: Names = Field(
        (), description="`host:port` pairs that page reading may reach although private."
    )
    respect_robots: bool = Field(
        False, description="Read no page that its site's robots.txt closes to us. Off: an agent asked for this page."
    )
    page_ttl_seconds: float = Field(
        600.0, ge=0, allow_inf_nan=False, description="How long a page is served as read; then its site is asked."
    )
    browser_retries: int = Field(2, ge=0, le=10, description="How often a browser that does not start is tried again.")
    browser_backoff_ms: int = Field(500, ge=0, description="The wait before the first of these tries; it doubles.")
    browser_path: Text = Field(None, description="The Chromium to drive. Default: the machine's.")
    embedding_server_url: OptionalUrl = Field(
        None,
        description="Where vectors come from: an OpenAI-compatible base URL, or Ollama's. Unset: the built-in model.",
    )
    embedding_server_api_key: Key = Field(None, description="Key for EMBEDDING_SERVER_URL, if it wants one.")
    embedding_model_name: Text = Field(
        None,
        description="Default: `text-embedding-3-small`; with Ollama `nomic-embed-text`. Without a server: `neural` is "
        "MiniLM of the extra of this name, `neural:FOLDER` from a folder.",
    )
    embedding_tokens_size: int = Field(512, ge=32, le=8192, description="About how many tokens a passage has.")


class Remembering(BaseModel):
    """State, cache, limits and budgets"""

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)),
        description="Where local files live.",
    )
    state_url: Text = Field(
        None,
        description="`sqlite:///PATH` (default: state.db in DATA_DIR), `memory://`, `firestore://PROJECT/PREFIX` or "
        "`postgresql://…`.",
    )
    cache_ttl_seconds: float = Field(
        300.0, ge=0, allow_inf_nan=False, description="How long an answer may be served from the cache; 0 turns it off."
    )
    cache_scope: Literal["shared", "user"] = Field(
        "shared", description="Whether users may see each other's cached answers."
    )
    semantic_cache: bool = Field(True, description="Whether a question that means the same gets the stored answer.")
    similarity_threshold: float = Field(
        0.72, ge=0, le=1, description="How near a cached query must be for `search_similar`, unless the call says."
    )
    rate_limit: Quota = Field("20/10minutes", description="Searches per user, as `N/PERIOD`; `none` for no limit.")
    global_rate_limit: Quota = Field("", description="Searches of all users together, likewise; default: no limit.")
    daily_budget_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="What all users may cost per day (UTC); default: no limit. Below 0.07 OpenAI is never asked.",
    )
    user_daily_budget_usd: float | None = Field(
        None, ge=0, allow_inf_nan=False, description="What one user may cost per day (UTC); default: no limit."
    )
    prices: Amounts = Field(
        {}, description="USD per call of a provider, such as `brave:0.005`, over the built-in table's."
    )

    _scope_case = any_case("cache_scope")


class Behaviour(BaseModel):
    """Time, failure and routing"""

    search_deadline_seconds: float = Field(15.0, gt=0, allow_inf_nan=False, description="One search, all told.")
    fallback_hedge_seconds: float = Field(
        9.0, ge=0, allow_inf_nan=False, description="When raw search starts beside a slow answer engine."
    )
    request_timeout_ms: int = Field(
        20000, gt=0, description="One request to an upstream, at most (milliseconds); a page gets 5 s of it."
    )
    breaker_failures: int = Field(5, ge=1, description="Failures in a row after which an upstream is left alone.")
    breaker_rest_seconds: float = Field(
        30.0, gt=0, allow_inf_nan=False, description="For how long, before one call probes it."
    )
    strict_routing: bool = Field(
        False, description="Refuse by plain keywords too (market, event, bet, feed ...). Refuses innocent questions."
    )
    routes: dict[str, RouteSettings] = Field(
        default_factory=dict, description="Routing table; only in the settings file."
    )


class Serving(BaseModel):
    """Serving"""

    toolsets: Names = Field(DEFAULT_TOOLSETS, description="Which tools are listed; `all` for every one.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Verbosity of the JSON log on stderr."
    )
    auth_mode: Literal["none", "secret", "jwks", "firebase"] = Field(
        "none", description="How HTTP callers prove who they are; `none` binds loopback only."
    )
    auth_secret: Key = Field(None, description="The shared secret of mode `secret` (HS256), at least 32 bytes.")
    auth_jwks_url: OptionalUrl = Field(None, description="The public keys of mode `jwks`.")
    auth_issuer: Text = Field(None, description="The `iss` that a token must have.")
    auth_audience: Text = Field(None, description="The `aud` that a token must have. Default: PUBLIC_URL with `/mcp`.")
    auth_algorithm: Literal["HS256", "RS256", "ES256", "EdDSA"] | None = Field(
        None, description="The one algorithm: HS256 with `secret`; RS256 (default), ES256 or EdDSA with `jwks`."
    )
    firebase_project_id: Text = Field(None, description="Mode `firebase`: gives issuer, audience and keys.")
    public_url: OptionalUrl = Field(None, description="Where clients reach the HTTP server.")
    allowed_hosts: Names = Field(
        (), description="Values of `Host` that are served, besides loopback's and PUBLIC_URL's; `name:*` for any port."
    )
    allowed_origins: Names = Field((), description="Values of `Origin` that are served, besides PUBLIC_URL's.")
    otel_exporter_otlp_endpoint: OptionalUrl = Field(
        None, description="Where spans are sent (OTLP over HTTP); needs the extra `otel`."
    )

    @field_validator("log_level", mode="before")
    @classmethod
    def _upper_case(cls, value: Any) -> Any:
        return value.strip().upper() if isinstance(value, str) else value

    @field_validator("toolsets")
    @classmethod
    def _known_toolsets(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        value = tuple(name.lower() for name in value)
        if "all" in value:
            return TOOLSETS
        if not set(value) <= set(TOOLSETS):
            raise ValueError(f"unknown toolset; choose from {', '.join(TOOLSETS)} or all")
        return value

    _mode_case = any_case("auth_mode")
