from __future__ import annotations

import numpy as np
import pytest

from websearch_gateway.pages.extraction import blocks, page
from websearch_gateway.pages.extraction.choice import blank, chosen, threshold
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.extraction.measures import Measures

PAGE = """<body><nav><a href=/a>Home</a> <a href=/b>Shop</a></nav><main><h1>Head</h1><p>Some <b>bold</b> text here.</p>
<pre>code()</pre><p>More text after it.</p><table><tr><th>K<th>V<tr><td>a<td>b</table></main>
<footer>All rights</footer>"""


def outline_of(html: str) -> blocks.Outline:
    root = page.parse(html)
    assert root is not None
    page.strip_unread(root)
    return blocks.outline(root)


def kept(html: str, likely: dict[str, float]) -> list[str]:
    outline = outline_of(html)
    chances = np.array([likely.get(block.text.strip(), 0.0) for block in outline.blocks])
    keep = chosen(Measures(outline, ""), chances)
    return [b.text.strip() for b, k in zip(outline.blocks, keep, strict=True) if k]


def test_code_and_headings_between_kept_text_are_kept() -> None:
    likely = {"Head": 0.06, "Some bold text here.": 0.9, "More text after it.": 0.9}
    assert kept(PAGE, likely) == ["Head", "Some bold text here.", "code()", "More text after it."]


def test_a_table_is_kept_whole_if_most_of_it_is_kept() -> None:
    assert kept(PAGE, {"K": 0.9, "V": 0.9, "a": 0.9}) == ["K", "V", "a", "b"]


LIST = "<p>Text before it.</p><ol><li>first<ul><li>inner</ul><li>second</ol><p>Text after it.</p>"


def test_a_list_is_kept_whole_if_most_of_it_is_kept() -> None:
    assert kept(LIST, {"first": 0.9, "inner": 0.9}) == ["first", "inner", "second"]


REFERENCE = """<body><nav>Menu</nav><{main}><h1>Class</h1><p>It opens files and closes them again.</p><pre>a</pre>
<h2>read()</h2><p>Added in: v1</p><pre>b</pre><p>Reads all that is there.</p><pre>c</pre><nav>Next page</nav>
<p>Never</p></main></body>"""
REFERENCE_TEXT = {
    "It opens files and closes them again.": 0.9,
    "Reads all that is there.": 0.9,
    "a": 0.9,
    "b": 0.9,
    "c": 0.9,
}
CRUMBS = {
    "Class": 0.1,
    "read()": 0.1,
    "Added in: v1": 0.1,
    "Next page": 0.3,
    "Menu": 0.3,
    "Never": 0.01,
}


def test_the_main_element_of_a_reference_page_is_kept_as_a_whole_without_navigation() -> None:
    found = kept(REFERENCE.format(main="main"), REFERENCE_TEXT | CRUMBS)
    assert {"Class", "read()", "Added in: v1", *REFERENCE_TEXT} == set(found)


def test_a_page_that_a_known_program_wrote_has_a_main_element_without_a_mark() -> None:
    written = (
        REFERENCE.format(main="div")
        .replace("<p>It", "<p><code class='docutils'></code>It")
        .replace("</main>", "</div>")
    )
    found = kept(written, REFERENCE_TEXT | CRUMBS)
    assert {"Class", "read()", "Added in: v1", *REFERENCE_TEXT} == set(found)


def test_a_generated_page_is_kept_to_its_end_even_if_one_section_has_nearly_all_text() -> None:
    long = "<p>" + "A long section. " * 40 + "</p>" + "<pre>code()</pre>" * 3
    page = (
        "<body><div class=bd><div class=section><h1><code class='docutils'>Kettle</code></h1>"
        f"<div class=section><h2>Boiling</h2>{long}</div>"
        "<div class=section><h2>Limits</h2><p>It does not support:</p><ul><li><p>Ice.</p></li></ul></div>"
        "</div></div><div class=ft><a href=/>Menu of all pages</a></div></body>"
    )
    found = kept(
        page,
        {
            "A long section. " * 39 + "A long section.": 0.9,
            "code()": 0.9,
            "Ice.": 0.1,
            "Limits": 0.1,
        },
    )
    assert {"Limits", "Ice."} < set(found)
    assert "Menu of all pages" not in found


