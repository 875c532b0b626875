"""The types of settings: how the text of an environment variable becomes a value, and which texts are rejected."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

APP_NAME = "websearch-gateway"

# An unescaped password may contain anything, so a login reaches to the last @; a path has none before it.
_LOGIN = re.compile(r"(?<=://)([^/\s]\S*)@")


def _split(value: Any) -> Any:
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def _blank_is_unset(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _key_without_edges(value: Any) -> Any:
    """Strip a line break pasted after the key; reject a key with blanks or non-ASCII characters inside."""
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
    if not all(name.strip() and math.isfinite(amount) and amount >= 0 for name, amount in value.items()):
        raise ValueError("must be pairs such as brave:3,duckduckgo:1, with numbers from 0 on")
    return {name.strip().lower(): amount for name, amount in value.items()}


def _quota(value: str) -> str:
    """Validate at start-up, so that the operator sees a typo then and not on the first call."""
    limit = value.strip().lower()
    if value == "" or limit == "none":
        return ""
    if not re.fullmatch(r"\d+\s*(/|per)\s*(\d+\s*)?(second|minute|hour|day|month|year)s?", limit, re.ASCII):
        raise ValueError("must be of the form N/PERIOD, such as 20/10minutes, or none")
    return limit


def masked(value: Any) -> Any:
    """`value`, without the login if it is a URL."""
    return _LOGIN.sub("***@", value) if isinstance(value, str) else value


def login_secrets(url: str) -> set[str]:
    """The password of a login, or the whole login if it is only a token; as written and as sent."""
    if not (login := _LOGIN.search(url)):
        return set()
    secret = login[1].partition(":")[2] or login[1]
    return {secret, unquote(secret)} - {""}


def _none_is_no_limit(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


Text = Annotated[str | None, BeforeValidator(_blank_is_unset)]
Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
Amounts = Annotated[dict[str, float], NoDecode, BeforeValidator(_pairs), AfterValidator(_amounts)]
Key = Annotated[SecretStr | None, BeforeValidator(_key_without_edges)]
Hidden = Annotated[SecretStr | None, BeforeValidator(_blank_is_unset)]
"""Secret text without the format checks of a key."""
Url = Annotated[str, BeforeValidator(_without_slash), AfterValidator(_web_address)]
OptionalUrl = Annotated[Url | None, BeforeValidator(_blank_is_unset)]
Quota = Annotated[str, AfterValidator(_quota)]
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
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
    if value.lstrip().startswith("{"):
        return _table(value)
    pairs = [] if value.strip().lower() == "none" else [part.partition(":") for part in _split(value)]
    servers = {name.strip().lower(): server.strip() for name, _, server in pairs}
    if set(servers) - set(BUILT_IN_ROUTES):
        raise ValueError(
            f"names an unknown route; choose from {', '.join(BUILT_IN_ROUTES)}, or add a table [routes.NAME] to the "
            "settings file"
        )
    return {name: RouteSettings(enabled=name in servers, server=servers.get(name, "")) for name in BUILT_IN_ROUTES}


def _table(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None


Routes = Annotated[dict[str, RouteSettings], NoDecode, BeforeValidator(_routes)]


def any_case(*names: str) -> Any:
    """Accept choices in any letter case."""

    def fold(value: Any) -> Any:
        return value.strip().lower() if isinstance(value, str) else value

    return field_validator(*names, mode="before")(fold)
