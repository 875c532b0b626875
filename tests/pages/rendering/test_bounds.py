"""Each search around or in an element, and each repetition, ends at a limit of its own."""

from __future__ import annotations

import pytest

from tests.pages.rendering.containers import as_fragment
from websearch_gateway.pages.formats.rendering import parse_html
from websearch_gateway.pages.rendering import with_anchors
from websearch_gateway.pages.rendering.notes import mark_notes
from websearch_gateway.pages.rendering.prepare import _write_scripts_in_code
from websearch_gateway.pages.rendering.scripts import scripted
from websearch_gateway.pages.rendering.styles import apply_styles
from websearch_gateway.pages.rendering.vocabulary import NOTE


def anchors_of(html: str) -> list[str]:
    """The ids that lead to the blocks of a page."""
    _, anchors = with_anchors(parse_html(html), "https://example.com/")
    return [identifier for _, identifier in anchors]


@pytest.mark.parametrize(("before", "ids"), [(7, ["tides"]), (8, [])])
def test_an_id_is_sought_in_eight_elements_of_a_heading(before: int, ids: list[str]) -> None:
    heading = "<h2>" + "<span>T</span>" * before + "<a id=tides></a>ides</h2>"
    assert anchors_of(f"<p>Words</p>{heading}") == ids


@pytest.mark.parametrize(("levels", "ids"), [(6, ["tides"]), (7, [])])
def test_the_id_of_a_heading_is_sought_six_levels_up(levels: int, ids: list[str]) -> None:
    inner = "<div>" * (levels - 1) + "<h2>Tides</h2>" + "</div>" * (levels - 1)
    assert anchors_of(f"<p>Words</p><div id=tides>{inner}</div>") == ids


def notes_in(html: str) -> list[str]:
    """What is marked as a note or as the mark of one."""
    tree = parse_html(html)
    mark_notes(tree)
    return [element.get(NOTE) for element in tree.iter() if element.get(NOTE)]


def note(number: int = 1, around: str = "", text: str = "A note.") -> str:
    """The mark of a note, and the note with elements around the place of its number."""
    end = around.replace("<", "</")
    return (
        f"<p>Words<sup><a href=#n{number}>{number}</a></sup></p>"
        f"<ol><li>{around}<i id=n{number}></i>{end} {text}</li></ol>"
    )


@pytest.mark.parametrize(("levels", "is_note"), [(2, True), (4, False)])
def test_the_block_of_a_note_is_sought_four_levels_up(levels: int, *, is_note: bool) -> None:
    assert bool(notes_in(note(around="<b>" * levels))) == is_note


@pytest.mark.parametrize(("letters", "is_note"), [(2_990, True), (3_001, False)])
def test_a_note_has_at_most_3000_letters(letters: int, *, is_note: bool) -> None:
    assert bool(notes_in(note(text="x" * letters))) == is_note


@pytest.mark.parametrize(("around", "is_code"), [(19, True), (20, False)])
def test_code_around_a_raised_sign_is_sought_twenty_levels_up(
    around: int, *, is_code: bool
) -> None:
    tree = parse_html("<code>" + "<b>" * around + "10<sup>4</sup>" + "</b>" * around + "</code>")
    _write_scripts_in_code(tree)
    assert ("".join(tree.itertext()) == "10^4") == is_code


@pytest.mark.parametrize(("letters", "text"), [(40, f"^{'a' * 40}"), (41, "a" * 41)])
def test_a_raised_text_of_more_than_40_letters_is_a_remark(letters: int, text: str) -> None:
    assert scripted("a" * letters, "1", "", is_raised=True).strip() == text


@pytest.mark.parametrize(("blocks", "is_linked"), [(50, True), (51, False)])
def test_a_link_is_around_fifty_blocks_at_most(blocks: int, *, is_linked: bool) -> None:
    link = f"<a href=https://gull.example/>{'<p>Words</p>' * blocks}</a>"
    assert ("gull.example" in as_fragment(link)) == is_linked


@pytest.mark.parametrize(("levels", "marks"), [(20, 20), (30, 20)])
def test_twenty_blocks_in_each_other_have_marks(levels: int, marks: int) -> None:
    assert as_fragment("<blockquote>" * levels + "Words").count(">") == marks


@pytest.mark.parametrize("level", range(1, 7))
def test_each_level_of_headings_has_its_mark(level: int) -> None:
    assert as_fragment(f"<p>Words</p><h{level}>Tides</h{level}>").endswith(f"\n{'#' * level} Tides")


def styled(html: str) -> list[str]:
    """The elements of a tree after its styles have become elements."""
    tree = parse_html(html)
    apply_styles(tree)
    return [element.tag for element in tree.iter("span", "b", "strong", "div", "br", "p", "pre")]


@pytest.mark.parametrize(("rules", "is_applied"), [(199, True), (200, False)])
def test_the_first_200_rules_of_a_page_are_applied(rules: int, *, is_applied: bool) -> None:
    other = "".join(f".x{at}{{display:block}}" for at in range(rules))
    html = f"<style>{other}.last{{display:block}}</style><p>a<span class=last>b</span></p>"
    assert ("span" not in styled(html)) == is_applied


@pytest.mark.parametrize(("around", "is_applied"), [(19, True), (20, False)])
def test_the_classes_around_an_element_are_sought_twenty_levels_up(
    around: int, *, is_applied: bool
) -> None:
    inner = "<i>" * around + "<span class=last>b</span>" + "</i>" * around
    html = f"<style>.outer .last{{display:block}}</style><div class=outer>{inner}</div>"
    assert ("span" not in styled(html)) == is_applied


@pytest.mark.parametrize(("letters", "is_applied"), [(199_900, True), (200_001, False)])
def test_200_000_letters_of_a_style_sheet_are_read(letters: int, *, is_applied: bool) -> None:
    rule = ".last{display:block}"
    sheet = "." + "x" * (letters - len(rule) - 3) + "{}" + rule
    html = f"<style>{sheet}</style><p>a<span class=last>b</span></p>"
    assert ("span" not in styled(html)) == is_applied


@pytest.mark.parametrize(("first", "breaks"), [(5_000, 5_002), (5_001, 5_001)])
def test_about_5000_lines_of_an_element_are_kept(first: int, breaks: int) -> None:
    lines = "x\n" * first + "x"
    html = f"<div style='white-space:pre-wrap'><b>{lines}</b><b>x\nx\nx</b></div>"
    assert styled(html).count("br") == breaks


@pytest.mark.parametrize(("around", "is_named"), [(7, True), (9, False)])
def test_the_language_of_code_is_sought_eight_levels_up(around: int, *, is_named: bool) -> None:
    inner = "<div>" * around + "<pre>a = 1\nb = 2</pre>" + "</div>" * around
    assert ("```python" in as_fragment(f"<div class=language-python>{inner}</div>")) == is_named


def test_the_first_2000_marks_of_a_page_have_notes() -> None:
    marks = "".join(f"<sup><a href=#n{at}>1</a></sup>" for at in range(2_001))
    notes = "".join(f"<li id=n{at}>Note</li>" for at in range(2_001))
    assert len(notes_in(f"<p>{marks}</p><ol>{notes}</ol>")) == 2 * 2_000
