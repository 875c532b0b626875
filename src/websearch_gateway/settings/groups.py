"""The settings themselves, in groups, and their types. A field's description is its line in `docs/settings.md`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
)
from pydantic_settings import NoDecode

APP_NAME = "websearch-gateway"

# An unescaped password may contain anything, so a login reaches to the last @; a path has none before it.
_LOGIN = re.compile(r"(?<=://)([^/\s]\S*)@")


def _split(value: Any) -> Any:
    return (
        tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, str)
        else value
    )


def _words(value: Any) -> Any:
    """The words of a text, separated by commas or blanks; none for `none`."""
    if not isinstance(value, str):
        return value
    words = tuple(value.lower().replace(",", " ").split())
    return () if words == ("none",) else words


def _blank_is_unset(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


_PLACEHOLDER = re.compile(
    r"\$\{.*\}|\$\w+|\{\{.*\}\}|<.*>|%\w+%|(?:sk-)?(?:your|my)[-_ ].*|.*[-_ ]here|change[-_ ]?me|x{3,}|(?:sk-)?\.{3}",
    re.IGNORECASE | re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether a key is what stands for it in a snippet, or a variable that a client did not replace."""
    return bool(_PLACEHOLDER.fullmatch(value))


def without_quotes(value: str) -> str:
    """A value without blanks and one pair of quotes around it. No key has quotes; files for containers keep them."""
    plain = value.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        return plain[1:-1].strip()
    return plain


def _key_without_edges(value: Any) -> Any:
    """Strip a line break pasted after the key, and quotes that a shell would have removed; a placeholder is no key.
    Reject a key with blanks or non-ASCII characters inside."""
    if not isinstance(value, str):
        return value
    key = without_quotes(value)
    if not key or is_placeholder(key):
        return None
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("holds blanks or characters that no key has")
    return key


def _without_slash(value: Any) -> Any:
    return value.strip().rstrip("/") if isinstance(value, str) else value


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # The error's text quotes the input.
        usable = False
    if not usable or re.search(r"\s", value):
        raise ValueError("must be an address such as https://host/path")
    return value


def _pairs(value: Any) -> Any:
    """`name:number,name:number` as a table."""
    if not isinstance(value, str):
        return value
    return dict(part.rpartition(":")[::2] for part in _split(value))


def _amounts(value: Mapping[str, float]) -> Mapping[str, float]:
    if not all(
        name.strip() and math.isfinite(amount) and amount >= 0 for name, amount in value.items()
    ):
        raise ValueError("must be pairs such as brave:3,duckduckgo:1, with numbers from 0 on")
    return {name.strip().lower(): amount for name, amount in value.items()}


_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3_600,
    "day": 86_400,
    "month": 2_592_000,
    "year": 31_104_000,
}
_QUOTA = re.compile(rf"(\d+)\s*(?:/|per)\s*([1-9]\d*)?\s*({'|'.join(_SECONDS)})s?", re.ASCII)


def parsed_quota(value: str) -> str:
    """A limit as it is stored, such as `20/10minutes`; empty for none. Raises `ValueError` for anything else.

    Settings are checked with it at start-up, so that the operator sees a typo then and not on the first call.
    """
    limit = value.strip().lower()
    if value == "" or limit == "none":
        return ""
    calls_and_seconds(limit)
    return limit


def calls_and_seconds(limit: str) -> tuple[int, int]:
    """The most calls, and the seconds in which they may be made, of a limit such as `20/10minutes`."""
    if not (match := _QUOTA.fullmatch(limit)):
        raise ValueError("must be of the form N/PERIOD, such as 20/10minutes, or none")
    return int(match[1]), int(match[2] or 1) * _SECONDS[match[3]]


def parsed_usd(value: Any) -> float:
    """An amount of USD from 0 on. Raises `ValueError` or `TypeError` for anything else."""
    usd = float(value)
    if isinstance(value, bool) or not math.isfinite(usd) or usd < 0:
        raise ValueError("must be an amount in USD, such as 2.50")
    return usd


def masked(value: Any) -> Any:
    """`value`, without the login if it is a URL."""
    return _LOGIN.sub("***@", value) if isinstance(value, str) else value


