"""The keys that tokens are signed with: one shared secret, or the public keys that an issuer publishes."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import jwt

from websearch_gateway.errors import SearchError, SearchProviderError, SearchProviderParseError
from websearch_gateway.models import Deadline, HttpRequest
from websearch_gateway.net.client import create_client, send

if TYPE_CHECKING:
    import httpx2

FRESH_SECONDS = 3_600
"""How long fetched keys are used before a refresh in the background (seconds)."""
STALE_SECONDS = 86_400
"""How long they are used if that fails (seconds). A revoked key must not work for ever."""
SEARCH_PAUSE_SECONDS = 300
"""An unknown key id triggers a fetch, at most once per this many seconds: anybody can invent ids."""
RETRY_PAUSE_SECONDS = 10
FETCH_SECONDS = 5.0
MAX_KEY_SET_BYTES = 262_144
MIN_RSA_BITS = 2_048

_KINDS: Mapping[str, tuple[str, str | None]] = {
    "RS256": ("RSA", None),
    "ES256": ("EC", "P-256"),
    "EdDSA": ("OKP", "Ed25519"),
}
"""For each algorithm, the type and the curve of its keys."""

_log = logging.getLogger(__name__)


class KeySource(Protocol):
    """A source of keys for a verifier."""

    async def key(self, key_id: str | None) -> Any | None:
        """The key with that id, ready for PyJWT; None if there is none.

        Raises:
            SearchProviderError: the keys are unavailable at the moment.
        """
        ...

    async def aclose(self) -> None:
        """Release its resources."""
        ...


class SharedSecret:
    """One secret that issuer and server share. It has no id: a token with a key id was signed for another server."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    async def key(self, key_id: str | None) -> bytes | None:
        """The secret."""
        return self._secret if key_id is None else None

    async def aclose(self) -> None:
        """Nothing to release."""


class KeySet:
    """The public keys at a URL that the operator has set (RFC 7517), cached and refreshed.

    Args:
        clock: monotonic seconds.
    """

    def __init__(
        self,
        url: str,
        algorithm: str,
        client: httpx2.AsyncClient | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request = HttpRequest("GET", url, headers={"Accept": "application/json"})
        self._algorithm = algorithm
        self._client = client or create_client()
        self._clock = clock
        self._keys: dict[str | None, Any] = {}
        self._fetched_at = self._searched_at = self._failed_at = float("-inf")
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, key_id: str | None) -> Any | None:
        """The key with that id; the only key for a token without an id. Waits only for keys that it needs."""
        if self._fetching is None and self._should_fetch(key_id):
            self._fetching = asyncio.create_task(self._fetch())
        if self._fetching is not None and not (self._is_known(key_id) and self._are_alive()):
            await asyncio.shield(self._fetching)  # other requests wait for it too
        if not self._are_alive():
            raise SearchProviderError(
                "The keys that tokens are signed with cannot be fetched.", retry_after=RETRY_PAUSE_SECONDS
            )
        if key_id is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(key_id)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._fetching is not None:
            self._fetching.cancel()
        await self._client.aclose()

    def _is_known(self, key_id: str | None) -> bool:
        return bool(self._keys) if key_id is None else key_id in self._keys

    def _are_alive(self) -> bool:
        return self._clock() - self._fetched_at < STALE_SECONDS

    def _should_fetch(self, key_id: str | None) -> bool:
        """Also marks the turn of an unknown id as used."""
        now = self._clock()
        if now - self._failed_at < RETRY_PAUSE_SECONDS:
            return False
        if now - self._fetched_at >= FRESH_SECONDS:
            return True
        if self._is_known(key_id) or now - self._searched_at < SEARCH_PAUSE_SECONDS:
            return False
        self._searched_at = now
        return True

    async def _fetch(self) -> None:
        try:
            reply = await send(
                self._client,
                self._request,
                Deadline.after(FETCH_SECONDS),
                "the token issuer",
                max_bytes=MAX_KEY_SET_BYTES,
            )
            if reply.status != 200:
                raise SearchProviderError(f"The token issuer's key set has HTTP status {reply.status}.")
            self._keys = usable_keys(reply.body, self._algorithm)
            self._fetched_at = self._clock()
            if not self._keys:
                _log.warning("The token issuer publishes no usable key for %s: no token is accepted.", self._algorithm)
        except SearchError as error:
            self._failed_at = self._clock()
            _log.warning("The keys of the token issuer were not fetched: %s", error.message)
        finally:
            self._fetching = None


def usable_keys(body: bytes, algorithm: str) -> dict[str | None, Any]:
    """The keys of a key set that verify `algorithm`, by id. Skips keys for other purposes.

    Returns none if the set holds a private key, which would let everybody sign, or two matching keys with one id.

    Raises:
        SearchProviderParseError: it is not a key set.
    """
    try:
        listed = json.loads(body)["keys"]
        entries = [entry for entry in listed if isinstance(entry, dict)]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise SearchProviderParseError("What the token issuer publishes is not a key set.") from None
    fitting = [entry for entry in entries if _fits(entry, algorithm)]
    if any("d" in entry for entry in entries) or len({entry.get("kid") for entry in fitting}) != len(fitting):
        return {}
    return {entry.get("kid"): key for entry in fitting if (key := _loaded(entry, algorithm)) is not None}


def _fits(entry: Mapping[str, Any], algorithm: str) -> bool:
    kind, curve = _KINDS[algorithm]
    operations = entry.get("key_ops", ["verify"])
    return (
        entry.get("kty") == kind
        and (curve is None or entry.get("crv") == curve)
        and entry.get("use", "sig") == "sig"
        and entry.get("alg", algorithm) == algorithm
        and isinstance(operations, list)
        and "verify" in operations
        and isinstance(entry.get("kid", ""), str)
    )


def _loaded(entry: dict[str, Any], algorithm: str) -> Any | None:
    """The key; None if it is damaged or too weak."""
    try:
        key = jwt.PyJWK(entry, algorithm)
    except (jwt.PyJWTError, ValueError):
        return None
    return None if algorithm == "RS256" and key.key.key_size < MIN_RSA_BITS else key
