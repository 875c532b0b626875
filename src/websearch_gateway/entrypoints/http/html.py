"""HTML pages for people. Except for the playground they hold no script, load nothing, and carry the policy that forbids
both.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files

from starlette.responses import Response


@cache
def style() -> str:
    """The style sheet that all pages share."""
    return files("websearch_gateway.entrypoints.http").joinpath("style.css").read_text(encoding="utf-8")


@cache
def policy(*more: str, script: bool = False) -> str:
    """The Content-Security-Policy that allows the style sheet and inline icons, and nothing else.

    Args:
        more: further style sheets that it allows.
        script: also scripts of this server, which may ask it, but never write HTML (Trusted Types).
    """
    digests = [base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode() for sheet in (style(), *more)]
    sheets = " ".join(f"'sha256-{digest}'" for digest in digests)
    scripts = ("script-src 'self'", "connect-src 'self'", "require-trusted-types-for 'script'", "trusted-types 'none'")
    allowed = (
        "default-src 'none'",
        f"style-src {sheets}",
        *(scripts if script else ()),
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return "; ".join(allowed)


def document(title: str, *body: Html, head: Html | None = None) -> str:
    """A whole page. `head` is what its head holds besides the title and the style."""
    parts = [Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')]
    parts += [Html('<meta name="color-scheme" content="light dark">')]
    parts += [] if head is None else [head]
    parts += [tag("title", title), tag("style", Html(style()))]
    return f'<!doctype html>\n<html lang="en">{tag("head", *parts)}{tag("body", *body)}</html>\n'


def page_reply(page: str, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The page as a reply that no browser may extend."""
    kept = {"Content-Security-Policy": policy(), **(headers or {})}
    return Response(page, status, kept, media_type="text/html")


def sign_in_page(path: str) -> str:
    """A page that says how to sign in. `path` is the requested path."""
    shown = path if path.isascii() and path.isprintable() and len(path) <= 100 else "/"
    command = f'curl -H "Authorization: Bearer $TOKEN" http://HOST:PORT{shown}'
    text = (
        "Callers of this gateway need a token, which browsers cannot send by themselves. Use a "
        "program, or a reverse proxy that adds the header for you."
    )
    return document(
        "A token is needed · websearch-gateway",
        tag("header", tag("p", "websearch-gateway", class_="name"), tag("h1", "A token is needed")),
        tag(
            "main",
            tag("section", tag("h2", "What to do"), tag("p", text), tag("pre", command)),
            tag(
                "section",
                tag("h2", "Open without a token"),
                tag("p", tag("a", "HTTP API", href="/docs"), " · ", tag("a", "health", href="/healthz")),
            ),
        ),
    )


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *children: str, **attributes: str | float) -> Html:
    """`<name attributes>children</name>`. Of `class_` the underscore is dropped, in `data_title` it is a hyphen."""
    held = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items())
    return Html(f"<{name}{held}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    """Children side by side."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children))
