"""HTML pages for people. They hold no script, load nothing, and carry the policy that forbids both."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from starlette.responses import Response

from websearch_gateway.entrypoints.http.pages.html import Html, tag


@cache
def style() -> str:
    """The style sheet that all pages share."""
    return files("websearch_gateway.entrypoints.http.pages").joinpath("style.css").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """The Content-Security-Policy that allows the style sheet and inline icons, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    allowed = (
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
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
