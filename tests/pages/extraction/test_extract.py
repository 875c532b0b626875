"""Extraction keeps the text of a page with its structure, its title and its date."""

from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.extract import (
    TOO_LONG,
    clean,
    extract,
    is_bare,
    is_doubtful,
    without_extras,
)
from websearch_gateway.pages.extraction.features import Features
from websearch_gateway.pages.extraction.measures import Measures
from websearch_gateway.pages.visibility.strip import strip_invisible

PAGE = """<html><head><title>A title</title>
<meta property="article:published_time" content="2026-03-04T05:06:07Z"></head>
<body><nav><a href="/n">Navigation</a></nav><article><h1>Heading</h1>
<p>Enough <b>bold</b> words to be a paragraph, with <a href="../rel?x=1">a link</a> that goes somewhere else.</p>
<h2>Part two</h2><ul><li>one thing</li><li>another thing</li></ul>
<table><tr><th>Key</th><th>Value</th></tr><tr><td>a</td><td>1</td></tr></table></article></body></html>"""


def test_structure_links_and_tables_become_markdown() -> None:
    page = extract(PAGE, "https://example.com/a/b", None)
    assert page.published == "2026-03-04"
    for part in (
        "# Heading",
        "**bold**",
        "[a link](https://example.com/rel?x=1)",
        "## Part two",
        "- one thing",
    ):
        assert part in page.markdown
    assert "| Key | Value |" in page.markdown
    assert "Navigation" not in page.markdown


def test_bytes_are_read_in_the_given_charset_or_the_declared_one() -> None:
    text = "<body><article><p>Съешь же ещё этих мягких французских булок, да выпей чаю.</p></article></body>"
    assert (
        "булок"
        in extract(
            f"<html>{text}</html>".encode("koi8-r"), "https://example.com/", "koi8_r"
        ).markdown
    )
    declared = f'<html><head><meta charset="windows-1251"></head>{text}</html>'.encode("cp1251")
    assert "булок" in extract(declared, "https://example.com/", None).markdown


PARAGRAPHS = "".join(
    f"<p>Paragraph {number} has as many words as the others.</p>" for number in range(9)
)
ARTICLE = "<meta property='og:type' content='article'>"


def asks(markup: str, likely: float, url: str = "https://example.com/") -> bool:
    """Whether trafilatura is asked about a page all of whose blocks are so likely."""
    cleaned = clean(page.parse(markup), url)
    measures = Measures(cleaned.outline, cleaned.title, cleaned.kind)
    return is_doubtful(measures, np.full(len(cleaned.outline.blocks), likely), cleaned)


def test_trafilatura_is_asked_if_the_filter_is_unsure_and_about_every_article() -> None:
    assert asks(PARAGRAPHS, 0.8)
    assert not asks(PARAGRAPHS, 1.0)
    assert asks(ARTICLE + PARAGRAPHS, 1.0)
    assert asks(ARTICLE + PARAGRAPHS.replace("p>", "div>"), 1.0)  # it may have kept teasers alone


@pytest.mark.parametrize(
    ("likely", "prose", "expected"),
    [(0.7, 4, True), (0.7, 3, False), (0.9, 4, False), (0.9, 9, True)],
)
def test_the_surer_the_filter_is_the_more_prose_a_page_has_on_which_trafilatura_is_asked(
    likely: float, prose: int, expected: bool
) -> None:
    assert asks(PARAGRAPHS.replace("p>", "div>", 2 * (9 - prose)), likely) is expected


@pytest.mark.parametrize(
    "markup",
    [
        PARAGRAPHS.replace("p>", "div>"),
    ],
    ids=["no prose"],
)
def test_trafilatura_is_not_asked_about_a_page_that_is_not_prose_or_takes_it_long(
    markup: str,
) -> None:
    assert not asks(markup, 0.8)


