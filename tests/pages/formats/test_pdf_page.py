"""A page of a PDF becomes words with their places, links, ruling lines and dots."""

from __future__ import annotations

import math

import pypdfium2
import pytest

from tests.documents import at, drawn
from tests.pages.formats.pdf_words import word
from websearch_gateway.pages.formats.pdf import pdf
from websearch_gateway.pages.formats.pdf_page import Link, Sheet, _linked, links, sheet


def sheet_of(content: str, **more: object) -> Sheet:
    """A page with this content."""
    with_page = pypdfium2.PdfDocument(drawn(content, **more))[0]  # type: ignore[arg-type]
    return sheet(with_page, links(with_page))


def texts(found: Sheet) -> list[str]:
    return [word.text for word in found.words]


@pytest.mark.parametrize(("turn", "is_upright"), [(0.14, True), (0.16, False), (-0.14, True)])
def test_text_that_leans_much_is_turned(turn: float, *, is_upright: bool) -> None:
    """In right angles."""
    sine, cosine = math.sin(turn * math.pi / 2), math.cos(turn * math.pi / 2)
    leaning = f"BT /F 10 Tf {cosine} {sine} {-sine} {cosine} 20 100 Tm (DRAFT) Tj ET\n"
    found = sheet_of(at(20, 250, "Tides and winds") + leaning)
    assert ("DRAFT" in texts(found)) == is_upright
    assert found.turned == ("" if is_upright else "DRAFT")


@pytest.mark.parametrize(
    ("line", "level", "upright"),
    [
        ("20 100 m 200 100.9 l", 1, 0),
        ("20 100 m 200 101.1 l", 0, 0),
        ("20 100 m 20.9 200 l", 0, 1),
        ("20 100 m 21.1 200 l", 0, 0),
        ("20 100 m 20.5 100.5 l", 0, 0),
        ("20 100 180 0.5 re", 2, 0),
        ("20 100 m 60 140 80 100 200 100 c", 0, 0),
        ("20 100 m 200 100 l 200 200 l h", 1, 1),
    ],
    ids=["level", "askew", "upright", "leaning", "point", "thin box", "curve", "triangle"],
)
def test_straight_lines_that_are_level_or_upright_are_rulings(
    line: str, level: int, upright: int
) -> None:
    rulings = sheet_of(f"{line} S " + at(20, 250, "Words")).rulings
    assert (len(rulings.level), len(rulings.upright)) == (level, upright)


@pytest.mark.parametrize(
    ("width", "height", "is_dot"),
    [
        (1.4, 1.4, False),
        (1.6, 1.6, True),
        (7.9, 7.9, True),
        (8.1, 8.1, False),
        (4, 4.7, True),
        (4, 4.8, False),
    ],
)
def test_a_small_shape_as_wide_as_high_is_a_dot(
    width: float, height: float, *, is_dot: bool
) -> None:
    found = sheet_of(f"100 100 {width} {height} re f " + at(20, 250, "Words"))
    assert len(found.dots) == is_dot
    if is_dot:
        assert found.dots[0] == pytest.approx((100 + width / 2, 100 + height / 2), abs=0.01)


BOX = "20 100 m 200 100 l S "


@pytest.mark.parametrize(("points", "count"), [(20_000, 1), (20_001, 0)])
def test_lines_of_more_than_20_000_points_are_a_drawing(points: int, count: int) -> None:
    curve = "0 0 m " + "1 1 l " * (points - 3) + "S "
    assert len(sheet_of(BOX + curve + at(20, 250, "Words")).rulings.level) == count


@pytest.mark.parametrize(("objects", "count"), [(20_000, 1), (20_001, 0)])
def test_a_page_of_more_than_20_000_objects_is_a_drawing(objects: int, count: int) -> None:
    blanks = "BT /F 10 Tf 20 20 Td " + "( ) Tj " * (objects - 2) + "ET "
    assert len(sheet_of(BOX + blanks + at(20, 250, "Words")).rulings.level) == count


def test_only_the_first_200_000_characters_of_a_page_are_read() -> None:
    parts = f"({'x' * 20_000}) Tj " * 11
    [text] = sheet_of(f"BT /F 0.001 Tf 20 100 Td {parts}ET").words
    assert len(text.text) == 200_000


@pytest.mark.parametrize(("letters", "is_typed"), [(199, True), (201, False)])
def test_a_font_is_known_as_typed_by_a_name_of_at_most_200_letters(
    letters: int, *, is_typed: bool
) -> None:
    name = "Courier" + "x" * (letters - 7)
    font = f"<</Type/Font/Subtype/Type1/BaseFont/{name}>>"
    [text] = sheet_of(at(20, 100, "gull"), more={4: font}).words
    assert text.is_typed == is_typed


def link_to(address: str) -> str:
    return f"<</Type/Annot/Subtype/Link/Rect[10 95 60 115]/A<</S/URI/URI({address})>>>>"


