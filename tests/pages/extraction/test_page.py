"""What the markup of a page says of it: its own title, and its kind."""

import pytest

from websearch_gateway.pages.extraction import page
from websearch_gateway.pages.extraction.extract import clean
from websearch_gateway.pages.extraction.page import declared_kind

TEXT = "<p>Text.</p>"


@pytest.mark.parametrize(
    ("markup", "kind"),
    [
        ('<meta property="og:type" content=" Article ">', "article"),
        ('<script type="application/ld+json">{"@type": "NewsArticle"}</script>', "article"),
        ('<script type="application/ld+json">{"@type": ["Thing", "BlogPosting"]}</script>', "article"),
        ('<div itemscope itemtype="https://schema.org/Article"></div>', "article"),
        ('<meta property="og:type" content="website">', ""),
        ('<script>{"@type": "NewsArticle"}</script>', ""),
        ('<script type="application/ld+json">{"@type": "Product"}</script>', "product"),
        ('<meta property="og:type" content="product.item">', "product"),
        ('<meta property="og:type" content="article"><div itemtype="https://schema.org/Product"></div>', "article"),
        ('<meta property="og:type" content="article"><div itemtype="http://schema.org/QAPage"></div>', "thread"),
        ("", ""),
    ],
)
def test_the_kind_of_a_page_is_declared_by_open_graph_json_ld_or_microdata(markup: str, kind: str) -> None:
    root = page.parse(f"<html><head></head><body>{markup}{TEXT}</body></html>")
    assert root is not None
    assert declared_kind(root) == kind


@pytest.mark.parametrize(
    ("url", "generator", "is_documentation"),
    [
        ("https://docs.example/start", "", True),
        ("https://example.com/docs/guides/auth", "", True),
        ("https://v2.example.com/start/", "Starlight v0.36.0", True),
        ("https://example.com/2026/the-docs-we-need", "WordPress 6.1", False),
    ],
)
def test_documentation_is_recognised_by_its_address_or_generator(
    url: str, generator: str, is_documentation: bool
) -> None:
    head = f'<meta name="generator" content="{generator}">'
    root = page.parse(f"<html><head>{head}</head><body>{TEXT}</body></html>")
    assert clean(root, url).is_documentation is is_documentation


@pytest.mark.parametrize(
    ("title", "heading", "own"),
    [
        ("JSDoc: Class: Table", "Class: Table", "Class: Table"),
        ("API - Heron", "API", "API"),
        ("Guide :: Eggs Manual", "Guide", "Guide"),
        ("How to read: a table", "table", "How to read: a table"),
        ("frob API documentation", "frob", "frob"),
        ("frob.core - Frob 1.0 documentation", "Source code for frob.core", "frob.core"),
        ("Frob Docs", "Welcome to Frob", "Welcome to Frob"),
    ],
)
def test_the_title_of_a_page_is_its_heading_where_a_site_is_named_beside_it(title: str, heading: str, own: str) -> None:
    root = page.parse(f"<html><head><title>{title}</title></head><body><main><h1>{heading}</h1></main></body></html>")
    assert page.title_of(root) == own
