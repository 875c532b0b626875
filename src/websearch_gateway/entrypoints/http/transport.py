"""Checks Host and Origin on every route, against DNS rebinding and foreign web pages.

A page that rebinds its name to our address still sends that name as Host; a page that posts here still sends its
Origin. Both are compared with the operator's settings, for any bind address.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from websearch_gateway.entrypoints.http.replies import refusal
from websearch_gateway.settings import Settings

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
CORS_HEADERS = (
    "Authorization",
    "X-API-Key",
    "Content-Type",
    "Mcp-Protocol-Version",
    "Mcp-Session-Id",
    "Mcp-Method",
    "Mcp-Name",
)
CORS_EXPOSED = ("Mcp-Session-Id", "Retry-After", "WWW-Authenticate", "X-Request-Id")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Names:
    """A set of `name`, `name:port` and `name:*`; the last stands for any port, or none."""

    def __init__(self, names: Iterable[str]) -> None:
        given = {name.strip().lower().rstrip("/") for name in names}
        self._any_port = {name.removesuffix(":*") for name in given if name.endswith(":*")}
        self._exact = given

    def __contains__(self, name: str) -> bool:
        if name in self._exact or name in self._any_port:
            return True
        base, _, port = name.rpartition(":")
        return base in self._any_port and port.isascii() and port.isdigit()


class HostOriginCheck:
    """ASGI middleware: another Host gets 421, another Origin 403, before any other check.

    Pages of an allowed Origin get the headers that let them read the reply (CORS).
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        # Any Origin that reaches this is allowed.
        self._for_pages = CORSMiddleware(
            app,
            allow_origin_regex=".*",
            allow_methods=("GET", "POST"),
            allow_headers=CORS_HEADERS,
            expose_headers=CORS_EXPOSED,
        )
        self._hosts = Names([*settings.allowed_hosts, *_public_hosts(settings.public_url)])
        self._origins = Names([*settings.allowed_origins, *_public_origins(settings.public_url)])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        app = self._next(scope) if scope["type"] == "http" else self._app
        await app(scope, receive, send)

    def _next(self, scope: Scope) -> ASGIApp:
        """The app that answers: a refusal if the Host or the Origin is not allowed."""
        headers = scope["headers"]
        hosts = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
        origins = [value.decode("latin-1").lower() for name, value in headers if name == b"origin"]
        port = scope["server"][1] if scope.get("server") else None
        if len(hosts) != 1 or not (hosts[0] in self._hosts or _is_loopback(hosts[0], port)):
            return refusal(421, "VALIDATION", "This server does not answer to that Host; see ALLOWED_HOSTS.")
        if len(origins) > 1 or not all(o in self._origins or _is_own_page(o, port) for o in origins):
            return refusal(403, "VALIDATION", "Pages of that Origin are not served; see ALLOWED_ORIGINS.")
        return self._for_pages if origins else self._app


def _is_loopback(host: str, port: int | None) -> bool:
    """Whether it names this machine, with the port on which the request came in."""
    name, _, given = host.rpartition(":")
    if name in LOOPBACK:
        return given == str(port)
    return host in LOOPBACK and port in (None, 80)


def _is_own_page(origin: str, port: int | None) -> bool:
    scheme, separator, host = origin.partition("://")
    return scheme == "http" and bool(separator) and _is_loopback(host, port)


def _public_hosts(public_url: str | None) -> list[str]:
    if public_url is None:
        return []
    parts = urlsplit(public_url.lower())
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = parts.port or _DEFAULT_PORTS[parts.scheme]
    return [f"{name}:{port}", *([name] if port == _DEFAULT_PORTS[parts.scheme] else [])]


def _public_origins(public_url: str | None) -> list[str]:
    if public_url is None:
        return []
    scheme = urlsplit(public_url.lower()).scheme
    return [f"{scheme}://{host}" for host in _public_hosts(public_url)]