@pytest.mark.parametrize(
    ("empty", "deep", "is_asked"),
    [(1_489, 0, True), (1_490, 0, False), (0, 97, True), (0, 98, False)],
)
def test_trafilatura_is_not_asked_about_a_page_of_1500_elements_or_a_hundred_levels(
    empty: int, deep: int, *, is_asked: bool
) -> None:
    """The page, its body and the nine paragraphs are elements too, and three levels."""
    markup = ARTICLE + "<div>" * deep + PARAGRAPHS + "</div>" * deep + "<div></div>" * empty
    assert asks(markup, 0.8) is is_asked


def test_trafilatura_is_not_asked_about_documentation() -> None:
    assert asks(ARTICLE + PARAGRAPHS, 0.8)
    assert not asks(ARTICLE + PARAGRAPHS, 0.8, "https://docs.example.com/")


def test_what_trafilatura_leaves_out_is_less_likely() -> None:
    measures = Measures(blocks.outline(page.parse(PARAGRAPHS)), "", "article")
    features, likely = Features(measures), np.full(9, 0.6)
    for left_out in (4, 8):
        opinion = np.ones(9)
        opinion[left_out] = 0
        judged = features.reconsidered(likely, opinion)
        assert judged[left_out] < judged[:4].min()


def rest(
    markup: str, likely: list[float], opinion: list[float], kind: str = "article"
) -> list[float]:
    """The likelihoods of the blocks without extras, given the shares of them that trafilatura chose."""
    measures = Measures(blocks.outline(page.parse(markup)), "", kind)
    without: list[float] = without_extras(measures, np.array(likely), np.array(opinion)).tolist()
    return without


def test_what_follows_the_last_block_that_trafilatura_chose_counts_less() -> None:
    assert rest(PARAGRAPHS, [0.8] * 9, [1, 1, 0, 1, 1, 1, 1, 0, 0]) == [0.8] * 7 + [0.4] * 2
    assert rest(PARAGRAPHS, [0.8] * 9, [1, 1, 0, 1, 0, 0, 0, 0, 0]) == [0.8] * 9  # it has failed


@pytest.mark.parametrize(("chosen", "after"), [(7, 0.4), (6, 0.8)])
def test_trafilatura_has_failed_if_it_chose_less_than_seven_tenths(
    chosen: int, after: float
) -> None:
    opinion = [1.0] * chosen + [0.0] * (9 - chosen)
    assert rest(PARAGRAPHS, [0.8] * 9, opinion, "")[8] == after


@pytest.mark.parametrize(("others", "likely"), [(8, 0.0), (10, 0.2)])
def test_trafilatura_has_failed_on_an_article_if_it_chose_less_than_a_tenth(
    others: int, likely: float
) -> None:
    paragraph = "<p>Paragraph has as many words as the others.</p>"
    markup = paragraph * (others + 1) + "<h2>Also</h2>"
    opinion = [1.0] + [0.0] * (others + 1)
    assert rest(markup, [0.8] * (others + 1) + [0.2], opinion)[-1] == likely


def test_an_unlikely_heading_that_trafilatura_omits_goes_from_prose() -> None:
    markup = PARAGRAPHS + "<h2>Also of interest to you</h2>" + PARAGRAPHS
    assert rest(markup, [0.8] * 9 + [0.2] + [0.8] * 9, [1.0] * 9 + [0.0] + [1.0] * 9)[9] == 0
    assert rest(markup, [0.8] * 9 + [0.2] + [0.8] * 9, [1.0] * 19)[9] > 0
    assert rest(markup, [0.8] * 9 + [0.3] + [0.8] * 9, [1.0] * 9 + [0.0] + [1.0] * 9)[9] > 0


@pytest.mark.parametrize(
    "line",
    [
        "Read more: The port of Skerry",
        "Lea también: El puerto",
        "► Lesen Sie auch: Der Hafen",
        "À lire aussi : Le port",
        "Le puede interesar",
        "CZYTAJ WIĘCEJ W dziale",
        "Foto: A. Maren / Tide",
        "© Tide Press",
    ],
)
def test_a_line_that_leads_away_or_credits_a_picture_goes_from_prose(line: str) -> None:
    markup, likely = f"{PARAGRAPHS}<p>{line}</p>{PARAGRAPHS}", [0.8] * 19
    assert rest(markup, likely, [1.0] * 19) == [0.8] * 9 + [0.0] + [0.8] * 9


