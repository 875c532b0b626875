"""Pages that declare themselves articles."""

import pytest

from websearch_gateway.readers.extraction import page
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
