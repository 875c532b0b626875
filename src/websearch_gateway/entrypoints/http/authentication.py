"""Authenticates requests: finds the token, verifies it, turns it into a Caller, and does not pass it on.

Here are the API keys of AUTH_MODE=token, of which the server knows only the SHA-256 digests: a key holds 256 random
bits, so a plain digest of it cannot be reversed or guessed. `tokens` verifies signed tokens.
"""

from __future__ import annotations

import base64
import hmac
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import failure, json_reply, refusal
from websearch_gateway.entrypoints.http.sign_in import (
    SIGN_IN,
    SIGN_OUT,
    cookie_token,
    posted_token,
    sign_in_reply,
    signed_in,
    signed_out,
)
from websearch_gateway.errors import SearchError, SearchNotConfiguredError
from websearch_gateway.models import LOCAL, SCOPES, Caller
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.api_tokens import (
    PREFIX,
    ApiTokens,
    check_name_and_scopes,
    digest,
    is_name,
    new_secret,
)

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.http.compatible.endpoint import Compatible


def granted(claims: Mapping[str, Any], default: Collection[str] = ()) -> frozenset[str]:
    """The known scopes of a token: those of `scope` (RFC 8693 section 4.2), else of `scp`, else the default.

    Issuers write either claim as words or as a list.

    Raises:
        InvalidToken: the claim is neither a string of words nor a list of strings.
        InsufficientScope: the token has neither claim, and there is no default.
    """
    if "scope" not in claims and "scp" not in claims:
        if not default:
            raise InsufficientScope(" ".join(DEFAULT_SCOPES), WITHOUT_SCOPES)
        return frozenset(default)
    claim = claims["scope"] if "scope" in claims else claims["scp"]
    if isinstance(claim, str):
        names = claim.split(" ")
    elif isinstance(claim, list) and all(isinstance(name, str) for name in claim):
        names = claim
    else:
        raise InvalidToken("Its scopes are malformed.")
    return frozenset(names) & frozenset(SCOPES)


WITHOUT_SCOPES = (
    "The token names no scope, so it allows nothing. Its issuer can put `search read` into the claim `scope`, or the "
    "operator into AUTH_DEFAULT_SCOPES."
)


class InsufficientScope(Exception):
    """The caller's token is valid but does not allow this.

    Args:
        scope: what it lacks.
        message: what to tell its bearer.
    """

    def __init__(self, scope: str, message: str = "") -> None:
        super().__init__(scope)
        self.scope = scope
        self.message = message or f"The token lacks the scope {scope}."


MAX_SUBJECT = 255


class InvalidToken(Exception):
    """An invalid token. The text is one of a few fixed sentences, safe for the bearer and for the log."""


def is_user_name(subject: object) -> bool:
    """Whether a token may name this user: a short readable text without spaces at its ends. The local user is not
    identified by a token."""
    return (
        isinstance(subject, str)
        and 0 < len(subject) <= MAX_SUBJECT
        and subject.isprintable()
        and subject == subject.strip()
        and subject != LOCAL.user
    )


