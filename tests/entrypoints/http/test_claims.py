"""What a token allows: the scopes that it names and we know."""

from __future__ import annotations

from typing import Any

import pytest

from websearch_gateway.entrypoints.http.authentication import InvalidToken, granted


@pytest.mark.parametrize(
    ("claims", "scopes"),
    [
        ({"scope": "search read"}, {"search", "read"}),
        ({"scope": "search openid profile"}, {"search"}),
        ({"scp": "read"}, {"read"}),
        ({"scp": ["read", "ops"]}, {"read", "ops"}),
        ({"scope": "", "scp": ["admin"]}, set()),
        ({}, set()),
    ],
)
def test_the_known_scopes_of_a_token_are_granted(claims: dict[str, Any], scopes: set[str]) -> None:
    assert granted(claims) == scopes


@pytest.mark.parametrize("claims", [{"scope": ["admin"]}, {"scope": 7}, {"scp": [1]}, {"scp": None}, {"scope": None}])
def test_a_malformed_claim_grants_nothing(claims: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken, match="malformed"):
        granted(claims)
