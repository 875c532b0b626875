"""The containers in which the same HTML must be read the same: a page, a crawled page of documentation, a fragment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from websearch_gateway.pages.extraction.crawled import crawled_html
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.formats.rendering import to_markdown

URL = "https://harbour.example/docs/guide"
PROSE = (
    "The harbour office keeps a list of all boats that lie in the basin over the winter, and whoever leaves a boat"
    " without a cover has to answer for the damage that snow and frost do to it."
)


def _page(body: str) -> str:
    return (
        f"<!DOCTYPE html><html><head><title>Guide</title></head><body><nav><a href='/'>Home</a></nav><article>"
        f"<h1>Guide</h1><p>{PROSE}</p>{body}<p>{PROSE.replace('list', 'book')}</p></article></body></html>"
    )


def as_page(body: str) -> str:
    """The Markdown of a page whose article holds `body` between two paragraphs of prose."""
    return extract(_page(body), URL, None).markdown


def as_crawled(body: str) -> str:
    """The Markdown of a page of documentation that holds `body`."""
    return crawled_html(_page(body).encode(), URL, "utf-8").markdown


def as_fragment(body: str) -> str:
    """The Markdown of `body` alone, as of a comment or a message."""
    return to_markdown(body, URL)


CONTAINERS: Mapping[str, Callable[[str], str]] = {
    "page": as_page,
    "crawled": as_crawled,
    "fragment": as_fragment,
}
