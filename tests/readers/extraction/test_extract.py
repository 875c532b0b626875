"""Extraction keeps the text of a page with its structure, its title and its date."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from websearch_gateway.readers.extraction import blocks, page
from websearch_gateway.readers.extraction.blocks import Measures
from websearch_gateway.readers.extraction.extract import (
    SECOND_OPINION_ELEMENTS,
    TOO_LONG,
    Clean,
    _likelihoods,
    doubted,
    extract,
    is_doubtful,
    second_opinion,
    warm_up,
)
from websearch_gateway.readers.extraction.features import likelihoods, reconsidered

PAGE = """<html><head><title>A title</title>
<meta property="article:published_time" content="2026-03-04T05:06:07Z"></head>
<body><nav><a href="/n">Navigation</a></nav><article><h1>Heading</h1>
<p>Enough <b>bold</b> words to be a paragraph, with <a href="../rel?x=1">a link</a> that goes somewhere else.</p>
<h2>Part two</h2><ul><li>one thing</li><li>another thing</li></ul>
<table><tr><th>Key</th><th>Value</th></tr><tr><td>a</td><td>1</td></tr></table></article></body></html>"""


def test_structure_links_and_tables_become_markdown() -> None:
    page = extract(PAGE, "https://example.com/a/b", None)
    assert page.published == "2026-03-04"
    for part in ("# Heading", "**bold**", "[a link](https://example.com/rel?x=1)", "## Part two", "- one thing"):
        assert part in page.markdown
    assert "| Key | Value |" in page.markdown
    assert "Navigation" not in page.markdown


def test_bytes_are_read_in_the_given_charset_or_the_declared_one() -> None:
    text = "<body><article><p>Съешь же ещё этих мягких французских булок, да выпей чаю.</p></article></body>"
    assert "булок" in extract(f"<html>{text}</html>".encode("koi8-r"), "https://example.com/", "koi8_r").markdown
    declared = f'<html><head><meta charset="windows-1251"></head>{text}</html>'.encode("cp1251")
    assert "булок" in extract(declared, "https://example.com/", None).markdown


def asked(root: Any, measures: Measures, alone: Any, *, is_article: bool) -> Any:
    """How likely each block is once trafilatura was asked."""
    found = measures.found_in(second_opinion(root))
    likely = reconsidered(measures, alone, found, is_article=is_article)
    return doubted(measures, likely, found, is_article=is_article)


@pytest.mark.parametrize(
    ("sure", "elements", "asks"),
    [(0, 0, False), (2, 0, True), (2, SECOND_OPINION_ELEMENTS, False)],
    ids=["sure", "unsure", "unsure and large"],
)
def test_trafilatura_runs_if_the_filter_is_unsure_and_the_page_is_not_too_large(
    sure: float, elements: int, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.SURE", sure)
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.UNSURE", sure)
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.PROSE", 0)
    root = page.parse(PAGE.replace("</h1>", f"</h1>{'<i></i>' * elements}"))
    assert root is not None
    outline = blocks.outline(root)
    measures = Measures(outline, "A title")
    alone = likelihoods(measures)
    asking = asked(root, measures, alone, is_article=False)
    assert alone.tolist() != asking.tolist()
    assert (
        _likelihoods(root, Clean("A title", None, False, False, "", (), outline)).tolist()
        == (asking if asks else alone).tolist()
    )


@pytest.mark.parametrize(
    ("elements", "is_documentation", "asks"),
    [(0, False, True), (SECOND_OPINION_ELEMENTS, False, False), (0, True, False)],
    ids=["modest", "large", "documentation"],
)
def test_trafilatura_runs_on_every_article_that_is_not_too_large_nor_documentation(
    elements: int, is_documentation: bool, asks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.PROSE", 0)
    root = page.parse(PAGE.replace("</h1>", f"</h1>{'<i></i>' * elements}"))
    assert root is not None
    outline = blocks.outline(root)
    measures = Measures(outline, "A title")
    alone = likelihoods(measures)
    expected = asked(root, measures, alone, is_article=True) if asks else alone
    cleaned = Clean("A title", None, True, is_documentation, "", (), outline)
    assert _likelihoods(root, cleaned).tolist() == expected.tolist()


def judged(markup: str, likely: list[float], found: list[float], *, is_article: bool = True) -> list[float]:
    """What `doubted` makes of the likelihoods of the blocks, of which trafilatura chose the shares `found`."""
    root = page.parse(markup)
    assert root is not None
    measures = Measures(blocks.outline(root), "")
    less: list[float] = doubted(measures, np.array(likely), np.array(found), is_article=is_article).tolist()
    return less


PARAGRAPHS = "".join(f"<p>Paragraph {number} has as many words as the others.</p>" for number in range(9))


def test_a_block_that_trafilatura_omits_counts_less_and_one_that_it_chose_no_more() -> None:
    less = judged(PARAGRAPHS, [0.8] * 9, [1, 1, 0, 0, 0, 0, 1, 1, 1])
    assert less == pytest.approx([0.8] * 2 + [0.4] * 4 + [0.8] * 3)
    long = f"<p>{'many words ' * 20}</p>"
    assert judged(long + PARAGRAPHS, [0.8] * 10, [0.0] * 4 + [1.0] * 6)[0] > less[2]


def test_what_follows_the_last_block_that_trafilatura_chose_counts_less_still() -> None:
    less = judged(PARAGRAPHS, [0.8] * 9, [1, 1, 0, 1, 1, 1, 1, 0, 0])
    assert less[7:] == pytest.approx([0.2] * 2)
    assert less[2] == pytest.approx(0.4)
    unconfirmed = judged(PARAGRAPHS, [0.8] * 9, [1, 1, 0, 1, 0, 0, 0, 0, 0])
    assert unconfirmed[7:] == pytest.approx([0.4] * 2)


def test_an_unlikely_heading_that_trafilatura_omits_goes_from_prose() -> None:
    markup = PARAGRAPHS + "<h2>Also of interest to you</h2>" + PARAGRAPHS
    assert judged(markup, [0.8] * 9 + [0.2] + [0.8] * 9, [1.0] * 9 + [0.0] + [1.0] * 9)[9] == 0
    assert judged(markup, [0.8] * 9 + [0.2] + [0.8] * 9, [1.0] * 19)[9] > 0
    assert judged(markup, [0.8] * 9 + [0.3] + [0.8] * 9, [1.0] * 9 + [0.0] + [1.0] * 9)[9] > 0


def test_trafilatura_is_not_asked_about_a_page_that_is_not_prose() -> None:
    for markup, asks in ((PARAGRAPHS, True), (PARAGRAPHS.replace("p>", "div>"), False)):
        root = page.parse(markup)
        assert root is not None
        measures = Measures(blocks.outline(root), "")
        assert is_doubtful(measures, np.full(9, 0.8), is_article=True) is asks
    assert not is_doubtful(measures, np.ones(9), is_article=False)


@pytest.mark.parametrize(("likely", "prose", "asks"), [(0.7, 4, True), (0.9, 4, False), (0.9, 9, True)])
def test_the_surer_the_filter_is_the_more_prose_a_page_has_on_which_trafilatura_is_asked(
    likely: float, prose: int, asks: bool
) -> None:
    root = page.parse(PARAGRAPHS.replace("p>", "div>", 2 * (9 - prose)))
    assert root is not None
    assert is_doubtful(Measures(blocks.outline(root), ""), np.full(9, likely), is_article=False) is asks


def test_if_trafilatura_found_almost_nothing_the_filter_decides_alone() -> None:
    assert judged(PARAGRAPHS, [0.8] * 9, [0.0] * 9) == [0.8] * 9
    half = [1.0] * 5 + [0.0] * 4
    assert judged(PARAGRAPHS, [0.8] * 9, half, is_article=False) == [0.8] * 9
    assert judged(PARAGRAPHS, [0.8] * 9, half) != [0.8] * 9


@pytest.mark.parametrize("is_article", [True, False])
def test_on_a_page_that_is_not_prose_the_filter_decides_alone(is_article: bool) -> None:
    cards = PARAGRAPHS.replace("p>", "div>")
    assert judged(cards, [0.8] * 9, [1.0] * 8 + [0.0], is_article=is_article) == [0.8] * 9
    assert judged(PARAGRAPHS, [0.8] * 9, [1.0] * 8 + [0.0], is_article=is_article)[8] < 0.8


def test_comments_are_left_out_of_an_article_unless_trafilatura_keeps_them() -> None:
    comments = "<p>First, a comment on it.</p><p>Another comment on it.</p>"
    markup = f"<p>The article has words.</p><div class='comment-list'><div>{comments}</div></div>"
    both = judged(markup, [0.9] * 3, [1.0, 0.0, 1.0])
    assert both[1] == 0
    assert min(both[0], both[2]) > 0.7


def test_a_box_that_asks_for_consent_is_left_out() -> None:
    box = "<div id='cookie-banner'><p>We and our 508 partners store and read data on your device, always.</p></div>"
    prose = "<p>Here is a paragraph of the page, which is long enough for everybody to see that it is prose.</p>" * 3
    markdown = extract(f"<body>{prose}{box}</body>", "https://example.com/", None).markdown
    assert "everybody" in markdown
    assert "508" not in markdown


def test_the_marks_of_a_page_builder_are_removed_outside_of_code() -> None:
    text = (
        "[vc_row][vc_column width=&quot;1/2&quot;]This is a paragraph with list[my_index] in it.[/vc_column][/vc_row]"
    )
    code = "<pre>[vc_row]code[/vc_row]</pre><p>A second paragraph follows the code, as on most pages.</p>"
    markdown = extract(f"<body><article><p>{text}</p>{code}</article></body>", "https://example.com/", None).markdown
    assert markdown.startswith("This is a paragraph with list[my_index] in it.")
    assert "[vc_row]code[/vc_row]" in markdown


@pytest.mark.parametrize("sure", [0, 2], ids=["sure", "unsure"])
def test_invisible_text_is_left_out_with_a_warning(sure: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.SURE", sure)
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.UNSURE", sure)
    hidden = "<p style='display:none'>Nobody sees these words, which are many, and long enough to be read.</p>"
    found = extract(PAGE.replace("</h1>", f"</h1>{hidden}"), "https://example.com/", None)
    assert "goes somewhere else" in found.markdown
    assert "Nobody" not in found.markdown
    assert found.warnings == ("Text that a reader cannot see was left out (1 place).",)
    assert extract(PAGE, "https://example.com/", None).warnings == ()


def test_a_page_with_too_many_blocks_for_the_filter_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Navigation" not in extract(PAGE, "https://example.com/", None).markdown
    monkeypatch.setattr("websearch_gateway.readers.extraction.extract.MOST_JUDGED_BLOCKS", 3)
    whole = extract(PAGE, "https://example.com/", None).markdown
    assert "Navigation" in whole
    assert "goes somewhere else" in whole


def test_a_page_without_text_is_empty() -> None:
    for html in ("", "<html><body></body></html>", "<script>let a = 1</script>"):
        assert extract(html, "https://example.com/", None).markdown == ""


def test_warming_up_leaves_nothing_to_import() -> None:
    assert warm_up() is None


@pytest.mark.parametrize("opening", ["<main>", "<article>", "<header>h</header><main>", "<section>", "<nav>n</nav>"])
@pytest.mark.parametrize("between", ["", "<meta charset=utf-8><script>x</script>"])
def test_a_page_that_leaves_out_its_body_tag_is_read(opening: str, between: str) -> None:
    """Allowed by https://html.spec.whatwg.org/#optional-tags, and libxml2 puts such a page into its head."""
    told = "The gauge writes the level of the sea every six minutes. " * 5
    html = f"<!doctype html><title>Gauges</title>{between}{opening}<h1>Gauges</h1><p>{told}</p>And so on."
    found = extract(html, "https://example.com/", None)
    assert found.title == "Gauges"
    assert told.strip() in found.markdown