@pytest.mark.parametrize(
    "main",
    ["div", "main itemscope itemtype='https://schema.org/QAPage'"],
    ids=["unmarked", "a thread"],
)
def test_on_any_other_page_only_the_likely_blocks_are_kept(main: str) -> None:
    assert "Added in: v1" not in kept(REFERENCE.format(main=main), REFERENCE_TEXT | CRUMBS)


def test_an_unlikely_list_between_kept_text_is_dropped() -> None:
    assert kept(LIST, {"Text before it.": 0.9, "Text after it.": 0.9, "first": 0.2}) == [
        "Text before it.",
        "Text after it.",
    ]


def test_the_threshold_is_lower_for_an_uncertain_page() -> None:
    words = np.full(4, 10.0)
    clear, unclear = np.array([0.95, 0.9, 0.3, 0.01]), np.array([0.4, 0.35, 0.3, 0.2])
    assert threshold(words, clear) > 0.3 >= threshold(words, unclear)


def test_blanking_leaves_only_the_text_of_the_chosen_blocks() -> None:
    root = page.parse(
        "<div><p>keep <i>this</i></p><p>drop <img alt=me> that</p> and the rest</div>"
    )
    assert root is not None
    outline = blocks.outline(root)
    blank(outline, np.array([True, False, False]))
    assert "".join(root.itertext()).split() == ["keep", "this"]
    assert not root.xpath("//@alt")


@pytest.mark.parametrize(
    ("opening", "expected"),
    [
        ("<div id='onetrust-consent-sdk'>", True),
        ("<div class='page cookie-notice'>", True),
        ("<div class='eu-cookie-compliance-banner'>", True),
        ("<div class='cookies'>", False),
        ("<div class='category-cookies'>", False),
    ],
)
def test_a_box_that_asks_for_consent_is_known_by_its_name(opening: str, expected: bool) -> None:
    root = page.parse(f"<p>Before.</p>{opening}<p>One.</p></div><p>After.</p><p>The end.</p>")
    assert root is not None
    assert Measures(blocks.outline(root), "").in_consent().tolist() == [
        False,
        expected,
        False,
        False,
    ]


def test_a_box_around_most_of_the_page_does_not_only_ask_for_consent() -> None:
    root = page.parse("<div class='gdpr'><p>One.</p><p>Two.</p></div><p>Three.</p>")
    assert root is not None
    assert Measures(blocks.outline(root), "").in_consent().tolist() == [False] * 3


TOLD = "A kettle of two litres"


@pytest.mark.parametrize(
    ("again", "count"),
    [
        (f"<aside><p>{TOLD}</p></aside>", 1),
        (f"<p>{TOLD}</p>", 2),  # beside each other, as in a poem
        (f"<div><h2>{TOLD}</h2></div>", 2),
        (f"<table><tr><th>k<td>{TOLD}</table>", 2),
        ("<aside><p>A kettle</p></aside>" * 2, 3),
        (f"<div><h2>k</h2><p>{TOLD}</p></div>", 2),
        (f"<div><h2>k</h2><p>{TOLD}</p></div>" * 2, 2),
        (f"<ul><li><p>k</p><p>{TOLD}</p><li><p>k</p><p>{TOLD}</p></ul>", 1),
    ],
    ids=[
        "elsewhere",
        "beside",
        "a heading",
        "a cell",
        "a few words",
        "an answer",
        "one heading twice",
        "a list",
    ],
)
def test_a_text_that_stands_twice_on_a_page_is_kept_once(again: str, count: int) -> None:
    found = kept(f"<main><p>{TOLD}</p>{again}</main>", {TOLD: 0.9, "A kettle": 0.9, "k": 0.9})
    assert len([text for text in found if text != "k"]) == count


