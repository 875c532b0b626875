"""The doctor's check of HTTP authentication."""

from __future__ import annotations

from websearch_gateway.entrypoints.http.auth.modes import token_verifier
from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.results.ops import Check
from websearch_gateway.settings import Settings


async def check_auth(settings: Settings) -> Check:
    """Whether AUTH_MODE can work: its settings fit together, and the issuer's keys can be fetched."""
    try:
        verifier = token_verifier(settings)
    except SearchNotConfiguredError as error:
        remedy = "Set what it names; `serve --http` does not start without."
        return Check(name="auth", status="fail", finding=f"{error.code}: {error.message}", remedy=remedy)
    if verifier is None:
        finding = "AUTH_MODE=none: HTTP is served on loopback only, and everybody there may call"
        return Check(name="auth", status="off", finding=finding, remedy="Set AUTH_MODE before other machines call.")
    try:
        await verifier.check()
    except SearchError as error:
        remedy = "See that AUTH_JWKS_URL can be reached from here; no token is accepted until then."
        return Check(name="auth", status="fail", finding=f"{error.code}: {error.message}", remedy=remedy)
    finally:
        await verifier.aclose()
    return Check(name="auth", finding=f"AUTH_MODE={settings.auth_mode}: tokens of {verifier.issuer} are verified")
