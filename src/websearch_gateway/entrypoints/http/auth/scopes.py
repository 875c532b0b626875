"""Scopes: what a token allows its bearer to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from websearch_gateway.entrypoints.http.auth.shape import InvalidToken
from websearch_gateway.models import Caller

SCOPES = ("search", "read", "docs", "cache", "ops", "admin")


def may_use(caller: Caller, scope: str) -> bool:
    """Whether `caller` has `scope`."""
    return scope in caller.scopes


def granted(claims: Mapping[str, Any]) -> frozenset[str]:
    """The known scopes of a token: those of `scope` (RFC 8693 section 4.2), else of `scp`.

    Raises:
        InvalidToken: the claim is neither a string of words nor, for `scp`, a list of strings.
    """
    claim = claims["scope"] if "scope" in claims else claims.get("scp", "")
    if isinstance(claim, list) and "scope" not in claims and all(isinstance(name, str) for name in claim):
        names = claim
    elif isinstance(claim, str):
        names = claim.split(" ")
    else:
        raise InvalidToken("Its scopes are malformed.")
    return frozenset(names) & frozenset(SCOPES)
