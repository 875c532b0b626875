"""Who gets the status page, and with what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from websearch_gateway.admin.operations import DAYS
from websearch_gateway.entrypoints.http.authentication import caller_of, require_scope
from websearch_gateway.entrypoints.http.replies import failure, page_reply, policy
from websearch_gateway.entrypoints.http.sign_in import SIGN_OUT, cookie_token
from websearch_gateway.entrypoints.http.status_page import RELOAD, rendered
from websearch_gateway.entrypoints.lifecycle import LazyGateway
from websearch_gateway.errors import SearchError
from websearch_gateway.results import TokenUses
from websearch_gateway.settings.loading import Settings


def status_endpoint(
    gateway: LazyGateway, settings: Settings
) -> Callable[[Request], Awaitable[Response]]:
    """The current page; needs the scope `ops`. With `admin` it lists the tokens that were created."""
    links = [(f"{settings.base_path}/play", "Ask by hand")] if settings.playground == "on" else []
    links.append((f"{settings.base_path}/openapi.json", "HTTP API"))

    async def status(request: Request) -> Response:
        require_scope(request, "ops")
        try:
            operations = (await gateway.get()).operations
            snapshot = await operations.snapshot(DAYS)
        except SearchError as error:
            return failure(error)
        tokens: TokenUses | None = None
        if settings.auth_mode == "token" and "admin" in caller_of(request).scopes:
            tokens = await operations.best_effort(
                operations.token_uses, None, seconds=TOKENS_SECONDS
            )
        sign_out = f"{settings.base_path}{SIGN_OUT}" if cookie_token(request.scope) else ""
        live = "live" in request.query_params
        reload = (f"{settings.base_path}/?live", RELOAD)
        if live:
            reload = (f"{settings.base_path}/", "Stop reloading")
        page = rendered(
            snapshot,
            datetime.now(UTC),
            tokens=tokens,
            links=[*links, reload],
            sign_out=sign_out,
            live=live,
        )
        headers = {}
        if sign_out:
            headers["Content-Security-Policy"] = policy(form=True)
            headers["Referrer-Policy"] = "same-origin"
        return page_reply(page, headers=headers)

    return status


TOKENS_SECONDS = 2.0
"""The longest wait for what tokens have used; without it the page has no list of them (seconds)."""
