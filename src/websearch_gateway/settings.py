"""The only reader of the environment.

Names are those of the environment; a TOML file may hold the same names in lower case. Flags win over the
environment, the environment over the file. The file is `--config FILE`, else `$WEBSEARCH_GATEWAY_CONFIG`,
else `config.toml` in the user's configuration folder (platformdirs).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
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
    ValidationError,
    field_validator,
)
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from websearch_gateway.errors import SearchNotConfiguredError

APP_NAME = "websearch-gateway"
TOOLSETS = ("answer", "search", "read", "docs", "cache", "ops", "admin")
DEFAULT_TOOLSETS = ("answer", "search", "read")
# A password may hold anything when nobody has escaped it, so a login reaches to the last @; a path has none before it.
_LOGIN = re.compile(r"(?<=://)([^/\s]\S*)@")


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _blank_is_unset(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _key_without_edges(value: Any) -> Any:
    """A key that was pasted with a line break after it is the key; one with blanks or odd letters inside is none."""
    if not isinstance(value, str) or not (key := value.strip()):
        return _blank_is_unset(value)
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("holds blanks or characters that no key has")
    return key


def _without_slash(value: Any) -> Any:
    return value.strip().rstrip("/") if isinstance(value, str) else value


def _web_address(value: str) -> str:
    try:
        parts = urlsplit(value)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # Its text quotes what it could not read.
        usable = False
    if not usable or re.search(r"\s", value):
        raise ValueError("must be an address such as https://host/path")
    return value


def _masked(value: Any) -> Any:
    return _LOGIN.sub("***@", value) if isinstance(value, str) else value


def _login_secrets(url: str) -> set[str]:
    """The password of a login, or all of it where a token stands alone; as written, and as it is sent."""
    if not (login := _LOGIN.search(url)):
        return set()
    secret = login[1].partition(":")[2] or login[1]
    return {secret, unquote(secret)} - {""}


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Key = Annotated[SecretStr | None, BeforeValidator(_key_without_edges)]
Url = Annotated[str, BeforeValidator(_without_slash), AfterValidator(_web_address)]
OptionalUrl = Annotated[Url | None, BeforeValidator(_blank_is_unset)]
Quota = Annotated[str, BeforeValidator(lambda v: "" if isinstance(v, str) and v.strip().lower() == "none" else v)]


class RouteSettings(BaseModel):
    """One `[routes.NAME]` table of the settings file: switch a built-in route off, or add one of your own.

    A route with `patterns` (regular expressions, matched without regard to case on the normalised query) is new and
    needs a `message` that names the server to use instead.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    patterns: tuple[str, ...] = ()
    message: str = ""


