"""API tokens that an operator creates: kept as hashes in the shared state, and known to every process within seconds.

An entry `token/NAME/SHA256` holds what one token allows, so two tokens of one name can be valid at a time. The counter
`token/changes` grows with each change; a process reads it at most once in FRESH_SECONDS, and the entries only when it
has grown. So a token that nobody made costs a hash and a look into a table.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import math
import re
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from websearch_gateway.errors import SearchProviderError, SearchValidationError, StateUnavailable
from websearch_gateway.models import LOCAL, SCOPES, CallerLimits
from websearch_gateway.ports import State
from websearch_gateway.settings.groups import calls_and_seconds

PREFIX = "wsg_"
"""The prefix of our tokens, so that secret scanners and people recognise them."""

FRESH_SECONDS = 4.0
"""How long a process uses what it knows without asking (seconds): every process knows of a change within five."""
RELOAD_SECONDS = 300.0
"""How often the entries are read even if nobody has counted a change, as after a restored backup (seconds)."""
STALE_SECONDS = 3_600.0
"""How long known tokens are accepted while the state fails (seconds). A revoked one must not work for ever."""
KEPT_SECONDS = 30 * 86_400.0
"""How long an expired token is still listed (seconds)."""

_CHANGES = "token/changes"
_SECRET = re.compile(rf"{PREFIX}[A-Za-z0-9_-]{{43}}")
_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")
_DIGEST = re.compile(r"[0-9a-f]{64}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token without its secret. Times are seconds since the epoch; `lifetime` (seconds) is that of a new token."""

    name: str
    digest: str = field(repr=False)
    scopes: frozenset[str]
    limits: CallerLimits
    created: float
    expires: float | None = None
    lifetime: float | None = None

    @property
    def key(self) -> str:
        return f"token/{self.name}/{self.digest}"

    def has_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


