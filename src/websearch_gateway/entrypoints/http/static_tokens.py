"""API keys that the operator creates (AUTH_MODE=token): the server knows only their SHA-256 digests.

A key holds 256 random bits, so a plain digest of it cannot be reversed or guessed; a slow password hash adds nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass

from websearch_gateway.entrypoints.claims import SCOPES, InvalidToken, is_user_name
from websearch_gateway.errors import SearchNotConfiguredError, SearchValidationError
from websearch_gateway.models import Caller

PREFIX = "wsg_"
"""The prefix of our keys, so that secret scanners and people recognise them."""
MAX_KEY_CHARS = 512
DEFAULT_SCOPES = ("search", "read")

_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StaticToken:
    """The digest of one key, and the caller who bears it."""

    digest: str
    caller: Caller


@dataclass(frozen=True, slots=True)
class StaticVerifier:
    """Accepts the keys whose digests it holds."""

    tokens: tuple[StaticToken, ...]
    issuer: str = "AUTH_TOKENS"

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`. Takes the same time for any matching entry, and for none.

        Raises:
            InvalidToken: no entry has its digest.
        """
        given = digest(token) if 0 < len(token) <= MAX_KEY_CHARS else ""
        found: Caller | None = None
        for known in self.tokens:
            if hmac.compare_digest(known.digest, given):
                found = known.caller
        if found is None:
            raise InvalidToken("It is not one of this server's keys.")
        return found

    async def check(self) -> None:
        """Nothing to fetch."""

    async def aclose(self) -> None:
        """Nothing to release."""


def digest(token: str) -> str:
    """SHA-256 of a key, in hexadecimal."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def static_verifier(text: str) -> StaticVerifier:
    """The verifier for the value of AUTH_TOKENS: entries `name:digest:scope+scope`, separated by commas.

    Raises:
        SearchNotConfiguredError: an entry is malformed, names an unknown scope, or repeats a name or a digest. The
            message counts entries from 1 and quotes none of them.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries:
        raise SearchNotConfiguredError(
            "AUTH_MODE=token needs AUTH_TOKENS. Make an entry: websearch-gateway token --static"
        )
    tokens = tuple(_parsed(number, entry) for number, entry in enumerate(entries, start=1))
    for values in ([one.digest for one in tokens], [one.caller.user for one in tokens]):
        if len(set(values)) < len(values):
            raise SearchNotConfiguredError("AUTH_TOKENS has a name or a digest twice.")
    return StaticVerifier(tokens)


def mint_static(user: str, scopes: Collection[str]) -> tuple[str, str]:
    """A new key and its entry for AUTH_TOKENS. The key itself is stored nowhere.

    Raises:
        SearchValidationError: unknown scope, or a name that an entry cannot hold.
    """
    if unknown := sorted(set(scopes) - set(SCOPES)):
        raise SearchValidationError(f"There is no scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}.")
    if not _usable(user):
        raise SearchValidationError("A name has 1 to 64 letters, digits or any of `._@-`, and is not `local`.")
    token = PREFIX + secrets.token_urlsafe(32)
    return token, f"{user}:{digest(token)}:{'+'.join(scopes)}"


def _parsed(number: int, entry: str) -> StaticToken:
    name, *rest = (part.strip() for part in entry.split(":"))
    scopes = frozenset(rest[1].split("+")) if len(rest) > 1 else frozenset(DEFAULT_SCOPES)
    if not (_usable(name) and 1 <= len(rest) <= 2 and _DIGEST.fullmatch(rest[0].lower())):
        raise SearchNotConfiguredError(f"Entry {number} of AUTH_TOKENS is not NAME:SHA256-HEX:SCOPE+SCOPE.")
    if not scopes <= set(SCOPES):
        known = ", ".join(SCOPES)
        raise SearchNotConfiguredError(f"Entry {number} of AUTH_TOKENS has an unknown scope; choose from {known}.")
    return StaticToken(rest[0].lower(), Caller(name, scopes))


def _usable(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and is_user_name(name)
