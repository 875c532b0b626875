"""The page for a browser without a token."""

from __future__ import annotations

from websearch_gateway.entrypoints.http.pages.html import tag
from websearch_gateway.entrypoints.http.pages.page import document


def sign_in_page(path: str) -> str:
    """A page that says how to sign in. `path` is the requested path."""
    shown = path if path.isascii() and path.isprintable() and len(path) <= 100 else "/"
    command = f'curl -H "Authorization: Bearer $TOKEN" http://HOST:PORT{shown}'
    text = (
        "This gateway answers to callers with a token. Browsers cannot send one by themselves: use a program, or let a "
        "reverse proxy that knows you add the header."
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
