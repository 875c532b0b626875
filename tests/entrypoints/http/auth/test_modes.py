"""Settings that cannot be safe do not start a server."""

from __future__ import annotations

from typing import Any

import pytest

from websearch_gateway.entrypoints.http.auth.modes import mint, token_verifier
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Caller
from websearch_gateway.settings import Settings

SECRET = "s" * 32
JWKS = {
    "auth_mode": "jwks",
    "auth_jwks_url": "https://issuer.example/keys",
    "auth_issuer": "https://issuer.example",
    "auth_audience": "gateway",
}


def test_without_authentication_there_is_no_verifier() -> None:
    assert token_verifier(Settings()) is None


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"auth_mode": "secret"}, "AUTH_SECRET"),
        ({"auth_mode": "secret", "auth_secret": "s" * 31}, "32 bytes"),
        ({"auth_mode": "secret", "auth_secret": SECRET, "auth_algorithm": "RS256"}, "AUTH_ALGORITHM"),
        ({**JWKS, "auth_jwks_url": None}, "AUTH_JWKS_URL"),
        ({**JWKS, "auth_issuer": None}, "AUTH_ISSUER"),
        ({**JWKS, "auth_audience": None}, "AUTH_AUDIENCE"),
        ({**JWKS, "auth_algorithm": "HS256"}, "AUTH_ALGORITHM"),
        ({**JWKS, "auth_jwks_url": "http://issuer.example/keys"}, "https"),
        ({"auth_mode": "firebase"}, "FIREBASE_PROJECT_ID"),
        ({"auth_mode": "firebase", "firebase_project_id": "p", "auth_algorithm": "ES256"}, "AUTH_ALGORITHM"),
    ],
)
def test_what_is_missing_weak_or_contradictory_refuses_to_start(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(SearchNotConfiguredError, match=told) as caught:
        token_verifier(Settings(**settings))
    assert "sssss" not in str(caught.value)


async def test_a_key_set_on_this_machine_needs_no_tls() -> None:
    verifier = token_verifier(Settings(**{**JWKS, "auth_jwks_url": "http://127.0.0.1:9/keys"}))
    assert verifier is not None
    await verifier.keys.aclose()


@pytest.mark.parametrize(
    ("settings", "issuer", "audience"),
    [
        ({}, "websearch-gateway", "websearch-gateway"),
        ({"public_url": "https://gw.example"}, "websearch-gateway", "https://gw.example/mcp"),
        ({"auth_issuer": "me", "auth_audience": "you", "public_url": "https://gw.example"}, "me", "you"),
    ],
)
def test_mode_secret_has_an_issuer_and_an_audience_even_when_none_is_set(
    settings: dict[str, Any], issuer: str, audience: str
) -> None:
    verifier = token_verifier(Settings(auth_mode="secret", auth_secret=SECRET, **settings))
    assert verifier is not None
    assert (verifier.issuer, verifier.audience, verifier.algorithm) == (issuer, audience, "HS256")


async def test_the_project_gives_issuer_and_audience_of_firebase_tokens() -> None:
    """https://firebase.google.com/docs/auth/admin/verify-id-tokens"""
    verifier = token_verifier(
        Settings(auth_mode="firebase", firebase_project_id="demo-x", public_url="https://gw.example")
    )
    assert verifier is not None
    assert verifier.issuer == "https://securetoken.google.com/demo-x"
    assert (verifier.audience, verifier.algorithm) == ("demo-x", "RS256")
    await verifier.keys.aclose()


async def test_a_minted_token_is_accepted() -> None:
    settings = Settings(auth_mode="secret", auth_secret=SECRET)
    verifier = token_verifier(settings)
    assert verifier is not None
    assert await verifier.verify(mint(settings, "alice", ["search"], 60)) == Caller("alice", frozenset({"search"}))


@pytest.mark.parametrize(("user", "scopes"), [("alice", ["everything"]), ("local", ["search"]), ("", []), ("a\nb", [])])
def test_a_token_that_would_be_refused_is_not_minted(user: str, scopes: list[str]) -> None:
    with pytest.raises(SearchValidationError):
        mint(Settings(auth_mode="secret", auth_secret=SECRET), user, scopes, 60)


def test_only_the_holder_of_the_secret_can_mint() -> None:
    with pytest.raises(SearchNotConfiguredError, match="AUTH_MODE=secret"):
        mint(Settings(**JWKS), "alice", ["search"], 60)
