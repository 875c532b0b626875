"""The settings themselves, in groups. A field's description is its line in `docs/settings.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, field_validator

from websearch_gateway.settings.fields import (
    Amounts,
    Hidden,
    Key,
    Names,
    OptionalUrl,
    RouteSettings,
    Text,
    Url,
    any_case,
)

TOOLSETS = ("answer", "search", "read", "docs", "cache", "ops", "admin")
DEFAULT_TOOLSETS = ("answer", "search", "read")


class Upstreams(BaseModel):
    """Upstreams and their keys"""

    answer_engines: Names = Field(
        (),
        description="Answer engines in order: openai, anthropic, gemini, perplexity, llm. Default: every configured "
        "one. Quotes from raw search always come last.",
    )
    openai_api_key: Key = Field(None, description="Key for OpenAI.")
    openai_base_url: Url = Field("https://api.openai.com/v1", description="Base URL of the Responses API.")
    openai_models: Names = Field(
        ("gpt-5-nano", "gpt-6-luna"), description="Models in order; the next is used when one is gone."
    )
    anthropic_api_key: Key = Field(None, description="Key for Anthropic.")
    anthropic_base_url: Url = Field("https://api.anthropic.com", description="Where Anthropic answers.")
    anthropic_models: Names = Field(("claude-haiku-5-5",), description="As OPENAI_MODELS.")
    gemini_api_key: Key = Field(None, description="Key for Gemini.")
    gemini_base_url: Url = Field("https://generativelanguage.googleapis.com", description="Where Gemini answers.")
    gemini_models: Names = Field(("gemini-3.5-flash-lite",), description="As OPENAI_MODELS.")
    gemini_resolve_links: bool = Field(
        False,
        description="Ask Google's redirect where the links of sources lead. Its terms may forbid to do so by program.",
    )
    perplexity_api_key: Key = Field(None, description="Key for Perplexity.")
    perplexity_base_url: Url = Field("https://api.perplexity.ai", description="Where Perplexity answers.")
    perplexity_models: Names = Field(("perplexity/sonar",), description="As OPENAI_MODELS.")
    llm_base_url: OptionalUrl = Field(
        None,
        description="Your own model: any OpenAI-compatible chat completions server, such as "
        "`http://localhost:11434/v1`. It writes from what raw search finds.",
    )
    llm_model: Text = Field(None, description="The name of its model (needs LLM_BASE_URL too).")
    llm_api_key: Key = Field(None, description="Its key, if it requires one.")
    llm_evidence_tokens: int = Field(
        6000, ge=500, le=100_000, description="How many tokens of pages it is given at most; less than its context."
    )

    github_token: Key = Field(None, description="Raises GitHub's rate limit for the reader of issues and files.")
    search_providers: Names = Field((), description="Raw providers in order. Default: every configured one.")
    provider_weights: Amounts = Field(
        {}, description="Share the searches, such as `brave:3,duckduckgo:1`, in place of a fixed order."
    )
    provider_rates: Amounts = Field(
        {}, description="Requests per second that a provider allows you, such as `brave:20`; 0 for no limit."
    )
    google_search_engine_id: Text = Field(None, description="The `cx` of the Google search engine.")
    google_safe_search: Literal["off", "moderate", "strict"] = Field(
        "moderate", description="Safe search where a call does not say."
    )
    contact_url: OptionalUrl = Field(
        None, description="Who runs this gateway: a page that sites find in our user agent. Wikipedia allows more then."
    )

    _safe_search_case = any_case("google_safe_search")


class Pages(BaseModel):
    """Reading pages"""

    concurrency: int = Field(
        64, ge=1, le=512, description="Pages that are read, and raw searches that run, at once in this process."
    )
    fetch_allow_private_hosts: Names = Field(
        (), description="`host:port` pairs that page reading may reach although private."
    )
    allowed_domains: Names = Field(
        (), description="The only domains, with those below them, to search and to read. Default: all."
    )
    blocked_domains: Names = Field((), description="Domains, with those below them, never to search or to read.")
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
    embedding_server_api_key: Key = Field(None, description="Key for EMBEDDING_SERVER_URL, if it requires one.")
    embedding_model_name: Text = Field(
        None,
        description="Default: `text-embedding-3-small`; with Ollama `nomic-embed-text`. Without a server: `neural` is "
        "MiniLM of the extra of this name, `neural:FOLDER` from a folder.",
    )
    embedding_tokens_size: int = Field(512, ge=32, le=8192, description="About how many tokens a passage has.")


class Behaviour(BaseModel):
    """Time, failure and routing"""

    search_deadline_seconds: float = Field(
        15.0, gt=0, allow_inf_nan=False, description="The time limit of a whole search."
    )
    fallback_hedge_seconds: float = Field(
        9.0, ge=0, allow_inf_nan=False, description="When raw search starts beside a slow answer engine."
    )
    request_timeout_ms: int = Field(
        20000,
        gt=0,
        description="One request to an upstream, or one page, at most (milliseconds); a page that a search found gets "
        "5 s of it.",
    )
    breaker_failures: int = Field(
        5, ge=1, description="Failures in a row after which the circuit of an upstream opens."
    )
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
    max_reply_tokens: int = Field(
        20_000, ge=2_000, description="The largest reply of a tool, in tokens of three bytes. Agents cut at 25,000."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Verbosity of the JSON log on stderr."
    )
    auth_mode: Literal["none", "token", "secret", "jwks", "firebase"] = Field(
        "none", description="How HTTP callers prove who they are; `none` binds loopback only."
    )
    auth_tokens: Hidden = Field(
        None,
        description="The API keys of mode `token`: `NAME:SHA256-HEX:SCOPE+SCOPE`, separated by commas. "
        "`websearch-gateway token --static` makes one.",
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
    outbound_proxy: OptionalUrl = Field(
        None, description="An HTTP proxy for everything that goes out, such as `http://proxy.example.org:3128`."
    )
    trust_env: bool = Field(
        False, description="Whether HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY of the environment count."
    )
    ca_bundle: Path | None = Field(
        None, description="A PEM file of certificate authorities to trust besides the public ones."
    )
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
