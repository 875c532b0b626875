"""Scopes: what a token allows its bearer to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from websearch_gateway.doors.auth.shape import InvalidToken
from websearch_gateway.models import Caller

SCOPES = ("search", "read", "docs", "cache", "ops", "admin")


def scope_for(toolset: str) -> str:
    """The scope that a tool of `toolset` needs: the toolset's own name, and `search` for `answer` too."""
    return "search" if toolset == "answer" else toolset


def may_use(caller: Caller, toolset: str) -> bool:
    """Whether `caller` may use the tools of `toolset`."""
    return scope_for(toolset) in caller.scopes


def granted(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token that mean something here: those of `scope` (RFC 8693 section 4.2), else of `scp`.

    Raises:
        InvalidToken: the claim is neither words in a string nor, for `scp`, a list of strings.
    """
    claim = claims["scope"] if "scope" in claims else claims.get("scp", "")
    if isinstance(claim, list) and "scope" not in claims and all(isinstance(name, str) for name in claim):
        names = claim
    elif isinstance(claim, str):
        names = claim.split(" ")
    else:
        raise InvalidToken("Its scopes are malformed.")
    return frozenset(names) & frozenset(SCOPES)