class Settings(BaseSettings):
    """Every setting, with its default. No repr shows a key, which is a `SecretStr`, or the login of a URL."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True, hide_input_in_errors=True)

    openai_api_key: Key = Field(None, description="Key for the answer engine. Without it raw search answers.")
    openai_base_url: Url = Field("https://api.openai.com/v1", description="Base URL of the Responses API.")
    openai_models: Names = Field(
        ("gpt-5-nano", "gpt-6-luna"), description="Models in order; the next is used when one is gone."
    )

    serper_api_key: Key = Field(None, description="Key for Serper.")
    tavily_api_key: Key = Field(None, description="Key for Tavily.")
    brave_api_key: Key = Field(None, description="Key for Brave Search.")
    google_api_key: Key = Field(None, description="Key for Google Custom Search (needs GOOGLE_SEARCH_ENGINE_ID too).")
    google_search_engine_id: Annotated[str | None, BeforeValidator(_blank_is_unset)] = Field(
        None, description="The `cx` of the Google search engine."
    )
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
    google_safe_search: Literal["off", "moderate", "strict"] = Field(
        "moderate", description="Safe search where a call does not say."
    )

    embedding_server_url: OptionalUrl = Field(
        None,
        description="Where vectors come from: an OpenAI-compatible base URL, or Ollama's. Unset: the built-in model.",
    )
    embedding_server_api_key: Key = Field(None, description="Key for EMBEDDING_SERVER_URL, if it wants one.")
    embedding_model_name: Annotated[str | None, BeforeValidator(_blank_is_unset)] = Field(
        None, description="Default: `text-embedding-3-small`; with Ollama `nomic-embed-text`."
    )

    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir(APP_NAME, appauthor=False)),
        description="Where local files live.",
    )
    state_url: Annotated[str | None, BeforeValidator(_blank_is_unset)] = Field(
        None, description="`sqlite:///PATH` (default: state.db in DATA_DIR) or `memory://`."
    )
    cache_ttl_seconds: float = Field(
        300.0, ge=0, allow_inf_nan=False, description="How long an answer may be served from the cache; 0 turns it off."
    )
    cache_scope: Literal["shared", "user"] = Field(
        "shared", description="Whether users may see each other's cached answers."
    )
    rate_limit: Quota = Field("20/10minutes", description="Searches per user, as `N/PERIOD`; `none` for no limit.")
    global_rate_limit: Quota = Field("", description="Searches of all users together, likewise; default: no limit.")
    search_deadline_seconds: float = Field(15.0, gt=0, allow_inf_nan=False, description="One search, all told.")
    fallback_hedge_seconds: float = Field(
        9.0, ge=0, allow_inf_nan=False, description="When raw search starts beside a slow answer engine."
    )
    request_timeout_ms: int = Field(
        20000, gt=0, description="One request to an upstream, at most (milliseconds); a page gets 5 s of it."
    )
    concurrency: int = Field(8, ge=1, le=64, description="Pages fetched at once per call.")
    fetch_allow_private_hosts: Names = Field(
        (), description="`host:port` pairs that page reading may reach although private."
    )
    strict_routing: bool = Field(
        False, description="Refuse by plain keywords too (market, event, bet, feed ...). Refuses innocent questions."
    )
    routes: dict[str, RouteSettings] = Field(
        default_factory=dict, description="Routing table; only in the settings file."
    )

    toolsets: Names = Field(DEFAULT_TOOLSETS, description="Which tools are listed; `all` for every one.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="Verbosity of the JSON log on stderr."
    )

    @field_validator("log_level", "cache_scope", "google_safe_search", mode="before")
    @classmethod
    def _any_case(cls, value: Any, info: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value.upper() if info.field_name == "log_level" else value.lower()

    @field_validator("toolsets")
    @classmethod
    def _known_toolsets(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        value = tuple(name.lower() for name in value)
        if "all" in value:
            return TOOLSETS
        if not set(value) <= set(TOOLSETS):
            raise ValueError(f"unknown toolset; choose from {', '.join(TOOLSETS)} or all")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then the environment, then the file. No `.env` is read: a working folder must not change a server."""
        return (init_settings, env_settings)

    @property
    def effective_state_url(self) -> str:
        """`STATE_URL`, or the SQLite file in `DATA_DIR`."""
        return self.state_url or f"sqlite:///{self.data_dir / 'state.db'}"

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """For repr and str: every setting, without the logins of its URLs."""
        for name, value in super().__repr_args__():
            yield name, _masked(value)

    def shown(self) -> dict[str, Any]:
        """Every setting by its environment name, fit to be seen: keys only as set or not set, URLs without logins."""
        dumped = self.model_dump(mode="json")
        return {
            name.upper(): "(set)" if isinstance(getattr(self, name), SecretStr) else _masked(value)
            for name, value in dumped.items()
        }

    def secrets(self) -> tuple[str, ...]:
        """Every secret value that is set: for redaction, never for display."""
        found: set[str] = set()
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, SecretStr):
                found |= {value.get_secret_value()} - {""}
            elif isinstance(value, str):
                found |= _login_secrets(value)
        return tuple(sorted(found))


def config_path(explicit: Path | None = None) -> Path:
    """The settings file in use, whether or not it exists."""
    if explicit is not None:
        return explicit
    if named := os.environ.get("WEBSEARCH_GATEWAY_CONFIG"):
        return Path(named)
    return Path(platformdirs.user_config_dir(APP_NAME, appauthor=False)) / "config.toml"


def _read_file(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if required:
            raise SearchNotConfiguredError(f"The settings file {path} does not exist.") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SearchNotConfiguredError(f"The settings file {path} cannot be read: {error}.") from None
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise SearchNotConfiguredError(f"The settings file {path} has unknown names: {', '.join(unknown)}.")
    return values


def load_settings(config: Path | None = None, /, **flags: Any) -> Settings:
    """Read flags, environment and file, in that order of precedence.

    Raises:
        SearchNotConfiguredError: a value is unusable; the message names the setting and never its value.
    """
    named = config is not None or bool(os.environ.get("WEBSEARCH_GATEWAY_CONFIG"))
    file_values = _read_file(config_path(config), required=named)

    class WithFile(Settings):
        @classmethod
        def settings_customise_sources(cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any) -> Any:
            flags_and_environment = super().settings_customise_sources(settings_cls, *sources, **named)
            return (*flags_and_environment, InitSettingsSource(settings_cls, init_kwargs=file_values))

    try:
        return WithFile(**flags)
    except SettingsError:
        # Only a table is decoded by the library, whose error carries the text along.
        raise SearchNotConfiguredError("Unusable settings: ROUTES: must be JSON, or stand in the file.") from None
    except ValidationError as error:
        # The library's own text quotes the input, which may be a key.
        faults = "; ".join(
            f"{str(e['loc'][0]).upper() if e['loc'] else 'settings'}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        )
        raise SearchNotConfiguredError(f"Unusable settings: {faults}.") from None
