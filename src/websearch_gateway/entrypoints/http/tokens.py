"""Verifies bearer tokens: builds the verifier that the settings name, fetches keys, checks signatures and claims.

Refuses to start if the settings are not certainly safe. PyJWT checks the shape of a token, its signature and the
standard claims; we check its size, its type, its user and its scopes. A change here needs a forged token that the old
code accepts, or a good one that it refuses, in its tests.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jwt

from websearch_gateway.base import create_client, send
from websearch_gateway.entrypoints.http.authentication import (
    DEFAULT_SCOPES,
    InvalidToken,
    StaticVerifier,
    Verifier,
    granted,
    is_user_name,
    static_verifier,
)
from websearch_gateway.errors import (
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchProviderParseError,
    SearchValidationError,
    StateUnavailable,
)
from websearch_gateway.foreign_json import MALFORMED, parse_json
from websearch_gateway.models import SCOPES, Caller, CallerLimits, Deadline, HttpRequest
from websearch_gateway.results import Check
from websearch_gateway.settings.groups import APP_NAME, parsed_quota, parsed_usd
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.api_tokens import ApiTokens

if TYPE_CHECKING:
    import httpx2


_log = logging.getLogger(__name__)

MIN_SECRET_BYTES = 32
"""RFC 7518 section 3.2: a key of HS256 is at least as long as its hash."""
PUBLIC_KEY_ALGORITHMS = ("RS256", "ES256", "EdDSA")
FIREBASE_ISSUER = "https://securetoken.google.com/"
FIREBASE_KEYS = (
    "https://www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"
)
"""https://firebase.google.com/docs/auth/admin/verify-id-tokens: the same keys as its certificates."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def token_verifier(
    settings: Settings, created: Callable[[], Awaitable[ApiTokens]] | None = None
) -> Verifier | None:
    """The verifier for AUTH_MODE; None for `none`. Opens nothing yet.

    Args:
        created: opens the tokens that an operator has created, for the mode `token`.

    Raises:
        SearchNotConfiguredError: a setting is missing, weak, or contradicts another.
    """
    if settings.auth_mode == "none":
        return None
    if settings.auth_mode == "token":
        lasting = None if settings.effective_state_url.startswith("memory:") else created
        return static_verifier(
            settings.auth_tokens.get_secret_value() if settings.auth_tokens else "", lasting
        )
    verifier = {"secret": _secret, "jwks": _jwks, "firebase": _firebase}[settings.auth_mode](
        settings
    )
    return replace(verifier, default_scopes=_default_scopes(settings))


def _default_scopes(settings: Settings) -> tuple[str, ...]:
    """The scopes of a token that names none. Whoever knows AUTH_SECRET may search; an issuer has other users too."""
    if settings.auth_default_scopes is None:
        return DEFAULT_SCOPES if settings.auth_mode == "secret" else ()
    unknown = sorted(set(settings.auth_default_scopes) - set(SCOPES))
    if unknown:
        raise SearchNotConfiguredError(
            f"AUTH_DEFAULT_SCOPES: there is no scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}."
        )
    return settings.auth_default_scopes


def mint(settings: Settings, user: str, scopes: Collection[str], ttl_seconds: int) -> str:
    """A token for development, as mode `secret` accepts it.

    Raises:
        SearchNotConfiguredError: in any other mode only the issuer can sign, or AUTH_SECRET is unusable.
        SearchValidationError: the scope does not exist, or tokens may not name that user.
    """
    if unknown := sorted(set(scopes) - set(SCOPES)):
        raise SearchValidationError(
            f"There is no scope {', '.join(unknown)}; choose from {', '.join(SCOPES)}."
        )
    if not is_user_name(user):
        raise SearchValidationError("A token cannot have that user name.")
    if settings.auth_mode != "secret" or settings.auth_secret is None:
        raise SearchNotConfiguredError(
            "Only AUTH_MODE=secret with its AUTH_SECRET can mint tokens."
        )
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
    issuer, audience = settings.auth_issuer or APP_NAME, _audience(settings) or APP_NAME
    return TokenVerifier("HS256", issuer, audience, SharedSecret(secret), settings.limits_claim)