MAX_KEY_CHARS = 512
DEFAULT_SCOPES = ("search", "read")

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Verifier:
    """Accepts some tokens. `issuer` issues them: an https URL if clients can request one there."""

    __slots__ = ()
    issuer: str

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`, with its scopes.

        Raises:
            InvalidToken: it is invalid.
            SearchError: its issuer's keys cannot be fetched.
        """
        raise NotImplementedError

    async def check(self) -> None:
        """Fetch the keys for verification; raises `SearchError` if that fails."""

    async def aclose(self) -> None:
        """Release sockets."""


@dataclass(frozen=True, slots=True)
class StaticVerifier(Verifier):
    """Accepts the keys whose digests it holds, each with its bearer, and the tokens that an operator has created.

    `created` opens the latter; None if there can be none.
    """

    callers: Mapping[str, Caller]
    created: Callable[[], Awaitable[ApiTokens]] | None = None
    issuer: str = "AUTH_TOKENS"

    async def verify(self, token: str) -> Caller:
        """The bearer of `token`. Takes the same time for any matching entry of AUTH_TOKENS, and for none.

        Raises:
            InvalidToken: nobody made it, or it has expired.
            SearchProviderError: the state has failed for too long to know.
        """
        digest_of_token = digest(token) if 0 < len(token) <= MAX_KEY_CHARS else ""
        match: Caller | None = None
        for known_digest, caller in self.callers.items():
            if hmac.compare_digest(known_digest, digest_of_token):
                match = caller
        return match or await self._created_token(token)

    async def _created_token(self, secret: str) -> Caller:
        tokens = await self.created() if self.created is not None else None
        token = await tokens.find(secret) if tokens is not None else None
        if tokens is None or token is None:
            raise InvalidToken("It is not one of this server's keys.")
        if tokens.has_expired(token):
            raise InvalidToken("It has expired.")
        return Caller(token.name, token.scopes, limits=token.limits)


def static_verifier(
    text: str, created: Callable[[], Awaitable[ApiTokens]] | None = None
) -> StaticVerifier:
    """The verifier for the value of AUTH_TOKENS: entries `name:digest:scope+scope`, separated by commas.

    Args:
        created: opens the tokens that an operator has created; None if there can be none.

    Raises:
        SearchNotConfiguredError: an entry is malformed, names an unknown scope, or repeats a name or a digest. The
            message counts entries from 1 and quotes none of them.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries and created is None:
        raise SearchNotConfiguredError(
            "With STATE_URL=memory://, AUTH_MODE=token needs AUTH_TOKENS. Make an entry: websearch-gateway token mint "
            "--static"
        )
    callers = dict(_parsed(number, entry) for number, entry in enumerate(entries, start=1))
    if len({caller.user for caller in callers.values()}) < len(entries):
        raise SearchNotConfiguredError("AUTH_TOKENS has a name or a digest twice.")
    return StaticVerifier(callers, created)


def mint_static(user: str, scopes: Collection[str]) -> tuple[str, str]:
    """A new key and its entry for AUTH_TOKENS. The key itself is stored nowhere.

    Raises:
        SearchValidationError: unknown scope, or a name that an entry cannot hold.
    """
    check_name_and_scopes(user, scopes)
    token = new_secret()
    return token, f"{user}:{digest(token)}:{'+'.join(scopes)}"


def _parsed(number: int, entry: str) -> tuple[str, Caller]:
    name, *rest = (part.strip() for part in entry.split(":"))
    scopes = frozenset(rest[1].split("+")) if len(rest) > 1 else frozenset(DEFAULT_SCOPES)
    if not (is_name(name) and 1 <= len(rest) <= 2 and _DIGEST.fullmatch(rest[0].lower())):
        raise SearchNotConfiguredError(
            f"Entry {number} of AUTH_TOKENS is not NAME:SHA256-HEX:SCOPE+SCOPE."
        )
    if not scopes <= set(SCOPES):
        known_scopes = ", ".join(SCOPES)
        raise SearchNotConfiguredError(
            f"Entry {number} of AUTH_TOKENS has an unknown scope; choose from {known_scopes}."
        )
    return rest[0].lower(), Caller(name, scopes)


METADATA = "/.well-known/oauth-protected-resource"
OPEN_PATHS = frozenset(
    {
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/play",
        "/play.js",
        "/play/suggestions",
        SIGN_IN,
        SIGN_OUT,
    }
)
"""Paths served without a token, besides those of the metadata: those for giving one, and those for load balancers."""
_TOKEN_PARAMETER = re.compile(r".*(?:token|apikey)|jwt|key|auth|authorization|bearer", re.DOTALL)
"""The names of parameters with a token, in lower case and without punctuation."""
_TOKEN = re.compile(rf"(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*|{PREFIX}[\w-]{{20}}", re.ASCII)
"""Finds a token under any other name: a JWT begins with a JSON object in base64, our keys with their prefix."""
_PUNCTUATION = re.compile(r"[\W_]+")
MOST_PARAMETERS = 200

KEY_HEADER = b"x-api-key"
VERIFY = "verify"
"""The key of `scope` with the verifier for a token in the body: there is no caller yet."""
HOW_TO_PROVE = "Send a token: Authorization: Bearer TOKEN, or X-API-Key: TOKEN."

_log = logging.getLogger(__name__)


class Authentication:
    """ASGI middleware: every path except the open ones needs a token; `scope["caller"]` is its bearer.

    Without a verifier every caller is the local one.
    """

    def __init__(
        self,
        app: ASGIApp,
        verifier: Verifier | None,
        settings: Settings,
        compatible: Callable[[Scope], Compatible | None],
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._public_url = settings.public_url
        self._base = settings.base_path
        self._metadata_paths = metadata_paths(settings)
        self._compatible = compatible

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            app = (scope["type"] == "http" and await self._refused(scope)) or self._app
            await app(scope, receive, send)
        except InsufficientScope as missing:
            challenge = self._bearer(scope, {"error": "insufficient_scope", "scope": missing.scope})
            await self._refusal(scope, 403, missing.message, challenge)(scope, receive, send)

    async def _refused(self, scope: Scope) -> Response | None:
        """Set the caller in `scope`. Returns the reply to a refused caller."""
        is_open = scope["path"] in OPEN_PATHS or scope["path"] in self._metadata_paths
        if self._verifier is None:
            if not is_open:
                scope["caller"] = LOCAL
            return None
        try:
            _check_url(scope)
            if is_open:
                return None
            row = self._compatible(scope)
            token = token_of(scope, basic=row is not None and row.basic) or cookie_token(scope)
            if token is None:
                if row is not None and row.key_in_body:
                    # The endpoint verifies the token in the body.
                    scope[VERIFY] = self._verifier.verify
                    return None
                # RFC 6750 section 3.1: no error code without credentials.
                challenge = self._bearer(scope, {})
                return (
                    sign_in_reply(self._base, 401, "", challenge)
                    if wants_page(scope)
                    else refusal(401, "AUTH", HOW_TO_PROVE, challenge)
                )
            scope["caller"] = await self._verifier.verify(token)
        except InvalidToken as invalid:
            return self._not_accepted(scope, invalid)
        except InsufficientScope:
            raise
        except SearchError as error:
            return failure(error)
        except Exception as error:  # a token that breaks a parser gives no access
            _log.error("A token was refused because it broke its parser: %s", type(error).__name__)
            return self._not_accepted(scope, InvalidToken("It cannot be read."))
        return None

    def _not_accepted(self, scope: Scope, invalid: InvalidToken) -> Response:
        scope["refused"] = str(invalid)
        reason = f"The token is not accepted. {invalid}"
        header = self._bearer(scope, {"error": "invalid_token", "error_description": reason})
        return self._refusal(scope, 401, reason, header)

    def _refusal(self, scope: Scope, status: int, reason: str, header: dict[str, str]) -> Response:
        """A page with the form for a browser, which may have an old cookie; JSON for a program."""
        if wants_page(scope):
            return sign_in_reply(self._base, status, reason, header)
        return refusal(status, "AUTH", reason, header)

    def _bearer(self, scope: Scope, parameters: Mapping[str, str]) -> dict[str, str]:
        """The header that says which tokens are accepted, and what is wrong with this one."""
        where = {"resource_metadata": f"{_base_url(scope, self._public_url)}{METADATA}/mcp"}
        fields = ", ".join(f'{name}="{value}"' for name, value in {**parameters, **where}.items())
        return {"WWW-Authenticate": f"Bearer {fields}"}


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks for a page: programs accept anything, or JSON."""
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return scope["method"] == "GET" and accept.startswith(b"text/html,")


def token_of(scope: Scope, *, basic: bool = False) -> str | None:
    """The token of the Authorization header (RFC 6750 section 2.1) or of X-API-Key; None without either.

    Args:
        basic: it may also be the password of HTTP Basic (RFC 7617), for clients that know nothing else.

    Raises:
        InvalidToken: several tokens, or another scheme.
    """
    bearers = [
        value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"
    ]
    keys = [
        value.decode("latin-1").strip() for name, value in scope["headers"] if name == KEY_HEADER
    ]
    if not bearers and not keys:
        return None
    if len(bearers) > 1 or len(keys) > 1:
        raise InvalidToken("Send one token.")
    tokens: set[str] = {*(_header_token(header, basic=basic) for header in bearers), *keys}
    if len(tokens) > 1:
        raise InvalidToken("Send one token: Authorization and X-API-Key differ.")
    return tokens.pop()


def _check_url(scope: Scope) -> None:
    """Refuse a token in the URL, on every path: logs and histories would keep it.

    Raises:
        InvalidToken: there is one, beside a good token too, or there are too many parameters to tell.
    """
    query = scope["query_string"].decode("latin-1")
    if query.count("&") >= MOST_PARAMETERS:
        raise InvalidToken("The URL has too many parameters.")
    parameters = parse_qsl(query, keep_blank_values=True)
    texts = (scope["path"], *(text for parameter in parameters for text in parameter))
    named = any(
        _TOKEN_PARAMETER.fullmatch(_PUNCTUATION.sub("", name).lower()) for name, _ in parameters
    )
    if named or any(_TOKEN.search(text) for text in texts):
        raise InvalidToken("A token must not be in the URL.")


def _header_token(header: str, *, basic: bool) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer" and value:
        return value
    if basic and scheme.lower() == "basic":
        with suppress(ValueError):
            return base64.b64decode(value, validate=True).decode("ascii").partition(":")[2]
    raise InvalidToken("Send one header: Authorization: Bearer TOKEN.")


def caller_of(request: Request | None) -> Caller:
    """The sender of the request; the local user if there is no request, as over stdio."""
    if request is None:
        return LOCAL
    caller: Caller = request.scope["caller"]
    return caller


def require_scope(request: Request, name: str) -> None:
    """Require that scope of the caller.

    Raises:
        InsufficientScope: this caller lacks it. `Authentication` answers with 403 and says which one is missing.
    """
    if name not in caller_of(request).scopes:
        raise InsufficientScope(name)


def sign_in_routes(verifier: Verifier | None, settings: Settings) -> list[BaseRoute]:
    """The form for a browser, and the way out; none if no token is needed."""
    if verifier is None:
        return []
    base, is_https = settings.base_path, (settings.public_url or "").startswith("https:")

    async def sign_in(request: Request) -> Response:
        if request.method == "GET":
            return sign_in_reply(base, 200)
        token = posted_token(await request.body())
        try:
            caller = await verifier.verify(token)
        except InvalidToken as invalid:
            request.scope["refused"] = str(invalid)
            return sign_in_reply(base, 401, f"The token is not accepted. {invalid}")
        except SearchError as error:
            return failure(error)
        if "ops" not in caller.scopes:
            return sign_in_reply(base, 403, "The token lacks the scope ops.")
        return signed_in(base, token, is_https=is_https)

    async def sign_out(_: Request) -> Response:
        return signed_out(base)

    return [
        Route(SIGN_IN, sign_in, methods=["GET", "POST"]),
        Route(SIGN_OUT, sign_out, methods=["POST"]),
    ]


def metadata_paths(settings: Settings) -> tuple[str, ...]:
    """Where the metadata is: at our own root, and where clients derive it from the address of the resource, by putting
    the well-known path between host and path (RFC 9728 section 3.1)."""
    paths = ("", "/mcp", settings.base_path, f"{settings.base_path}/mcp")
    return tuple(dict.fromkeys(f"{METADATA}{path}" for path in paths))


def metadata_routes(verifier: Verifier | None, settings: Settings) -> list[BaseRoute]:
    """The metadata on accepted tokens for clients (RFC 9728); none if no token is needed."""
    if verifier is None:
        return []
    issuers = [verifier.issuer] if verifier.issuer.startswith("https://") else []

    async def metadata(request: Request) -> Response:
        described: dict[str, Any] = {
            "resource": f"{_base_url(request.scope, settings.public_url)}/mcp",
            "scopes_supported": SCOPES,
            "bearer_methods_supported": ["header"],
            "resource_name": "websearch-gateway",
        }
        if issuers:
            described["authorization_servers"] = issuers
        return json_reply(described, headers={"Cache-Control": "public, max-age=300"})

    return [Route(path, metadata) for path in metadata_paths(settings)]


def _base_url(scope: Scope, public_url: str | None) -> str:
    """PUBLIC_URL, or the URL that the client used; its Host is checked already."""
    if public_url is not None:
        return public_url
    host = next(value.decode("latin-1") for name, value in scope["headers"] if name == b"host")
    return f"{scope['scheme']}://{host}"
