"""Slides become sections with their lists, tables, charts, pictures and notes."""

from __future__ import annotations

import pytest

from tests.documents import A, P, R, relations, shape, slides
from websearch_gateway.pages.formats.containers import zipped

URL = "https://example.com/a"

CHART = (
    '<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    f"{A}><c:chart><c:title><c:tx><a:t>Boats by pier</a:t></c:tx></c:title><c:ser><c:tx><c:v>2024</c:v></c:tx>"
    '<c:cat><c:pt idx="0"><c:v>East</c:v></c:pt><c:pt idx="1"><c:v>West</c:v></c:pt></c:cat>'
    '<c:val><c:pt idx="0"><c:v>12.5</c:v></c:pt><c:pt idx="1"><c:v>7</c:v></c:pt></c:val>'
    "</c:ser></c:chart></c:chartSpace>"
)


def read(body: bytes) -> str:
    return zipped(body, "https://example.com/a", "").markdown


def test_the_title_comes_first_and_shapes_follow_from_top_to_bottom() -> None:
    tree = shape("Lower", top=900) + shape("Upper", top=100) + shape("Harbour", "title", top=500)
    assert (
        read(slides(tree, shape("Alone"))) == "## Harbour\n\nUpper\n\nLower\n\n## Slide 2\n\nAlone"
    )


def test_what_every_slide_repeats_is_left_out() -> None:
    assert (
        read(slides(shape("Tides", "title") + shape("3", "sldNum") + shape("Port Ltd", "ftr")))
        == "## Tides"
    )


def test_a_body_is_a_list_with_its_levels() -> None:
    body = shape("Rope\nLong rope\nAnchor", "body").replace(
        "<a:p><a:r><a:t>Long", '<a:p><a:pPr lvl="1"/><a:r><a:t>Long'
    )
    assert (
        read(slides(shape("Tools", "title") + body))
        == "## Tools\n\n* Rope\n  * Long rope\n* Anchor"
    )


def test_tables_repeat_merged_cells() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<a:tc {more}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = (
        cell("Top", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("Side", 'rowSpan="2"') + cell("1"),
        cell("", 'vMerge="1"') + cell("2"),
    )
    table = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    frame = f"<p:graphicFrame><a:graphic><a:tbl>{table}</a:tbl></a:graphic></p:graphicFrame>"
    assert "| Top | Top |\n| --- | --- |\n| Side | 1 |\n| Side | 2 |" in read(slides(frame))


def test_charts_notes_and_pictures() -> None:
    tree = (
        '<p:graphicFrame><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" r:id="c"/>'
        '</p:graphicFrame><p:grpSp><p:pic><p:cNvPr name="Picture 4" descr="A lighthouse"/>'
        '<a:blip r:embed="i"/></p:pic></p:grpSp>'
    )
    notes = f"<p:notes {P} {A} {R}>{shape('7', 'sldNum')}{shape('Greet them.', 'body')}</p:notes>"
    parts: dict[str, str | bytes] = {
        "ppt/slides/_rels/slide1.xml.rels": relations(
            {
                "c": ("chart", "../charts/c.xml"),
                "i": ("image", "../m.png"),
                "n": ("notesSlide", "../notes.xml"),
            }
        ),
        "ppt/charts/c.xml": CHART,
        "ppt/notes.xml": notes,
    }
    assert read(slides(tree, parts=parts)) == (
        "## Slide 1\n\n**Chart: Boats by pier**\n\n|  | 2024 |\n| --- | --- |\n| East | 12.5 |\n| West | 7 |\n\n"
        "[Image: A lighthouse]\n\n### Notes\n\nGreet them."
    )


def test_hidden_slides_are_left_out_with_a_warning() -> None:
    page = zipped(slides(shape("Shown"), shape("Secret"), show="0"), "https://example.com/a", "")
    assert "Secret" not in page.markdown
    assert page.warnings == ("Hidden slides were left out: 1.",)


@pytest.mark.parametrize(
    ("numbers", "marks"),
    [
        ('type="arabicPeriod" startAt="5"', ["5.", "6."]),
        ('type="alphaLcParenR"', ["- a.", "- b."]),
        ('type="romanUcPeriod" startAt="4"', ["- IV.", "- V."]),
    ],
)
def test_lists_of_slides_count_as_they_say(numbers: str, marks: list[str]) -> None:
    lines = "".join(
        f"<a:p><a:pPr><a:buAutoNum {numbers}/></a:pPr><a:r><a:t>{name}</a:t></a:r></a:p>"
        for name in ("rope", "knot")
    )
    text = zipped(slides(f"<p:sp><p:nvSpPr/><p:txBody>{lines}</p:txBody></p:sp>"), URL, "").markdown
    assert text.split("\n")[-2:] == [f"{marks[0]} rope", f"{marks[1]} knot"]
