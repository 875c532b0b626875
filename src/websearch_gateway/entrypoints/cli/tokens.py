"""`websearch-gateway token`: create, list, rotate and revoke the tokens of a team, and mint those for development."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from websearch_gateway.entrypoints.cli import exit_on_error, settings_of
from websearch_gateway.entrypoints.cli.asking import ConfigOption, JsonOption, ask
from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.models import CallerLimits
from websearch_gateway.results import NewToken, RevokedTokens
from websearch_gateway.settings.groups import parsed_quota, parsed_usd
from websearch_gateway.settings.loading import Settings

if TYPE_CHECKING:
    from websearch_gateway.app.gateway import Gateway
    from websearch_gateway.upstream.api_tokens import ApiToken


token = typer.Typer(
    help="Tokens of the people and programs that call this gateway over HTTP.", no_args_is_help=True
)

NameArgument = Annotated[
    str, typer.Argument(help="The user whom it names: for limits, budgets and the ledger.")
]
ScopeOption = Annotated[str, typer.Option(help="The scopes, separated by blanks.")]

_DAY_SECONDS = 86_400
_DURATION = re.compile(r"(\d{1,6})\s*([mhdw])")
_UNITS = {"m": 60, "h": 3_600, "d": _DAY_SECONDS, "w": 7 * _DAY_SECONDS}


def _seconds(text: str) -> int:
    if not (match := _DURATION.fullmatch(text.strip().lower())):
        raise typer.BadParameter("must be a number with m, h, d or w, such as 90d")
    return int(match[1]) * _UNITS[match[2]]


def _rate_limit(text: str) -> str:
    try:
        return parsed_quota(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _usd(text: str) -> float:
    try:
        return parsed_usd(text)
    except ValueError:
        raise typer.BadParameter("must be an amount in USD, such as 2.50") from None


@token.command("create")
def create(
    name: NameArgument,
    scope: ScopeOption = "search read",
    rate_limit: Annotated[
        str | None,
        typer.Option(
            metavar="N/PERIOD",
            parser=_rate_limit,
            help="Calls of all kinds that leave the cache, such as 100/10minutes, or none. Default: the settings'.",
        ),
    ] = None,
    daily_budget: Annotated[
        float | None,
        typer.Option(
            metavar="USD",
            parser=_usd,
            help="The most to spend a day. Default: USER_DAILY_BUDGET_USD.",
        ),
    ] = None,
    expires: Annotated[
        int | None,
        typer.Option(
            metavar="DURATION", parser=_seconds, help="Such as 90d or 12h. Default: never."
        ),
    ] = None,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Make a token for AUTH_MODE=token. It is shown once; the state keeps only its hash.

    Every server that shares the state accepts it within five seconds.
    """
    limits = CallerLimits(rate_limit, daily_budget)
    settings = _lasting(config, as_json=as_json)

    async def make(gateway: Gateway) -> NewToken:
        return _shown(*await gateway.api_tokens.create(name, scope.split(), limits, expires))

    ask(
        lambda gateway, _: make(gateway), lambda made: _show_secret(made, settings), as_json, config
    )


@token.command("list")
def list_all(as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Show all tokens: what each has spent and called today, when it was last used, and when it expires."""
    from websearch_gateway.entrypoints.cli.figures import show_tokens

    ask(lambda gateway, _: gateway.operations.token_uses(), show_tokens, as_json, config)


@token.command("rotate")
def rotate(
    name: NameArgument,
    overlap: Annotated[
        int,
        typer.Option(
            metavar="DURATION", parser=_seconds, help="How long the old one stays valid as well."
        ),
    ] = "24h",  # type: ignore[assignment]  # typer parses it
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Make a new token of that name with the same limits. The old one stays valid for a while (a day)."""
    settings = _lasting(config, as_json=as_json)

    async def make(gateway: Gateway) -> NewToken:
        return _shown(*await gateway.api_tokens.rotate(name, overlap))

    ask(
        lambda gateway, _: make(gateway), lambda made: _show_secret(made, settings), as_json, config
    )


@token.command("revoke")
def revoke(name: NameArgument, as_json: JsonOption = False, config: ConfigOption = None) -> None:
    """Delete the tokens of that name. Every server refuses them within five seconds."""
    _lasting(config, as_json=as_json)

    async def delete(gateway: Gateway) -> RevokedTokens:
        return RevokedTokens(name=name, revoked=await gateway.api_tokens.revoke(name))

    def show(result: RevokedTokens) -> None:
        typer.echo(f"Revoked {name} ({result.revoked} token{'' if result.revoked == 1 else 's'}).")

    ask(lambda gateway, _: delete(gateway), show, as_json, config)


@token.command("mint")
def mint_one(
    user: Annotated[
        str, typer.Option(help="The user name for limits, budgets and the ledger.")
    ] = "developer",
    scope: ScopeOption = "search read",
    ttl: Annotated[int, typer.Option(help="Seconds until it expires.", min=1)] = 3600,
    static: Annotated[
        bool, typer.Option("--static", help="A key and its entry for AUTH_TOKENS.")
    ] = False,
    as_json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Mint a token for development (AUTH_MODE=secret), or a key for AUTH_TOKENS (--static). The state keeps neither."""
    if static:
        from websearch_gateway.entrypoints.http.authentication import mint_static

        key, entry = exit_on_error(lambda: mint_static(user, scope.split()), as_json=as_json)
        told = f"Key, shown this once:  {key}\nEntry for AUTH_TOKENS: {entry}"
        typer.echo(json.dumps({"token": key, "authTokensEntry": entry}) if as_json else told)
        return
    from websearch_gateway.entrypoints.http.tokens import mint

    settings = settings_of(config, as_json=as_json)
    minted = exit_on_error(lambda: mint(settings, user, scope.split(), ttl), as_json=as_json)
    typer.echo(json.dumps({"token": minted, "expiresInSeconds": ttl}) if as_json else minted)


def _lasting(config: Path | None, *, as_json: bool) -> Settings:
    """The settings, if what this command writes outlives it."""

    def checked() -> Settings:
        if settings.effective_state_url.startswith("memory:"):
            raise SearchNotConfiguredError(
                "STATE_URL=memory:// ends with this command: name a state that servers share."
            )
        return settings

    settings = settings_of(config, as_json=as_json)
    return exit_on_error(checked, as_json=as_json)


def _shown(secret: str, made: ApiToken) -> NewToken:
    from websearch_gateway.admin.operations import moment

    expires = None if made.expires is None else moment(made.expires)
    return NewToken(
        token=secret, name=made.name, scopes=tuple(sorted(made.scopes)), expires_at=expires
    )


def _show_secret(made: NewToken, settings: Settings) -> None:
    typer.echo(made.token)
    note = "This is shown once. Keep it as you keep a password."
    if settings.auth_mode != "token":
        note += f" Servers accept it with AUTH_MODE=token; here it is {settings.auth_mode}."
    typer.echo(note, err=True)