def _jwks(settings: Settings) -> TokenVerifier:
    issuer, audience, url = settings.auth_issuer, _audience(settings), settings.auth_jwks_url
    if not issuer or not audience or not url:
        raise SearchNotConfiguredError(
            "AUTH_MODE=jwks needs AUTH_JWKS_URL, AUTH_ISSUER, and AUTH_AUDIENCE or PUBLIC_URL."
        )
    _check_algorithm(settings, PUBLIC_KEY_ALGORITHMS)
    algorithm = settings.auth_algorithm or "RS256"
    return TokenVerifier(
        algorithm,
        issuer,
        audience,
        _key_set(settings, _safe_url(url), algorithm),
        settings.limits_claim,
    )


def _firebase(settings: Settings) -> TokenVerifier:
    project = settings.firebase_project_id
    if not project:
        raise SearchNotConfiguredError("AUTH_MODE=firebase needs FIREBASE_PROJECT_ID.")
    _check_algorithm(settings, ("RS256",))
    url = _safe_url(settings.auth_jwks_url or FIREBASE_KEYS)
    keys = _key_set(settings, url, "RS256")
    return TokenVerifier("RS256", FIREBASE_ISSUER + project, project, keys, settings.limits_claim)


def _key_set(settings: Settings, url: str, algorithm: str) -> KeySet:
    from websearch_gateway.app.addresses import outbound

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
        raise SearchNotConfiguredError(
            "AUTH_JWKS_URL must be https: whoever replaces the keys can pose as any user."
        )
    return url


_OPTIONS: jwt.types.Options = {
    "require": ["exp", "sub", "aud", "iss"],
    "enforce_minimum_key_length": True,
}

MAX_TOKEN_CHARS = 8_192
LEEWAY_SECONDS = 30
"""How far the issuer's clock may be ahead (seconds). An expired token gets no leeway."""

_TYPES = ("jwt", "at+jwt", "application/at+jwt")
"""RFC 9068 section 2.1; an ID token has another."""

_MALFORMED = (jwt.PyJWTError, *MALFORMED)
"""What PyJWT raises. Of values that only the holder of the key can sign, such as an infinite `exp`, it lets errors of
Python through."""