@pytest.mark.parametrize(("letters", "count"), [(1_999, 1), (2_000, 0)])
def test_an_address_has_less_than_2000_letters(letters: int, count: int) -> None:
    address = "https://gull.example/".ljust(letters, "x")
    found = sheet_of(at(20, 100, "gull"), on_page=f"/Annots[{link_to(address)}]")
    assert [word.link for word in found.words] == [address if count else ""]


def test_the_first_500_links_of_a_page_are_looked_at() -> None:
    annotations = "".join(link_to(f"https://gull.example/{at}") for at in range(501))
    page = pypdfium2.PdfDocument(drawn(at(20, 100, "gull"), on_page=f"/Annots[{annotations}]"))[0]
    assert len(links(page)) == 500


@pytest.mark.parametrize(
    ("place", "is_linked"),
    [((10, 95, 60, 115), True), ((35, 95, 60, 115), False), ((10, 105, 60, 115), False)],
)
def test_a_link_holds_a_word_by_its_middle(
    place: tuple[float, float, float, float], *, is_linked: bool
) -> None:
    [text] = sheet_of(at(20, 100, "gulls")).words
    assert Link(*place, "https://gull.example/").holds(text) == is_linked


def test_a_word_belongs_to_the_first_of_two_links() -> None:
    both = link_to("https://gull.example/") + link_to("https://lark.example/")
    [text] = sheet_of(at(20, 100, "gulls"), on_page=f"/Annots[{both}]").words
    assert text.link == "https://gull.example/"


@pytest.mark.parametrize(
    ("rotation", "matrix"),
    [(0, "1 0 0 1"), (90, "0 1 -1 0"), (180, "-1 0 0 -1"), (270, "0 -1 1 0")],
)
def test_a_turned_page_is_as_high_as_it_is_shown(rotation: int, matrix: str) -> None:
    body = drawn(f"BT /F 10 Tf {matrix} 150 100 Tm (gulls) Tj ET")
    body = body.replace(b"[0 0 300 300]", b"[0 0 300 200]")
    body = body.replace(b"/Type/Page/Parent", b"/Rotate %d/Type/Page/Parent" % rotation)
    found = sheet(pypdfium2.PdfDocument(body)[0])
    assert (texts(found), found.height) == (["gulls"], 300 if rotation % 180 else 200)


def test_each_line_of_a_page_has_its_own_direction() -> None:
    side = "BT /F 10 Tf 0 1 -1 0 250 100 Tm (on its side) Tj ET\n"
    found = sheet_of(at(20, 250, "Tides and winds") + side + at(20, 100, "Gulls and terns"))
    assert texts(found) == ["Tides", "and", "winds", "Gulls", "and", "terns"]
    assert found.turned == "on its side"


@pytest.mark.parametrize(("words", "is_linked"), [(500_000, True), (500_001, False)])
def test_links_and_words_are_compared_a_million_times_at_most(
    words: int, *, is_linked: bool
) -> None:
    page = [word(0, "gull", link="https://gull.example/")] * (words - 1)
    page.append(word(20, "lark", 100))
    places = [
        Link(900, 0, 901, 1, "https://tern.example/"),
        Link(0, 0, 99, 199, "https://lark.example/"),
    ]
    assert (_linked(page, places)[-1].link == "https://lark.example/") == is_linked


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ("(10) Tj /F 6 Tf 4 Ts (5) Tj", "10\ufdd05\ufdd4"),
        ("/F 6 Tf 4 Ts (5) Tj /F 10 Tf 0 Ts (10) Tj", "\ufdd05\ufdd410"),
        ("(10) Tj 4 Ts (5) Tj", "105"),
    ],
    ids=["power", "note before a word", "as large"],
)
def test_a_small_sign_is_raised_above_the_baseline_of_its_word(parts: str, text: str) -> None:
    [found] = sheet_of(f"BT /F 10 Tf 20 100 Td {parts} ET").words
    assert (found.text, found.y, found.size) == (text, 100, 10)


def test_the_values_of_a_form_are_text() -> None:
    value = "/Tx BMC BT /F 10 Tf 2 5 Td (Jo Reef) Tj ET EMC"
    look = "/Type/XObject/Subtype/Form/BBox[0 0 100 17]/Resources<</Font<</F 4 0 R>>>>"
    widget = "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Jo Reef)/F 4/Rect[60 245 160 262]/AP<</N 8 0 R>>>>"
    field = {7: widget, 8: f"<<{look}/Length {len(value)}>>stream\n{value}\nendstream"}
    form = "/AcroForm<</Fields[7 0 R]>>"
    body = drawn(at(20, 250, "Name:"), more=field, catalog=form, on_page="/Annots[7 0 R]")
    assert pdf(body, "https://example.com/a.pdf", "").markdown == "*Page 1*\n\nName: Jo Reef"
