"""Charts are tables of their points; diagrams and pictures are the words in them."""

from __future__ import annotations

import pytest
from lxml import etree

from tests.documents import A, R, packed
from websearch_gateway.pages.formats.office_drawings import (
    Embedded,
    embedded,
    picture,
    write_embedded,
)
from websearch_gateway.pages.formats.package import Package, Relation, Relations
from websearch_gateway.pages.formats.rendering import Builder, markdown_of

C = 'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
D = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
RELATIONS = Relations(
    p=Relation("image", "word/media/pier.png"),
    c=Relation("chart", "word/charts/c.xml"),
    d=Relation("diagramData", "word/diagrams/d.xml"),
)


def drawing(inside: str) -> object:
    return etree.fromstring(f"<drawing {A} {R} {C} {D}>{inside}</drawing>")


def written(root: str, *, is_diagram: bool = False) -> str:
    builder = Builder()
    package = Package(packed({"part.xml": root}))
    write_embedded(package, Embedded("part.xml", is_diagram=is_diagram), builder)
    return markdown_of(builder)


def series(name: str, categories: dict[int, str], values: dict[int, str], axes: str) -> str:
    def points(texts: dict[int, str]) -> str:
        return "".join(f'<c:pt idx="{at}"><c:v>{text}</c:v></c:pt>' for at, text in texts.items())

    first, second = axes.split()
    return (
        f"<c:ser><c:tx><c:v>{name}</c:v></c:tx><c:{first}>{points(categories)}</c:{first}>"
        f"<c:{second}>{points(values)}</c:{second}></c:ser>"
    )


@pytest.mark.parametrize("axes", ["cat val", "xVal yVal"])
def test_a_chart_has_a_row_for_each_point_and_a_column_for_each_series(axes: str) -> None:
    east = series("East", {0: "May", 1: "June"}, {0: "3"}, axes)
    west = series("West", {1: "June", 2: "July"}, {1: "5", 2: "8", 3: "9"}, axes)
    assert written(f"<c:chart {C}>{east}{west}</c:chart>") == (
        "**Chart**\n\n|  | East | West |\n| --- | --- | --- |\n| May | 3 |  |\n| June |  | 5 |\n| July |  | 8 |\n|  |  | 9 |"
    )


def test_a_chart_without_points_has_its_title() -> None:
    title = "<c:chart><c:title><a:t>Boats</a:t></c:title></c:chart>"
    assert written(f"<c:chartSpace {C} {A}>{title}</c:chartSpace>") == "**Chart: Boats**"


def test_a_diagram_is_a_list_of_its_words() -> None:
    words = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in ("Rope", " ", "Knot"))
    assert written(f"<d:data {D} {A}>{words}</d:data>", is_diagram=True) == "* Rope\n* Knot"


def test_a_drawing_says_which_charts_and_diagrams_it_holds() -> None:
    inside = '<c:chart r:id="c"/><d:relIds r:dm="d"/><c:chart r:id="lost"/>'
    assert list(embedded(drawing(inside), RELATIONS)) == [
        Embedded("word/charts/c.xml"),
        Embedded(""),
        Embedded("word/diagrams/d.xml", is_diagram=True),
    ]


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ('<a:pic descr="A pier"/><a:blip r:embed="p"/>', "[Image: A pier]"),
        ('<a:blip r:embed="p"/>', "[Image: pier.png]"),
        ('<v:imagedata xmlns:v="v" r:id="p" alt="Old pier"/>', "[Image: Old pier]"),
        ('<a:blip r:embed="lost"/>', "[Image]"),
        ('<a:shape descr="An arrow"/>', "[Image: An arrow]"),
        ("<a:shape/>", ""),
    ],
)
def test_a_picture_is_named_by_its_alternative_text_or_its_file(inside: str, text: str) -> None:
    assert picture(drawing(inside), RELATIONS) == text


def test_fifty_series_of_a_chart_are_read() -> None:
    one = series("a", {0: "x"}, {0: "1"}, "cat val")
    rest = "the rest of this chart is left out"
    for count, is_cut in ((50, False), (51, True)):
        text = written(f"<c:chartSpace {C} {A}>{one * count}</c:chartSpace>")
        assert text.splitlines()[2].count("| a ") == 50
        assert (rest in text) == is_cut


@pytest.mark.parametrize(("points", "is_cut"), [(2_000, False), (2_001, True)])
def test_two_thousand_points_of_a_chart_are_read(points: int, *, is_cut: bool) -> None:
    one = series("a", {}, dict.fromkeys(range(points), "1"), "cat val")
    text = written(f"<c:chartSpace {C} {A}>{one}</c:chartSpace>")
    assert text.count("\n| 1 |") == 2_000
    assert ("the rest of this chart is left out" in text) == is_cut