def login_secrets(url: str) -> set[str]:
    """The password of a login, or the whole login if it is only a token; as written and as sent.

    The user of a database is no secret: its name would be blanked wherever it stands in a log.
    """
    if not (login := _LOGIN.search(url)):
        return set()
    user, _, password = login[1].partition(":")
    secret = password or ("" if url.lower().startswith("postgres") else user)
    return {secret, unquote(secret)} - {""}


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _none_is_no_limit(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


Text = Annotated[str | None, BeforeValidator(_blank_is_unset)]
AnyCase = BeforeValidator(_lower)
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Amounts = Annotated[dict[str, float], NoDecode, BeforeValidator(_pairs), AfterValidator(_amounts)]
Key = Annotated[SecretStr | None, BeforeValidator(_key_without_edges)]
Hidden = Annotated[SecretStr | None, BeforeValidator(_blank_is_unset)]
"""Secret text without the format checks of a key."""
Url = Annotated[str, BeforeValidator(_without_slash), AfterValidator(_web_address)]
OptionalUrl = Annotated[Url | None, BeforeValidator(_blank_is_unset)]
Quota = Annotated[str, AfterValidator(parsed_quota)]
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Duration = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Budget = Annotated[Usd | None, BeforeValidator(_none_is_no_limit)]


class SettingsGroup(BaseModel):
    """Base of the groups. Only `Settings`, which joins them, validates values, so they need no validators (1 MB)."""

    model_config = ConfigDict(defer_build=True)


class RouteSettings(BaseModel):
    """One `[routes.NAME]` table of the settings file: change or disable a built-in route, or add your own.

    `server` is the server to use instead, as the caller knows it. A route with `patterns` (case-insensitive regular
    expressions, matched on the normalised query) is new and needs a `server`, or a `message` that names it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    server: str = ""
    patterns: tuple[str, ...] = ()
    message: str = ""


BUILT_IN_ROUTES = ("polymarket", "google-news-rss")


def _routes(value: Any) -> Any:
    """`NAME:SERVER,NAME:SERVER` as a table of the built-in routes; the others are off, and so are all with `none`."""
    if not isinstance(value, str):
        return value
    pairs = (
        [] if value.strip().lower() == "none" else [part.partition(":") for part in _split(value)]
    )
    servers = {name.strip().lower(): server.strip() for name, _, server in pairs}
    if set(servers) - set(BUILT_IN_ROUTES):
        known = ", ".join(BUILT_IN_ROUTES)
        raise ValueError(
            f"names an unknown route; choose from {known}, or add a table [routes.NAME] to the settings file"
        )
    return {
        name: RouteSettings(enabled=name in servers, server=servers.get(name, ""))
        for name in BUILT_IN_ROUTES
    }


Routes = Annotated[dict[str, RouteSettings], NoDecode, BeforeValidator(_routes)]


TOOLSETS = ("answer", "search", "news", "read", "docs", "docs-admin", "cache", "ops", "admin")
"""What `all` means."""

APART = ("chatgpt",)
"""Toolsets that must be named: their tools are those of others in a form that one vendor asks for."""

DEFAULT_TOOLSETS = ("answer", "search", "read")


class Upstreams(SettingsGroup):
    """Searches"""

    github_token: Key = Field(
        None, description="Raises GitHub's rate limit for the reader of issues and files."
    )
    search_providers: Names = Field(
        (), description="Raw providers in order. Default: all configured ones."
    )
    provider_weights: Amounts = Field(
        {},
        description="Distribute searches by weight, such as `brave:3,duckduckgo:1`, instead of a fixed order.",
    )
    google_search_engine_id: Text = Field(None, description="The `cx` of the Google search engine.")
    google_safe_search: Annotated[Literal["off", "moderate", "strict"], AnyCase] = Field(
        "moderate", description="Google's safe search for calls that do not set it."
    )
    contact_url: OptionalUrl = Field(
        None,
        description="A page that says who runs this gateway, for its user agent. Wikipedia allows more requests "
        "with it.",
    )


class Pages(SettingsGroup):
    """Reading pages"""

    concurrency: int = Field(
        64,
        ge=1,
        le=512,
        description="The most pages that this process reads, and raw searches that it runs, at once.",
    )
    fetch_allow_private_hosts: Names = Field(
        (), description="Private `host:port` pairs that page reading may reach."
    )
    fake_ip_networks: Names = Field(
        (),
        description="Networks, such as `198.18.0.0/15`, from which a local proxy gives out addresses for names.",
    )
    nat64_prefixes: Names = Field(
        (),
        description="Prefixes of this network's NAT64, beside `64:ff9b::/96` and `64:ff9b:1::/48`.",
    )
    allowed_domains: Names = Field(
        (), description="Search and read only these domains and their subdomains. Default: all."
    )
    blocked_domains: Names = Field(
        (), description="Never search or read these domains and their subdomains."
    )
    url_provenance: Annotated[Literal["off", "warn", "enforce"], AnyCase] = Field(
        "warn",
        description="What happens to an address that no result and no page gave the caller and that carries data: "
        "nothing, a warning, or a refusal.",
    )
    provenance_domains: Names = Field(
        (),
        description="Domains, with their subdomains, whose addresses may carry data (URL_PROVENANCE).",
    )
    verify_citations: Annotated[Literal["off", "on"], AnyCase] = Field(
        "off",
        description="Whether `search_web` reads the cited pages to quote them, where the call does not say.",
    )
    claims_reader: Annotated[Literal["auto", "llm", "engine", "off"], AnyCase] = Field(
        "auto",
        description="Who judges what `check_claims` shows: the model of LLM_BASE_URL (`auto`: if there is one), the "
        "answer engines' models without a web search (`engine`: it is paid), or nobody.",
    )
    respect_robots: bool = Field(
        False,
        description="Obey robots.txt when reading pages. Off by default, because an agent asked for the page.",
    )
    browser_retries: int = Field(
        2, ge=0, le=10, description="How often to try again if the browser does not start."
    )
    browser_backoff_ms: int = Field(
        500, ge=0, description="The wait before the first of these tries; it doubles each time."
    )
    browser_path: Text = Field(
        None, description="The path of Chromium. Default: the one on the PATH."
    )
    embedding_server_url: OptionalUrl = Field(
        None,
        description="Base URL of the embedding server: OpenAI-compatible, or Ollama's. Default: the built-in model.",
    )
    embedding_server_api_key: Key = Field(
        None, description="Key for EMBEDDING_SERVER_URL, if it requires one."
    )
    embedding_model_name: Text = Field(
        None,
        description="A model of the server. Default: `text-embedding-3-small`; with Ollama `nomic-embed-text`.",
    )
    reranker_url: OptionalUrl = Field(
        None,
        description="A reranking server (TEI, Infinity, llama.cpp, vLLM, Jina, Cohere, Voyage), which reorders "
        "passages, quotes and documentation. `/rerank` is appended unless the address ends so.",
    )
    reranker_model: Text = Field(
        None, description="The model of RERANKER_URL, where the server wants its name."
    )
    reranker_api_key: Key = Field(None, description="Key for RERANKER_URL, if it requires one.")
    embedding_tokens_size: int = Field(
        512, ge=32, le=8192, description="The approximate size of a passage (tokens)."
    )


class Behaviour(SettingsGroup):
    """Time, failure and routing"""

    search_deadline_seconds: float = Field(
        15.0, gt=0, allow_inf_nan=False, description="The time limit of a whole search."
    )
    fallback_hedge_seconds: Duration = Field(
        9.0,
        description="After how long raw search starts beside a slow answer engine; after at most 60% of the time of a "
        "search.",
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
        description="The specialist servers to which an MCP client is sent: `ROUTE:SERVER` pairs. Default: "
        "`polymarket:polymarket,google-news-rss:google-news-rss`; a route that is left out is off, "
        "and `none` turns all off. Tables `[routes.ROUTE]` of the settings file can do more.",
    )


class Serving(SettingsGroup):
    """Serving"""

    toolsets: Names = Field(
        DEFAULT_TOOLSETS,
        description="The toolsets whose tools are listed; `all` for every one. Unless it is set, `docs` joins "
        "as soon as a site is indexed.",
    )
    playground: Annotated[Literal["on", "off"], AnyCase] = Field(
        "on", description="Whether the HTTP server has the page `/play`, where a person can ask."
    )
    max_reply_tokens: int = Field(
        20_000,
        ge=2_000,
        description="The largest reply of a tool, in tokens of three bytes. Agents that show less get less.",
    )
    structured_output: Annotated[Literal["auto", "on", "off"], AnyCase] = Field(
        "auto",
        description="Whether MCP clients get results as structured data beside the text; `auto`: all but agents that "
        "show their model the data.",
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Verbosity of the JSON log on stderr."
    )
    auth_mode: Annotated[Literal["none", "token", "secret", "jwks", "firebase"], AnyCase] = Field(
        "none",
        description="How HTTP callers authenticate; with `none` the server binds to loopback only.",
    )
    auth_tokens: Hidden = Field(
        None,
        description="API keys of mode `token` besides those of `websearch-gateway token create`: "
        "`NAME:SHA256-HEX:SCOPE+SCOPE`, separated by commas. `websearch-gateway token mint --static` makes one.",
    )
    auth_secret: Key = Field(
        None, description="The shared secret of mode `secret` (HS256), at least 32 bytes."
    )
    auth_jwks_url: OptionalUrl = Field(None, description="The public keys of mode `jwks`.")
    auth_issuer: Text = Field(None, description="The `iss` that a token must have.")
    auth_audience: Text = Field(
        None, description="The `aud` that a token must have. Default: PUBLIC_URL with `/mcp`."
    )
    auth_algorithm: Literal["HS256", "RS256", "ES256", "EdDSA"] | None = Field(
        None,
        description="The one algorithm: HS256 with `secret`; RS256 (default), ES256 or EdDSA with `jwks`.",
    )
    auth_default_scopes: Annotated[tuple[str, ...] | None, NoDecode, BeforeValidator(_words)] = (
        Field(
            None,
            description="The scopes of a JWT that names none, such as `search read`; `none` for no scope. Default: "
            "`search read` with mode `secret`, none with `jwks` and `firebase`, where every user of an app has a token.",
        )
    )
    limits_claim: Text = Field(
        None,
        description="The claim of a JWT with its user's own limits: "
        '`{"rate_limit": "100/10minutes", "daily_budget": 2}`, or these as words (`scope` may hold '
        "`rate_limit:100/10minutes daily_budget:2`).",
    )
    firebase_project_id: Text = Field(
        None, description="The project of mode `firebase`, which gives issuer, audience and keys."
    )
    public_url: OptionalUrl = Field(
        None, description="The URL at which clients reach the HTTP server."
    )
    allowed_hosts: Names = Field(
        (),
        description="Accepted names in `Host`, with any port or the given one, besides loopback's and PUBLIC_URL's.",
    )
    allowed_origins: Names = Field(
        (), description="Accepted values of `Origin`, besides PUBLIC_URL's."
    )
    outbound_proxy: OptionalUrl = Field(
        None,
        description="An HTTP proxy for all outgoing requests, such as `http://proxy.example.org:3128`.",
    )
    trust_env: bool = Field(
        False,
        description="Whether to use HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY of the environment.",
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
            return (*TOOLSETS, *(name for name in APART if name in value))
        if not set(value) <= {*TOOLSETS, *APART}:
            raise ValueError(
                f"unknown toolset; choose from {', '.join((*TOOLSETS, *APART))} or all"
            )
        return value


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
        description="`sqlite:///PATH` (default: state.db in DATA_DIR), `memory://`, `firestore://PROJECT/PREFIX` "
        "(`?database=NAME` for another database than the default one) or "
        "`postgresql://…`.",
    )
    docs_refresh_hours: Duration = Field(
        0.0,
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
    pypi_base_url: Url = Field(
        "https://pypi.org", description="Where `docs add pypi:NAME` asks for a package."
    )
    npm_base_url: Url = Field(
        "https://registry.npmjs.org", description="Where `docs add npm:NAME` asks for a package."
    )
    max_state_mb: int = Field(
        1_024,
        ge=1,
        description="The largest size of the state's file (MB), without its log; the least recently used pages "
        "and answers are deleted first. For `sqlite://`.",
    )
    memory_cache_mb: int = Field(
        64,
        ge=1,
        description="The most memory of all caches in the process together (MB); what was not used for the longest "
        "time goes first. A state in memory (`memory://`) gets half of it.",
    )
    cache_ttl_seconds: Duration = Field(
        300.0,
        description="How long the cache serves results about changing subjects (news, prices ...); 0 turns it off.",
    )
    cache_long_ttl_seconds: Duration = Field(
        3_600.0, description="How long the cache serves all other results."
    )
    stale_if_error_seconds: Duration = Field(
        86_400.0,
        description="How much longer answers, results and pages may be served when every upstream, or the page's site, "
        "fails; never for changing subjects.",
    )
    cache_scope: Annotated[Literal["shared", "user"], AnyCase] = Field(
        "shared", description="Whether users may see each other's cached answers."
    )
    semantic_cache: bool = Field(
        True, description="Whether a question that means the same gets the stored answer."
    )
    similarity_threshold: float = Field(
        0.25,
        ge=0,
        le=1,
        description="The least score of a passage that `read_from_page` shows; 0 shows all.",
    )
    rate_limit: Quota | None = Field(
        None,
        description="Calls of `search_web` per user, as `N/PERIOD`; `none` for no limit. Only a call that leaves the "
        "cache counts. Default: 20/10minutes over HTTP, none elsewhere.",
    )
    search_rate_limit: Quota | None = Field(
        None,
        description="Calls of `web_search` and `search_news`, queries of `web_search_raw` and searches of "
        "`check_claims`, per user. Default: 60/10minutes over HTTP.",
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
        {},
        description="USD per call of a provider, such as `brave:0.005`, instead of the built-in price.",
    )

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
            raise ValueError(
                "must name a folder or bucket, as in lance:///vectors or lance+s3://bucket/prefix"
            )
        return value

    @field_validator("docs_url")
    @classmethod
    def _docs_file(cls, value: str | None) -> str | None:
        if value is not None and not re.match(r"sqlite:///.|postgresql://.", value):
            raise ValueError(
                "must name a file, as in sqlite:///docs.db, or a database, as in postgresql://host/name"
            )
        return value