@dataclass(frozen=True, slots=True)
class TokenVerifier(Verifier):
    """Accepts the tokens of one issuer, for one audience, signed with one algorithm."""

    algorithm: str
    issuer: str
    audience: str
    keys: SharedSecret | KeySet
    limits_claim: str | None = None
    default_scopes: tuple[str, ...] = ()
    clock: Callable[[], float] = time.time

    async def check(self) -> None:
        """Fetch the issuer's keys; raises `SearchError` if that fails."""
        await self.keys.key(None)

    async def aclose(self) -> None:
        """Release the connection to the issuer."""
        await self.keys.aclose()

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`, with its scopes.

        Raises:
            InvalidToken: it is invalid.
            InsufficientScope: it names no scope, and there is no default.
            SearchError: the issuer's keys are unavailable.
        """
        if len(token) > MAX_TOKEN_CHARS:
            raise InvalidToken("It is not a signed token of at most 8 KB.")
        try:
            header = jwt.get_unverified_header(token)
        except _MALFORMED:
            raise InvalidToken("It is not a signed token of at most 8 KB.") from None
        if str(header.get("typ", "jwt")).lower() not in _TYPES:
            raise InvalidToken("Its type is not that of an access token.")
        key = await self.keys.key(header.get("kid"))
        if key is None:
            raise InvalidToken("It is not signed with a key that this server knows.")
        claims = self._verified_claims(token, key)
        scopes = granted(claims, self.default_scopes)
        return Caller(claims["sub"], scopes, limits=granted_limits(claims, self.limits_claim))

    def _verified_claims(self, token: str, key: Any) -> dict[str, Any]:
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=[self.algorithm],
                audience=self.audience,
                issuer=self.issuer,
                leeway=LEEWAY_SECONDS,
                options=_OPTIONS,
            )
            has_expired = int(claims["exp"]) <= self.clock()
        except jwt.ExpiredSignatureError:
            raise InvalidToken("It has expired.") from None
        except jwt.InvalidSignatureError:
            raise InvalidToken("Its signature is wrong.") from None
        except jwt.InvalidAlgorithmError:
            raise InvalidToken("This server does not accept its algorithm.") from None
        except _MALFORMED:
            raise InvalidToken(
                "Its issuer, audience or another claim is not the expected one."
            ) from None
        if has_expired:
            raise InvalidToken("It has expired.")
        if not is_user_name(claims["sub"]):
            raise InvalidToken("It does not name a user.")
        return claims


def granted_limits(claims: Mapping[str, Any], name: str | None) -> CallerLimits:
    """The limits in the claim `name`, an object or words: `{"rate_limit": "100/10minutes", "daily_budget": 2}`, or
    `rate_limit:100/10minutes daily_budget:2` among others, so the claim may be `scope`.

    Raises:
        InvalidToken: they are malformed. Nobody gets more because a limit has a typo.
    """
    claim = claims.get(name) if name else None
    if isinstance(claim, str):
        claim = claim.split()
    if isinstance(claim, list):
        claim = dict(word.split(":", 1) for word in claim if isinstance(word, str) and ":" in word)
    if not isinstance(claim, dict | None):
        raise InvalidToken("Its limits are malformed.")
    found = {
        key: value for key, value in (claim or {}).items() if key in ("rate_limit", "daily_budget")
    }
    try:
        rate_limit = None if "rate_limit" not in found else parsed_quota(found["rate_limit"])
        daily_usd = None if "daily_budget" not in found else parsed_usd(found["daily_budget"])
    except (ValueError, TypeError, AttributeError):
        raise InvalidToken("Its limits are malformed.") from None
    return CallerLimits(rate_limit, daily_usd)


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
                "The keys of the token issuer cannot be fetched.", retry_after=RETRY_PAUSE_SECONDS
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
                raise SearchProviderError(
                    f"The token issuer answered with HTTP status {reply.status}."
                )
            self._keys = usable_keys(reply.body, self._algorithm)
            self._fetched_at = self._clock()
            if not self._keys:
                _log.warning(
                    "The token issuer publishes no usable key for %s: no token is accepted.",
                    self._algorithm,
                )
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
        listed = parse_json(body)["keys"]
        entries = [entry for entry in listed if isinstance(entry, dict)]
    except MALFORMED:
        raise SearchProviderParseError("The token issuer does not publish a key set.") from None
    fitting = [entry for entry in entries if _fits(entry, algorithm)]
    if any("d" in entry for entry in entries) or len(
        {entry.get("kid") for entry in fitting}
    ) != len(fitting):
        return {}
    return {
        entry.get("kid"): key for entry in fitting if (key := _loaded(entry, algorithm)) is not None
    }


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


async def check_auth(settings: Settings, tokens: ApiTokens) -> Check:
    """Whether AUTH_MODE can work: its settings fit together, and the issuer's keys or our tokens can be read."""

    async def created() -> ApiTokens:
        return tokens

    try:
        verifier = token_verifier(settings, created)
    except SearchNotConfiguredError as error:
        remedy = "Set what the message names; `serve --http` does not start without it."
        return Check(
            name="auth", status="fail", finding=f"{error.code}: {error.message}", remedy=remedy
        )
    if verifier is None:
        finding = "AUTH_MODE=none: the server listens on loopback only, and every program there may call it"
        return Check(
            name="auth",
            status="off",
            finding=finding,
            remedy="Set AUTH_MODE to serve other machines.",
        )
    try:
        await verifier.check()
    except SearchError as error:
        remedy = (
            "Check that this machine reaches AUTH_JWKS_URL; until then the server accepts no token."
        )
        return Check(
            name="auth", status="fail", finding=f"{error.code}: {error.message}", remedy=remedy
        )
    finally:
        await verifier.aclose()
    if isinstance(verifier, StaticVerifier):
        return await _check_tokens(verifier, tokens)
    return Check(
        name="auth",
        finding=f"AUTH_MODE={settings.auth_mode}: tokens of {verifier.issuer} are verified",
    )


async def _check_tokens(verifier: StaticVerifier, tokens: ApiTokens) -> Check:
    try:
        created = [token for token in await tokens.all() if not tokens.has_expired(token)]
    except StateUnavailable as error:
        return Check(
            name="auth", status="fail", finding=f"The tokens cannot be read: {error.message}"
        )
    finding = f"AUTH_MODE=token: {len(created)} created, {len(verifier.callers)} in AUTH_TOKENS"
    if created or verifier.callers:
        return Check(name="auth", finding=finding)
    return Check(
        name="auth",
        status="warn",
        finding=finding,
        remedy="Make one: websearch-gateway token create NAME",
    )