@pytest.mark.parametrize(
    "line", ["Read more books than papers.", "Read more: " + "the port has a light. " * 9]
)
def test_a_sentence_or_a_long_paragraph_that_begins_like_one_stays(line: str) -> None:
    assert rest(f"{PARAGRAPHS}<p>{line}</p>", [0.8] * 10, [1.0] * 10)[9] == 0.8


def test_a_heading_that_promises_more_stays_over_prose_and_goes_over_links() -> None:
    links, likely = (
        "<ul><li><a href='/port'>The port</a></li><li><a href='/sea'>The sea</a></li></ul>",
        [0.8] * 12,
    )
    assert (
        rest(f"{PARAGRAPHS}<h2>More about the tides</h2>{PARAGRAPHS}", [0.8] * 19, [1.0] * 19)[9]
        == 0.8
    )
    assert rest(f"{PARAGRAPHS}<h2>More about the tides</h2>{links}", likely, [1.0] * 12)[9] == 0


def test_comments_are_left_out_of_an_article_unless_trafilatura_keeps_them() -> None:
    comments = "<p>First, a comment on it.</p><p>Another comment on it.</p>"
    markup = (
        f"<p>The article has more words.</p><div class='comment-list'><div>{comments}</div></div>"
    )
    both = rest(markup, [0.9] * 3, [1.0, 0.0, 1.0])
    assert both[1] == 0
    assert min(both[0], both[2]) > 0.7


def test_a_box_that_asks_for_consent_is_left_out() -> None:
    box = "<div id='cookie-banner'><p>We and our 508 partners store and read data on your device, always.</p></div>"
    prose = (
        "<p>Here is a paragraph of the page, which is long enough for everybody to see that it is prose.</p>"
        * 3
    )
    markdown = extract(f"<body>{prose}{box}</body>", "https://example.com/", None).markdown
    assert "everybody" in markdown
    assert "508" not in markdown


def test_the_marks_of_a_page_builder_are_removed_outside_of_code() -> None:
    text = "[vc_row][vc_column width=&quot;1/2&quot;]This is a paragraph with list[my_index] in it.[/vc_column][/vc_row]"
    code = "<pre>[vc_row]code[/vc_row]</pre><p>A second paragraph follows the code, as on most pages.</p>"
    markdown = extract(
        f"<body><article><p>{text}</p>{code}</article></body>", "https://example.com/", None
    ).markdown
    assert markdown.startswith("This is a paragraph with list[my_index] in it.")
    assert "[vc_row]code[/vc_row]" in markdown


def test_invisible_text_is_left_out_with_a_warning() -> None:
    hidden = "<p style='display:none'>Nobody sees these words, which are many, and long enough to be read.</p>"
    found = extract(PAGE.replace("</h1>", f"</h1>{hidden}"), "https://example.com/", None)
    assert "goes somewhere else" in found.markdown
    assert "Nobody" not in found.markdown
    assert found.warnings == ("Text that a reader cannot see was left out (1 place).",)
    assert extract(PAGE, "https://example.com/", None).warnings == ()


def test_a_page_with_too_many_blocks_for_the_filter_is_kept_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "Navigation" not in extract(PAGE, "https://example.com/", None).markdown
    monkeypatch.setattr("websearch_gateway.pages.extraction.extract.MOST_JUDGED_BLOCKS", 3)
    whole = extract(PAGE, "https://example.com/", None).markdown
    assert "Navigation" in whole
    assert "goes somewhere else" in whole


BOATS = (
    "<h1>Boats</h1><p>All boats of the town lie in the harbour behind the lighthouse in winter.</p>"
)
"""A page of three blocks, with one more."""


