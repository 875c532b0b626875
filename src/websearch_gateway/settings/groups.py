"""The settings themselves, in groups. A field's description is its line in `docs/settings.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from websearch_gateway.settings.fields import (
    Amounts,
    Hidden,
    Key,
    Names,
    OptionalUrl,
    Routes,
    SettingsGroup,
    Text,
    any_case,
)

TOOLSETS = ("answer", "search", "read", "docs", "docs-admin", "cache", "ops", "admin")
DEFAULT_TOOLSETS = ("answer", "search", "read")


class Upstreams(SettingsGroup):
    """Searches"""

    github_token: Key = Field(None, description="Raises GitHub's rate limit for the reader of issues and files.")
    search_providers: Names = Field((), description="Raw providers in order. Default: all configured ones.")
    provider_weights: Amounts = Field(
        {}, description="Distribute searches by weight, such as `brave:3,duckduckgo:1`, instead of a fixed order."
    )
    google_search_engine_id: Text = Field(None, description="The `cx` of the Google search engine.")
    google_safe_search: Literal["off", "moderate", "strict"] = Field(
        "moderate", description="Google's safe search for calls that do not set it."
    )
    contact_url: OptionalUrl = Field(
        None,
        description="A page about who runs this gateway, for our user agent. Wikipedia allows more requests with it.",
    )

    _safe_search_case = any_case("google_safe_search")


class Pages(SettingsGroup):
    """Reading pages"""

    concurrency: int = Field(
        64, ge=1, le=512, description="The most pages that this process reads, and raw searches that it runs, at once."
    )
    fetch_allow_private_hosts: Names = Field((), description="Private `host:port` pairs that page reading may reach.")
    allowed_domains: Names = Field(
        (), description="The only domains, with their subdomains, to search and read. Default: all."
    )
    blocked_domains: Names = Field((), description="Domains, with their subdomains, never to search or read.")
    url_provenance: Literal["off", "warn", "enforce"] = Field(
        "warn",
        description="What happens to an address that no result and no page gave the caller and that carries data: "
        "nothing, a warning, or a refusal.",
    )
    provenance_domains: Names = Field(
        (), description="Domains, with their subdomains, whose addresses may carry data (URL_PROVENANCE)."
    )
    respect_robots: bool = Field(
        False, description="Obey robots.txt when reading pages. Off by default, because an agent asked for the page."
    )
    page_ttl_seconds: float = Field(
        600.0, ge=0, allow_inf_nan=False, description="How long a read page is served without asking its site again."
    )
    browser_retries: int = Field(2, ge=0, le=10, description="How often to try again if the browser does not start.")
    browser_backoff_ms: int = Field(
        500, ge=0, description="The wait before the first of these tries; it doubles each time."
    )
    browser_path: Text = Field(None, description="The path of Chromium. Default: the machine's.")
    embedding_server_url: OptionalUrl = Field(
        None,
        description="Base URL of the embedding server: OpenAI-compatible, or Ollama's. Default: the built-in model.",
    )
    embedding_server_api_key: Key = Field(None, description="Key for EMBEDDING_SERVER_URL, if it requires one.")
    embedding_model_name: Text = Field(
        None,
        description="Default: `text-embedding-3-small`; with Ollama `nomic-embed-text`. Without a server: `neural` is "
        "MiniLM of the extra of this name, `neural:FOLDER` from a folder.",
    )
    embedding_tokens_size: int = Field(512, ge=32, le=8192, description="The approximate size of a passage (tokens).")

    _provenance_case = any_case("url_provenance")


class Behaviour(SettingsGroup):
    """Time, failure and routing"""

    search_deadline_seconds: float = Field(
        15.0, gt=0, allow_inf_nan=False, description="The time limit of a whole search."
    )
    fallback_hedge_seconds: float = Field(
        9.0, ge=0, allow_inf_nan=False, description="After how long raw search starts beside a slow answer engine."
    )
    request_timeout_ms: int = Field(
        20000,
        gt=0,
        description="The time limit of a request to an upstream or of a page (milliseconds); a page found by a search "
        "gets at most 5 s.",
    )
    breaker_failures: int = Field(
        5, ge=1, description="Failures in a row after which the circuit of an upstream opens."
    )
    breaker_rest_seconds: float = Field(
        30.0,
        gt=0,
        allow_inf_nan=False,
        description="How long the circuit stays open before one call probes the upstream.",
    )
    routes: Routes = Field(
        default_factory=dict,
        description="Which questions an MCP client is sent elsewhere with: `ROUTE:SERVER` pairs. Default: "
        "`polymarket:polymarket,google-news-rss:google-news-rss`; a route that is left out is off, with `none` all "
        "are. Tables `[routes.ROUTE]` of the settings file can do more.",
    )


class Serving(SettingsGroup):
    """Serving"""

    toolsets: Names = Field(
        DEFAULT_TOOLSETS,
        description="The toolsets whose tools are listed; `all` for every one. Unless it is set, `docs` joins "
        "as soon as a site is indexed.",
    )
    max_reply_tokens: int = Field(
        20_000, ge=2_000, description="The largest reply of a tool, in tokens of three bytes. Agents cut at 25,000."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Verbosity of the JSON log on stderr."
    )
    auth_mode: Literal["none", "token", "secret", "jwks", "firebase"] = Field(
        "none", description="How HTTP callers authenticate; with `none` the server binds to loopback only."
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
    public_url: OptionalUrl = Field(None, description="The URL at which clients reach the HTTP server.")
    allowed_hosts: Names = Field(
        (), description="Accepted values of `Host`, besides loopback's and PUBLIC_URL's; `name:*` for any port."
    )
    allowed_origins: Names = Field((), description="Accepted values of `Origin`, besides PUBLIC_URL's.")
    outbound_proxy: OptionalUrl = Field(
        None, description="An HTTP proxy for all outgoing requests, such as `http://proxy.example.org:3128`."
    )
    trust_env: bool = Field(
        False, description="Whether to use HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY of the environment."
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
