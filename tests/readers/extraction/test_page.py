"""What the markup of a page says of it: its own title, and whether it is an article."""

import pytest

from websearch_gateway.readers.extraction import page
from websearch_gateway.readers.extraction.extract import clean
from websearch_gateway.readers.extraction.page import declares_article

TEXT = "<p>Text.</p>"


@pytest.mark.parametrize(
    ("markup", "is_article"),
    [
        ('<meta property="og:type" content=" Article ">', True),
        ('<script type="application/ld+json">{"@type": "NewsArticle"}</script>', True),
        ('<script type="application/ld+json">{"@type": ["Thing", "BlogPosting"]}</script>', True),
        ('<div itemscope itemtype="https://schema.org/Article"></div>', True),
        ('<meta property="og:type" content="website">', False),
        ('<script>{"@type": "NewsArticle"}</script>', False),
        ('<script type="application/ld+json">{"@type": "Product"}</script>', False),
        (
            '<meta property="og:type" content="article"><div itemtype="http://schema.org/DiscussionForumPosting"></div>',
            False,
        ),
        ("", False),
    ],
)
def test_articles_are_recognised_by_open_graph_json_ld_or_microdata_but_threads_are_not(
    markup: str, is_article: bool
) -> None:
    root = page.parse(f"<html><head></head><body>{markup}{TEXT}</body></html>")
    assert root is not None
    assert declares_article(root) is is_article


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
        ("How to read: a table", "table", "How to read: a table"),
    ],
)
def test_the_title_of_a_page_is_its_heading_where_a_site_is_named_beside_it(title: str, heading: str, own: str) -> None:
    root = page.parse(f"<html><head><title>{title}</title></head><body><main><h1>{heading}</h1></main></body></html>")
    assert page.title_of(root) == own