@pytest.mark.parametrize(
    "box",
    [
        "<ul><li>Red boat</li><li>Old ferry</li></ul>",
        "<ol><li>Red boat</li><li>Old ferry</li></ol>",
        "<dl><dt>Red boat</dt><dd>Old ferry</dd></dl>",
        "<table><tr><td>Red boat</td><td>Old ferry</td></tr></table>",
        "<p>Red boat</p><p>Old ferry</p>",
        "<div>Red boat</div><div>Old ferry</div>",
        "<section><h2>Red boat</h2><p>Old ferry</p></section>",
    ],
)
def test_short_texts_of_a_small_page_without_links_stay(box: str) -> None:
    markdown = extract(f"<body>{BOATS}{box}</body>", "https://example.com/", None).markdown
    assert "Red boat" in markdown
    assert "Old ferry" in markdown


@pytest.mark.parametrize(
    ("box", "is_whole"),
    [
        ("<p>Ferry</p>", True),
        ("<p>Ferry</p>" * 10, True),
        ("<p>Ferry</p>" * 11, False),
        ("<p>Ferry <a href='/more'>more</a></p>", False),
        ("<p><a href='/more'>Ferry</a></p>", False),
        ("<footer>Ferry</footer>", False),
        ("<div class='cookie-banner'>Ferry</div>", False),
        ("<p>Read more: all ferries of the coast</p>", False),
    ],
)
def test_a_page_with_many_blocks_links_or_menus_is_judged(box: str, is_whole: bool) -> None:
    cleaned = clean(page.parse(f"<body>{BOATS}{box}</body>"), "https://example.com/")
    assert is_bare(Measures(cleaned.outline, cleaned.title)) is is_whole


def test_a_page_without_text_is_empty() -> None:
    for html in ("", "<html><body></body></html>", "<script>let a = 1</script>"):
        assert extract(html, "https://example.com/", None).markdown == ""


@pytest.mark.parametrize(
    "opening", ["<main>", "<article>", "<header>h</header><main>", "<section>", "<nav>n</nav>"]
)
@pytest.mark.parametrize("between", ["", "<meta charset=utf-8><script>x</script>"])
def test_a_page_that_leaves_out_its_body_tag_is_read(opening: str, between: str) -> None:
    """Allowed by https://html.spec.whatwg.org/#optional-tags, and libxml2 puts such a page into its head."""
    told = "The gauge writes the level of the sea every six minutes. " * 5
    html = f"<!doctype html><title>Gauges</title>{between}{opening}<h1>Gauges</h1><p>{told}</p>And so on."
    found = extract(html, "https://example.com/", None)
    assert found.title == "Gauges"
    assert told.strip() in found.markdown


def test_of_a_page_with_too_many_elements_only_the_first_are_read_with_a_warning() -> None:
    body = "".join(f"<div><p>Line {number}</p></div>" for number in range(31_000))
    read = extract(f"<body><article>{body}</article>The end.", "https://example.com/", None)
    assert read.markdown.startswith("Line 0\n\nLine 1\n")
    assert "Line 29995" in read.markdown
    assert "Line 30000" not in read.markdown
    assert "The end." not in read.markdown
    assert read.warnings == (TOO_LONG.format(60_000),)


def test_a_page_with_the_most_allowed_elements_is_complete() -> None:
    root = page.parse("<body>a<p>b<i>c</i>d</p>e<p>f</p>g</body>")
    assert root is not None
    assert not page.cut_elements(root, 5)
    assert page.cut_elements(root, 4)
    assert "".join(root.itertext()) == "abcde"


def test_a_style_sheet_behind_the_last_element_that_is_read_still_hides_what_is_before_it() -> None:
    root = page.parse(
        "<body><p class=h>hidden</p><p>shown to all</p><p>cut</p><style>.h{display:none}</style>cut"
    )
    assert root is not None
    assert page.cut_elements(root, 4)
    strip_invisible(root)
    assert [one.text for one in root.iter("p")] == [None, "shown to all"]


def test_lists_and_headings_below_a_depth_limit_get_no_marks() -> None:
    """Each level would rewrite all text in it."""
    for tag in ("blockquote", "h2", "li", "dt"):
        read = extract(
            f"<body><article>{f'<{tag}>a' * 1_000}</article>", "https://example.com/", None
        )
        assert len(read.markdown) < 100_000