def test_documentation_keeps_what_it_repeats() -> None:
    prose = "<p>It boils water.</p>" * 9
    markup = (
        f"<body><article><h1>Kettles</h1><p>{TOLD}.</p><div><p>{TOLD}.</p></div>{prose}</article>"
    )
    for url, count in (
        ("https://example.com/docs/kettles", 2),
        ("https://example.com/shop/kettles", 1),
    ):
        assert extract(markup, url, None).markdown.count(TOLD) == count


def test_the_threshold_stays_between_15_and_60_percent() -> None:
    words = np.full(4, 10.0)
    assert threshold(words, np.full(4, 0.99)) == 0.6
    assert threshold(words, np.full(4, 0.05)) == 0.15
    assert threshold(words, np.full(4, 0.5)) == 0.5


@pytest.mark.parametrize(
    ("items", "count"), [(("one two", "three four"), 2), (("one", "three four"), 1)]
)
def test_half_of_the_words_of_a_list_keep_all_of_it(items: tuple[str, str], count: int) -> None:
    listed = "".join(f"<li>{item}</li>" for item in items)
    assert len(kept(f"<ul>{listed}</ul>", {items[0]: 0.9})) == count


@pytest.mark.parametrize(("likely", "is_kept"), [(0.06, True), (0.04, False)])
def test_a_table_or_heading_at_kept_text_is_kept_if_it_is_not_very_unlikely(
    likely: float, *, is_kept: bool
) -> None:
    table = "<table><tr><th>K<th>V<tr><td>a<td>b</table>"
    assert ("b" in kept(f"<p>Text</p>{table}", {"Text": 0.9, "a": likely})) == is_kept
    heading = "<h2>Head</h2><p>Text</p>"
    assert ("Head" in kept(heading, {"Text": 0.9, "Head": likely})) == is_kept


def test_a_marked_main_element_with_two_blocks_of_code_is_no_reference() -> None:
    two = REFERENCE.format(main="main").replace("<pre>c</pre>", "")
    assert "Added in: v1" not in kept(two, REFERENCE_TEXT | CRUMBS)


@pytest.mark.parametrize(("likely", "is_kept"), [(0.06, True), (0.04, False)])
def test_what_is_very_unlikely_is_left_out_of_a_reference(likely: float, *, is_kept: bool) -> None:
    likelihoods = REFERENCE_TEXT | CRUMBS | {"Never": likely}
    assert ("Never" in kept(REFERENCE.format(main="main"), likelihoods)) == is_kept


@pytest.mark.parametrize(("before", "is_kept"), [(2, True), (3, False)])
def test_the_first_three_marked_elements_may_be_the_main_one(before: int, *, is_kept: bool) -> None:
    markup = REFERENCE.format(main="main").replace(
        "<nav>Menu", "<main><p>Other</p></main>" * before + "<nav>Menu"
    )
    assert ("Added in: v1" in kept(markup, REFERENCE_TEXT | CRUMBS)) == is_kept


@pytest.mark.parametrize(
    ("inside", "outside", "crumbs"), [(88, 9, ["in"]), (86, 11, ["in", "out"])]
)
def test_the_main_element_of_a_generated_page_has_nine_tenths_of_its_words(
    inside: int, outside: int, crumbs: list[str]
) -> None:
    """The three blocks of code have a word each."""
    text, more = ("word " * inside).strip(), ("more " * outside).strip()
    page = (
        f"<body><div><div><p><code class='docutils'>{text}</code></p>{'<pre>code</pre>' * 3}"
        f"<p>in</p></div><p>{more}</p><p>out</p></div></body>"
    )
    found = kept(page, {text: 0.9, more: 0.9, "code": 0.9, "in": 0.1, "out": 0.1})
    assert [crumb for crumb in ("in", "out") if crumb in found] == crumbs
