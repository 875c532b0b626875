"""Signing in with a browser: a form takes the token, and a cookie keeps it for the pages that people open.

No script can read the cookie (HttpOnly), and no request that another site causes carries it (SameSite=Strict). Only the
paths of COOKIE_PATHS accept it, so it never opens what programs call. It ends with the browser's session.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from websearch_gateway.entrypoints.http.replies import Html, document, page_reply, policy, tag

SIGN_IN, SIGN_OUT = "/login", "/logout"
COOKIE = "websearch_gateway_token"
COOKIE_PATHS = frozenset({"/", "/play/ask"})
MAX_COOKIE_BYTES = 16_384
"""Of the header: browsers send at most 4 kB for a cookie."""

NEEDED = "The status page needs a token with the scope ops. It stays in a cookie of this browser until you sign out."
_TITLE = "Sign in"


def cookie_token(scope: Scope) -> str | None:
    """The token of the cookie, if this path accepts it; None without one."""
    if scope["path"] not in COOKIE_PATHS:
        return None
    headers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie"]
    if len(headers) != 1 or len(headers[0]) > MAX_COOKIE_BYTES:
        return None
    try:
        morsel = SimpleCookie(headers[0]).get(COOKIE)
    except CookieError:
        return None
    return morsel.value if morsel is not None and morsel.value else None


def posted_token(body: bytes) -> str:
    """The token that the form sends; empty if there is none."""
    return (
        parse_qs(body.decode("utf-8", "replace"), max_num_fields=10).get("token", [""])[0].strip()
    )


def signed_in(base: str, token: str, *, is_https: bool) -> Response:
    """To the status page, with the cookie."""
    reply = RedirectResponse(f"{base}/", 303)
    reply.set_cookie(
        COOKIE, token, path=base or "/", secure=is_https, httponly=True, samesite="strict"
    )
    return reply


def signed_out(base: str) -> Response:
    """To the form, without the cookie."""
    reply = RedirectResponse(f"{base}{SIGN_IN}", 303)
    reply.delete_cookie(COOKIE, path=base or "/", httponly=True, samesite="strict")
    return reply


def sign_in_page(base: str, refused: str = "") -> str:
    """The page with the form. `refused`: why the last token was not accepted."""
    links = tag(
        "p",
        tag("a", "Ask by hand", href=f"{base}/play"),
        " · ",
        tag("a", "HTTP API", href=f"{base}/openapi.json"),
        " · ",
        tag("a", "health", href=f"{base}/healthz"),
    )
    field = Html(
        '<input id="token" name="token" type="password" required autofocus autocomplete="current-password" '
        'spellcheck="false" maxlength="8192">'
    )
    label, button = tag("label", "Token", for_="token"), tag("button", _TITLE, type="submit")
    form = tag(
        "form", label, field, button, method="post", action=f"{base}{SIGN_IN}", class_="sign-in"
    )
    alert = [tag("p", tag("b", refused), role="alert")] if refused else []
    header = tag("header", tag("p", "websearch-gateway", class_="name"), tag("h1", _TITLE))
    body = tag("main", tag("section", *alert, tag("p", NEEDED), form, links))
    return document(f"{_TITLE} · websearch-gateway", header, body)


def sign_in_reply(
    base: str, status: int, refused: str = "", headers: dict[str, str] | None = None
) -> Response:
    """The page as a reply. Without its Referrer-Policy the browser would send the form with `Origin: null`."""
    allowed = {"Content-Security-Policy": policy(form=True), "Referrer-Policy": "same-origin"}
    return page_reply(sign_in_page(base, refused), status, {**allowed, **(headers or {})})
