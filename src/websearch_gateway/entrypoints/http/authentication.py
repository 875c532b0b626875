"""Authenticates requests: finds the token, verifies it, turns it into a Caller, and does not pass it on."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from websearch_gateway.entrypoints.claims import SCOPES, InvalidToken
from websearch_gateway.entrypoints.http.html import page_reply, sign_in_page
from websearch_gateway.entrypoints.http.replies import failure, json_reply, refusal
from websearch_gateway.entrypoints.http.static_tokens import PREFIX
from websearch_gateway.errors import SearchError
from websearch_gateway.models import LOCAL, Caller
from websearch_gateway.settings import Settings

if TYPE_CHECKING:
    from websearch_gateway.entrypoints.http.compatible.base import Compatible
    from websearch_gateway.entrypoints.http.tokens import Verifier

METADATA = "/.well-known/oauth-protected-resource"
OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/openapi.json", "/docs", "/play", "/play.js", METADATA, f"{METADATA}/mcp"}
)
"""Paths served without a token: those for getting or giving one, and those for load balancers."""
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


class InsufficientScope(Exception):
    """The caller's token is valid but does not allow this. The text is the missing scope."""


class Authentication:
    """ASGI middleware: every path except the open ones needs a token; `scope["caller"]` is its bearer.

    Without a verifier every caller is the local one.
    """

    def __init__(
        self,
        app: ASGIApp,
        verifier: Verifier | None,
        public_url: str | None,
        compatible: Callable[[Scope], Compatible | None],
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._public_url = public_url
        self._compatible = compatible

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        try:
            app = (scope["type"] == "http" and await self._refused(scope)) or self._app
            await app(scope, receive, send)
        except InsufficientScope as missing:
            challenge = self._bearer(scope, {"error": "insufficient_scope", "scope": str(missing)})
            reply = refusal(403, "AUTH", f"The token lacks the scope {missing}.", challenge)
            await reply(scope, receive, send)

    async def _refused(self, scope: Scope) -> Response | None:
        """Set the caller in `scope`. Returns the reply to a refused caller."""
        is_open = scope["path"] in OPEN_PATHS
        if self._verifier is None:
            if not is_open:
                scope["caller"] = LOCAL
            return None
        try:
            _check_url(scope)
            if is_open:
                return None
            row = self._compatible(scope)
            if (token := token_of(scope, basic=row is not None and row.basic)) is None:
                if row is not None and row.key_in_body:
                    scope[VERIFY] = self._verifier.verify  # the endpoint verifies the token in the body
                    return None
                return self._without_token(scope)
            scope["caller"] = await self._verifier.verify(token)
        except InvalidToken as invalid:
            return self._not_accepted(scope, invalid)
        except SearchError as error:
            return failure(error)
        except Exception as error:  # a token that breaks a parser gives no access
            _log.error("A token was refused because it broke its parser: %s", type(error).__name__)
            return self._not_accepted(scope, InvalidToken("It cannot be read."))
        return None

    def _without_token(self, scope: Scope) -> Response:
        # RFC 6750 section 3.1: no error code without credentials.
        challenge = self._bearer(scope, {})
        if wants_page(scope):
            return page_reply(sign_in_page(scope["path"]), 401, challenge)
        return refusal(401, "AUTH", HOW_TO_PROVE, challenge)

    def _not_accepted(self, scope: Scope, invalid: InvalidToken) -> Response:
        scope["refused"] = str(invalid)
        reason = f"The token is not accepted. {invalid}"
        header = self._bearer(scope, {"error": "invalid_token", "error_description": reason})
        return refusal(401, "AUTH", reason, header)

    def _bearer(self, scope: Scope, parameters: Mapping[str, str]) -> dict[str, str]:
        """The header that says which tokens are accepted, and what is wrong with this one."""
        where = {"resource_metadata": f"{_base_url(scope, self._public_url)}{METADATA}/mcp"}
        fields = ", ".join(f'{name}="{value}"' for name, value in {**parameters, **where}.items())
        return {"WWW-Authenticate": f"Bearer {fields}"}


def token_of(scope: Scope, *, basic: bool = False) -> str | None:
    """The token of the Authorization header (RFC 6750 section 2.1) or of X-API-Key; None without either.

    Args:
        basic: it may also be the password of HTTP Basic (RFC 7617), for clients that know nothing else.

    Raises:
        InvalidToken: several tokens, or another scheme.
    """
    bearers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    keys = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == KEY_HEADER]
    if not bearers and not keys:
        return None
    if len(bearers) > 1 or len(keys) > 1:
        raise InvalidToken("Send one token.")
    given: set[str] = {*(_header_token(header, basic=basic) for header in bearers), *keys}
    if len(given) > 1:
        raise InvalidToken("Send one token: Authorization and X-API-Key differ.")
    return given.pop()


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
    named = any(_TOKEN_PARAMETER.fullmatch(_PUNCTUATION.sub("", name).lower()) for name, _ in parameters)
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


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks for a page: programs accept anything, or JSON."""
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"")
    return scope["method"] == "GET" and accept.startswith(b"text/html,")


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

    return [Route(path, metadata) for path in (METADATA, f"{METADATA}/mcp")]


def _base_url(scope: Scope, public_url: str | None) -> str:
    """PUBLIC_URL, or the URL that the client used; its Host is checked already."""
    if public_url is not None:
        return public_url
    host = next(value.decode("latin-1") for name, value in scope["headers"] if name == b"host")
    return f"{scope['scheme']}://{host}"