class ApiTokens:
    """The tokens in a shared state: made, listed and revoked by an operator, found by servers.

    Args:
        clock: seconds since the epoch, for expiry.
        timer: monotonic seconds, for how fresh our knowledge is.
    """

    def __init__(
        self,
        state: State,
        clock: Callable[[], float] = time.time,
        timer: Callable[[], float] = time.monotonic,
    ) -> None:
        self._state = state
        self._clock = clock
        self._timer = timer
        self._known: Mapping[str, ApiToken] = {}
        self._changes: bytes | None = None
        self._looked_at = self._reached_at = self._loaded_at = -math.inf
        self._looking: asyncio.Task[None] | None = None

    async def create(
        self,
        name: str,
        scopes: Collection[str],
        limits: CallerLimits,
        lifetime: float | None = None,
    ) -> tuple[str, ApiToken]:
        """A new token: the secret, which is stored nowhere, and what it allows.

        Raises:
            SearchValidationError: the name is taken or unusable, or a scope does not exist.
            StateUnavailable: the state cannot keep it.
        """
        check_name_and_scopes(name, scopes)
        if any(not token.has_expired(self._clock()) for token in await self._named(name)):
            raise SearchValidationError(
                f"There is a token {name} already; revoke or rotate it, or choose another name."
            )
        return await self._store(name, frozenset(scopes), limits, lifetime)

    async def rotate(self, name: str, overlap: float) -> tuple[str, ApiToken]:
        """A second token with the same name, scopes, limits and lifetime. The others expire after `overlap` seconds.

        Raises:
            SearchValidationError: there is no valid token of that name.
            StateUnavailable: the state cannot keep it.
        """
        now = self._clock()
        old = [token for token in await self._named(name) if not token.has_expired(now)]
        if not old:
            raise _unknown(name)
        latest = max(old, key=lambda token: token.created)
        made = await self._store(name, latest.scopes, latest.limits, latest.lifetime)
        for token in old:
            await self._put(replace(token, expires=min(now + overlap, token.expires or math.inf)))
        await self._tell()
        return made

    async def revoke(self, name: str) -> int:
        """Delete all tokens of that name. Returns how many there were.

        Raises:
            SearchValidationError: there is none.
            StateUnavailable: the state failed; run it again.
        """
        named = await self._named(name)
        for token in named:
            await self._state.delete(token.key)
        # Also if there is none: an earlier run may have ended before it told the servers.
        await self._tell()
        if not named:
            raise _unknown(name)
        return len(named)

    async def all(self) -> list[ApiToken]:
        """Every token in the state by name, the oldest of a name first; also those that expired in the last 30 days.

        Raises:
            StateUnavailable: the state cannot be read.
        """
        return await self._read("token/")

    async def find(self, secret: str) -> ApiToken | None:
        """The token with that secret, which may have expired; None if nobody made it.

        The table is looked up by a digest, whose bits nobody can choose, so its timing reveals nothing.

        Raises:
            SearchProviderError: the state has failed for too long to know.
        """
        if not _SECRET.fullmatch(secret):
            return None
        if self._timer() - self._looked_at >= FRESH_SECONDS:
            if self._looking is None:
                self._looking = asyncio.create_task(self._look())
            await asyncio.shield(self._looking)
        if self._timer() - self._reached_at > STALE_SECONDS:
            raise SearchProviderError(
                "The tokens cannot be read at present.", retry_after=FRESH_SECONDS
            )
        return self._known.get(digest(secret))

    def has_expired(self, token: ApiToken) -> bool:
        """Whether it has expired by now."""
        return token.has_expired(self._clock())

    async def close(self) -> None:
        """Stop looking. Idempotent."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        """Learn of changes. While the state fails, what is known stays, and it is asked again after FRESH_SECONDS."""
        started = self._timer()
        try:
            # First the counter: a change that comes after it is seen the next time.
            changes = await self._state.get(_CHANGES)
            if changes != self._changes or started - self._loaded_at >= RELOAD_SECONDS:
                self._known = {token.digest: token for token in await self._read("token/")}
                self._changes, self._loaded_at = changes, started
            self._reached_at = started
        except StateUnavailable as error:
            _log.warning(
                "The tokens cannot be read, so those known last are accepted for an hour: %s",
                error.message,
            )
        finally:
            self._looked_at = started
            self._looking = None

    async def _store(
        self, name: str, scopes: frozenset[str], limits: CallerLimits, lifetime: float | None
    ) -> tuple[str, ApiToken]:
        secret, now = new_secret(), self._clock()
        expires = None if lifetime is None else now + lifetime
        token = ApiToken(name, digest(secret), scopes, limits, now, expires, lifetime)
        await self._put(token)
        await self._tell()
        return secret, token

    async def _put(self, token: ApiToken) -> None:
        value = {
            "scopes": sorted(token.scopes),
            "rate_limit": token.limits.rate_limit,
            "daily_usd": token.limits.daily_usd,
            "created": token.created,
            "expires": token.expires,
            "lifetime": token.lifetime,
        }
        ttl = None if token.expires is None else token.expires - self._clock() + KEPT_SECONDS
        await self._state.put(token.key, json.dumps(value).encode(), ttl)

    async def _tell(self) -> None:
        await self._state.add(_CHANGES)
        # It is in the memory of this process, which is about to end.
        if self._state.problem is not None:
            raise StateUnavailable(str(self._state.problem))

    async def _named(self, name: str) -> list[ApiToken]:
        if not _NAME.fullmatch(name):
            raise _unknown(name)
        return await self._read(f"token/{name}/")

    async def _read(self, prefix: str) -> list[ApiToken]:
        found = []
        async for key, value in self._state.scan(prefix):
            if key != _CHANGES and (token := _parsed(key, value)) is not None:
                found.append(token)
        return sorted(found, key=lambda token: (token.name, token.created))


def check_name_and_scopes(name: str, scopes: Collection[str]) -> None:
    """Whether a token may have that name and those scopes.

    Raises:
        SearchValidationError: it may not.
    """
    if unknown := sorted(set(scopes) - set(SCOPES)):
        raise SearchValidationError(
            f"There is no scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}."
        )
    if not scopes:
        raise SearchValidationError(f"A token needs a scope; choose from {', '.join(SCOPES)}.")
    if not is_name(name):
        raise SearchValidationError(
            "A name has 1 to 64 letters, digits or any of `._@-`, and is not `local`."
        )


def is_name(name: str) -> bool:
    """Whether a token may have that name."""
    return bool(_NAME.fullmatch(name)) and name != LOCAL.user


def new_secret() -> str:
    """A new token of 256 random bits."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(secret: str) -> str:
    """SHA-256 of a token, in hexadecimal. Of 256 random bits a plain digest can be neither reversed nor guessed."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _parsed(key: str, value: bytes) -> ApiToken | None:
    """The token of an entry; None if others have written something else there."""
    _, name, sha256 = (*key.split("/"), "", "")[:3]
    if not is_name(name) or not _DIGEST.fullmatch(sha256):
        return None
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        held = json.loads(value)
        limits = CallerLimits(held["rate_limit"], held["daily_usd"])
        if limits.rate_limit:
            calls_and_seconds(limits.rate_limit)
        return ApiToken(
            name,
            sha256,
            frozenset(held["scopes"]) & frozenset(SCOPES),
            limits,
            float(held["created"]),
            None if held["expires"] is None else float(held["expires"]),
            None if held["lifetime"] is None else float(held["lifetime"]),
        )
    _log.warning("An entry of the tokens in the state cannot be read, so it counts for nothing.")
    return None


def _unknown(name: str) -> SearchValidationError:
    return SearchValidationError(
        f"There is no token {name[:64]!r}; `websearch-gateway token list` shows all."
    )
