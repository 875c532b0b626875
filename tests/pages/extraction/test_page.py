"""What the markup of a page says of it: its own title, and its kind."""

import json

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
        (
            '<script type="application/ld+json">{"@type": ["Thing", "BlogPosting"]}</script>',
            "article",
        ),
        ('<div itemscope itemtype="https://schema.org/Article"></div>', "article"),
        ('<meta property="og:type" content="website">', ""),
        ('<script>{"@type": "NewsArticle"}</script>', ""),
        ('<script type="application/ld+json">{"@type": "Product"}</script>', "product"),
        ('<meta property="og:type" content="product.item">', "product"),
        (
            '<meta property="og:type" content="article"><div itemtype="https://schema.org/Product"></div>',
            "article",
        ),
        (
            '<meta property="og:type" content="article"><div itemtype="http://schema.org/QAPage"></div>',
            "thread",
        ),
        ("", ""),
    ],
)
def test_the_kind_of_a_page_is_declared_by_open_graph_json_ld_or_microdata(
    markup: str, kind: str
) -> None:
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
def test_the_title_of_a_page_is_its_heading_where_a_site_is_named_beside_it(
    title: str, heading: str, own: str
) -> None:
    root = page.parse(
        f"<html><head><title>{title}</title></head><body><main><h1>{heading}</h1></main></body></html>"
    )
    assert page.title_of(root) == own


@pytest.mark.parametrize(
    ("head", "title"),
    [
        (
            "<title>The ferry | Arlen News</title><meta property='og:title' content='Arlen News'>",
            "The ferry",
        ),
        (
            "<title>Arlen News | The ferry</title><meta property='og:title' content='The ferry'>",
            "The ferry",
        ),
        ("<title>渡船每小时过河_新闻_河网</title>", "渡船每小时过河"),
        ("<title>渡船每小时过河｜河网</title>", "渡船每小时过河"),
        ("<title>to_html - frob</title>", "to_html - frob"),
    ],
)
def test_the_title_is_that_of_the_page_and_not_of_its_site(head: str, title: str) -> None:
    heading = title if title != "to_html - frob" else "to"
    root = page.parse(f"<html><head>{head}</head><body><h1>{heading}</h1>{TEXT}</body></html>")
    assert page.title_of(root) == title


SITE = {"@type": "WebSite", "datePublished": "2011-01-01"}
STORY = {
    "@type": ["NewsArticle"],
    "datePublished": "2024-03-05T09:00:00+01:00",
    "dateModified": "2024-05-09",
}


@pytest.mark.parametrize(
    ("markup", "day"),
    [
        (
            f'<script type="application/ld+json">{json.dumps({"@graph": [SITE, STORY]})}</script>',
            "2024-03-05",
        ),
        (
            f'<script type="application/ld+json">{json.dumps([SITE, {"mainEntity": STORY}])}</script>',
            "2024-03-05",
        ),
        ("<span class='date'>发布于 2024年3月5日</span>", "2024-03-05"),
        ("<span class='date'>2024年13月5日</span>", None),
        ("<p>Built in 2024年3月5日.</p>", None),
    ],
)
def test_the_day_is_that_of_the_article(markup: str, day: str | None) -> None:
    root = page.parse(f"<html><head></head><body><h1>Ferry</h1>{markup}{TEXT}</body></html>")
    assert clean(root, "https://ferry.example/").published == day


def title(head: str, body: str) -> str:
    root = page.parse(f"<html><head>{head}</head><body>{body}{TEXT}</body></html>")
    assert root is not None
    return page.title_of(root)


@pytest.mark.parametrize(
    ("whole", "own"), [("Tide – Harbour", "Tide"), ("Ebb – Harbour", "Ebb – Harbour")]
)
def test_a_title_of_less_than_four_letters_keeps_the_name_of_the_site(whole: str, own: str) -> None:
    head = f'<meta property="og:site_name" content="Harbour"><title>{whole}</title>'
    assert title(head, "") == own


@pytest.mark.parametrize(("before", "found"), [(99, "Tides"), (100, "")])
def test_the_title_is_among_the_first_hundred_headings(before: int, found: str) -> None:
    assert title("", "<h1></h1>" * before + "<h1>Tides</h1>") == found


@pytest.mark.parametrize(("pieces", "end"), [(200, "y"), (201, "x")])
def test_two_hundred_pieces_of_a_heading_are_read(pieces: int, end: str) -> None:
    assert title("", f"<h1>{'<i>x</i>' * (pieces - 1)}<i>y</i></h1>")[-1] == end


@pytest.mark.parametrize(("before", "day"), [(199, "2024-03-05"), (200, None)])
def test_the_day_of_a_page_is_among_the_first_two_hundred(before: int, day: str | None) -> None:
    root = page.parse(f"<body>{'<time>now</time>' * before}<time>2024年3月5日</time>{TEXT}")
    assert root is not None
    assert page.written_date(root) == day