def test_of_a_page_with_too_many_elements_only_the_first_are_read_with_a_warning() -> None:
    body = "".join(f"<div><p>Line {number}</p></div>" for number in range(page.MOST_ELEMENTS))
    read = extract(f"<body><article>{body}</article>The end.", "https://example.com/", None)
    assert read.markdown.startswith("Line 0\n\nLine 1\n")
    assert f"Line {page.MOST_ELEMENTS // 2 - 5}" in read.markdown
    assert f"Line {page.MOST_ELEMENTS // 2}" not in read.markdown
    assert "The end." not in read.markdown
    assert read.warnings == (TOO_LONG.format(page.MOST_ELEMENTS),)


def test_a_page_with_the_most_allowed_elements_is_complete() -> None:
    root = page.parse("<body>a<p>b<i>c</i>d</p>e<p>f</p>g</body>")
    assert root is not None
    assert not page.cut_elements(root, 5)
    assert page.cut_elements(root, 4)
    assert "".join(root.itertext()) == "abcde"


def test_lists_and_headings_below_a_depth_limit_get_no_marks() -> None:
    """Each level would rewrite all text in it."""
    for tag in ("blockquote", "h2", "li", "dt"):
        read = extract(f"<body><article>{f'<{tag}>a' * 1_000}</article>", "https://example.com/", None)
        assert len(read.markdown) < 100_000
