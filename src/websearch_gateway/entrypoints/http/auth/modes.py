"""Builds a verifier from settings. Refuses to start if the settings are not certainly safe."""

from __future__ import annotations

import time
from collections.abc import Collection
from urllib.parse import urlsplit

import jwt

from websearch_gateway.entrypoints.http.auth.keys import KeySet, SharedSecret
from websearch_gateway.entrypoints.http.auth.scopes import SCOPES
from websearch_gateway.entrypoints.http.auth.shape import is_user_name
from websearch_gateway.entrypoints.http.auth.static_tokens import static_verifier
from websearch_gateway.entrypoints.http.auth.tokens import TokenVerifier
from websearch_gateway.entrypoints.http.auth.verifier import Verifier
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.net.client import create_client
from websearch_gateway.settings import APP_NAME, Settings

MIN_SECRET_BYTES = 32
"""RFC 7518 section 3.2: a key of HS256 is at least as long as its hash."""
PUBLIC_KEY_ALGORITHMS = ("RS256", "ES256", "EdDSA")
FIREBASE_ISSUER = "https://securetoken.google.com/"
FIREBASE_KEYS = "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
"""https://firebase.google.com/docs/auth/admin/verify-id-tokens: the same keys as its certificates."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def token_verifier(settings: Settings) -> Verifier | None:
    """The verifier for AUTH_MODE; None for `none`. Opens nothing yet.

    Raises:
        SearchNotConfiguredError: a setting is missing, weak, or contradicts another.
    """
    if settings.auth_mode == "none":
        return None
    if settings.auth_mode == "token":
        return static_verifier(settings.auth_tokens.get_secret_value() if settings.auth_tokens else "")
    return {"secret": _secret, "jwks": _jwks, "firebase": _firebase}[settings.auth_mode](settings)


def mint(settings: Settings, user: str, scopes: Collection[str], ttl_seconds: int) -> str:
    """A token for development, as mode `secret` accepts it.

    Raises:
        SearchNotConfiguredError: in any other mode only the issuer can sign, or AUTH_SECRET is unusable.
        SearchValidationError: the scope does not exist, or tokens may not name that user.
    """
    if unknown := sorted(set(scopes) - set(SCOPES)):
        raise SearchValidationError(f"There is no scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}.")
    if not is_user_name(user):
        raise SearchValidationError("A token cannot name that user.")
    if settings.auth_mode != "secret" or settings.auth_secret is None:
        raise SearchNotConfiguredError("Only AUTH_MODE=secret with its AUTH_SECRET can mint tokens.")
    verifier = _secret(settings)
    now = int(time.time())
    claims = {
        "iss": verifier.issuer,
        "aud": verifier.audience,
        "sub": user,
        "scope": " ".join(scopes),
        "iat": now,
        "exp": now + ttl_seconds,
    }
    return jwt.encode(claims, settings.auth_secret.get_secret_value(), algorithm=verifier.algorithm)


def _secret(settings: Settings) -> TokenVerifier:
    secret = settings.auth_secret.get_secret_value() if settings.auth_secret else ""
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise SearchNotConfiguredError(
            f"AUTH_SECRET must have at least {MIN_SECRET_BYTES} bytes. Make one: openssl rand -base64 32"
        )
    _check_algorithm(settings, ("HS256",))
    return TokenVerifier(
        "HS256", settings.auth_issuer or APP_NAME, _audience(settings) or APP_NAME, SharedSecret(secret)
    )


def _jwks(settings: Settings) -> TokenVerifier:
    issuer, audience, url = settings.auth_issuer, _audience(settings), settings.auth_jwks_url
    if not issuer or not audience or not url:
        raise SearchNotConfiguredError(
            "AUTH_MODE=jwks needs AUTH_JWKS_URL, AUTH_ISSUER, and AUTH_AUDIENCE or PUBLIC_URL."
        )
    _check_algorithm(settings, PUBLIC_KEY_ALGORITHMS)
    algorithm = settings.auth_algorithm or "RS256"
    return TokenVerifier(algorithm, issuer, audience, _key_set(settings, _safe_url(url), algorithm))


def _firebase(settings: Settings) -> TokenVerifier:
    project = settings.firebase_project_id
    if not project:
        raise SearchNotConfiguredError("AUTH_MODE=firebase needs FIREBASE_PROJECT_ID.")
    _check_algorithm(settings, ("RS256",))
    url = _safe_url(settings.auth_jwks_url or FIREBASE_KEYS)
    return TokenVerifier("RS256", FIREBASE_ISSUER + project, project, _key_set(settings, url, "RS256"))


def _key_set(settings: Settings, url: str, algorithm: str) -> KeySet:
    from websearch_gateway.app.outbound import outbound

    return KeySet(url, algorithm, create_client(outbound=outbound(settings)))


def _audience(settings: Settings) -> str | None:
    return settings.auth_audience or (f"{settings.public_url}/mcp" if settings.public_url else None)


def _check_algorithm(settings: Settings, allowed: Collection[str]) -> None:
    if settings.auth_algorithm is not None and settings.auth_algorithm not in allowed:
        raise SearchNotConfiguredError(
            f"AUTH_MODE={settings.auth_mode} does not go with AUTH_ALGORITHM={settings.auth_algorithm}; "
            f"choose from {', '.join(allowed)}."
        )


def _safe_url(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise SearchNotConfiguredError("AUTH_JWKS_URL must be https: who changes the keys can pose as any user.")
    return url