@pytest.mark.parametrize(("length", "day"), [(200_000, "2024-03-05"), (200_001, None)])
def test_a_script_of_up_to_two_hundred_thousand_characters_is_read(
    length: int, day: str | None
) -> None:
    content = json.dumps({"@type": "Article", "datePublished": "2024-03-05"}).ljust(length)
    root = page.parse(f'<body><script type="application/ld+json">{content}</script>{TEXT}')
    assert root is not None
    assert page.declared_date(root) == day
    assert (declared_kind(root) == "article") is True


@pytest.mark.parametrize(
    ("kind", "day"),
    [
        ("Article", "2024-03-05"),
        (["Thing", "Article"], "2024-03-05"),
        ([{"@id": "Thing"}, "Article"], "2024-03-05"),
        ({"@id": "Article"}, None),
        ([], None),
        (None, None),
        (7, None),
    ],
)
def test_a_declared_type_of_any_shape_leaves_the_page_readable(
    kind: object, day: str | None
) -> None:
    content = json.dumps({"@type": kind, "datePublished": "2024-03-05"})
    root = page.parse(f'<body><script type="application/ld+json">{content}</script>{TEXT}')
    assert root is not None
    assert page.declared_date(root) == day


@pytest.mark.parametrize(("length", "is_kept"), [(300, False), (301, True)])
def test_a_link_to_a_neighbour_has_up_to_three_hundred_characters(
    length: int, is_kept: bool
) -> None:
    card = f'<div><a href="/next"><div>{"x" * length}</div></a></div>'
    root = page.parse(f"<article>{TEXT}{card}</article>")
    assert root is not None
    page.strip_furniture(root)
    assert ("x" in "".join(root.itertext()).replace("Text.", "")) is is_kept


@pytest.mark.parametrize(
    ("attributes", "letters", "is_kept"),
    [(500, 20_100, True), (501, 20_100, False), (501, 19_900, True)],
)
def test_a_large_tag_with_very_many_attributes_loses_them(
    attributes: int, letters: int, *, is_kept: bool
) -> None:
    named = "".join(f" a{at}=1" for at in range(attributes))
    root = page.parse(f"<body><p{named}{' ' * (letters - len(named))}>Text.</p></body>")
    assert bool(root.find("body/p").attrib) == is_kept


def test_the_shortcodes_of_twenty_page_builders_are_removed() -> None:
    codes = "".join(f"[{name}_row]{name}[/{name}_row]" for name in "abcdefghijklmnopqrstu")
    root = page.parse(f"<body><p>{codes}</p></body>")
    page.strip_shortcodes(root)
    assert "".join(root.itertext()).split() == [*"abcdefghijklmnopqrst", "[u_row]u[/u_row]"]


@pytest.mark.parametrize(("posts", "warnings"), [(200, 1), (201, 2)])
def test_two_hundred_posts_of_a_topic_are_unfolded(posts: int, warnings: int) -> None:
    stream = {"posts": [{"username": "mara", "cooked": f"<p>Post {at}</p>"} for at in range(posts)]}
    data = json.dumps({"topic_7": json.dumps({"post_stream": stream})})
    root = page.parse(
        "<html><head><meta name=generator content='Discourse 3'></head><body>"
        f"<div id=data-preloaded data-preloaded='{data}'></div></body></html>"
    )
    said = page.unfold_topic(root, "https://forum.example/t/ropes/7")
    assert len(root.xpath("//div[@class='userContent']")) == 200
    assert len(said) == warnings
    if posts > 200:
        assert said[1] == "The first 200 of 201 posts are read."


@pytest.mark.parametrize(("letters", "is_xhtml"), [(5_000_000, True), (5_000_001, False)])
def test_xhtml_of_more_than_five_million_characters_is_read_as_html(
    letters: int, *, is_xhtml: bool
) -> None:
    start, end = "<?xml version='1.0'?><html><body>", "</body></html>"
    text = start + " " * (letters - len(start) - len(end)) + end
    assert (page._as_xhtml(text, plain=True) is not None) == is_xhtml


def test_the_first_fifty_options_with_a_price_are_a_list() -> None:
    options = "".join(f"<option>{at} € </option>" for at in range(51))
    root = page.parse(f"<body><select>{options}</select></body>")
    page.unfold_prices(root)
    assert len(root.findall(".//li")) == 50


@pytest.mark.parametrize(
    ("button", "is_left_out"),
    [
        ("Copy", True),
        (f"{' ' * 40}Copy{' ' * 40}", True),
        ("<b> </b>Copy <i>code</i>", True),
        ("", True),
        ("Copy all of it", False),
        (f"<b>{' ' * 40}</b>Register", False),
    ],
)
def test_a_button_is_left_out_by_all_of_its_text(button: str, *, is_left_out: bool) -> None:
    root = page.parse(f"<body><p>Text.</p><button>{button}</button></body>")
    page.strip_furniture(root)
    assert (root.find(".//button") is None) == is_left_out
