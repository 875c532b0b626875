"""The words of a PDF become sentences: raised signs, links, broken words, other scripts, listings, drafts."""

from __future__ import annotations

import pytest

from tests.documents import at, drawn
from websearch_gateway.pages.formats import pdf_page
from websearch_gateway.pages.formats.pdf import pdf
from websearch_gateway.pages.formats.pdf_layout import (
    LEAST_NUMBERED,
    MOST_BULLETS,
    MOST_DROP_CAPS,
    Block,
    blocks,
)
from websearch_gateway.pages.formats.pdf_page import MOST_COMPARED, Link, Sheet, Word
from websearch_gateway.pages.formats.pdf_text import (
    Sign,
    in_reading_order,
    marked,
    text_of,
    texts_of,
)

URL = "https://example.com/a.pdf"


def signs(*placed: tuple[str, float, float]) -> list[Sign]:
    """Signs beside each other, each with its height above the baseline and its size."""
    return [Sign(text, 6.0 * at, height, size) for at, (text, height, size) in enumerate(placed)]


@pytest.mark.parametrize(
    ("word", "texts"),
    [
        ([("1", 0, 10), ("0", 0, 10), ("5", 4, 7)], [("10", ()), ("5", ("sup",))]),
        ([("H", 0, 10), ("2", -2, 7), ("O", 0, 10)], [("H", ()), ("2", ("sub",)), ("O", ())]),
        (
            [("m", 0, 10), ("−", 4, 7), ("2", 4, 7), ("/", 0, 10)],
            [("m", ()), ("−2", ("sup",)), ("/", ())],
        ),
        ([("A", 0, 10), ("b", 0, 7)], [("Ab", ())]),
        ([("1", 0, 10), ("2", 4, 10)], [("12", ())]),
        ([("4", 0.5, 7), ("5", 0, 10)], [("45", ())]),
    ],
    ids=["power", "index", "in the middle", "small capitals", "as large", "hardly raised"],
)
def test_a_small_sign_above_or_below_the_line_is_raised_or_lowered(
    word: list[tuple[str, float, float]], texts: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert list(texts_of(marked(signs(*word), 10, 0))) == texts


def test_a_power_in_a_pdf_does_not_touch_its_base() -> None:
    text = (
        "BT /F 10 Tf 20 250 Td (It holds 10) Tj /F 6 Tf 4 Ts (5) Tj 0 Ts /F 10 Tf ( litres.) Tj ET"
    )
    found = pdf(drawn(text), URL, "").markdown
    assert "10" in found
    assert "105" not in found


def word(
    x0: float,
    text: str,
    y: float = 100,
    size: float = 10,
    width: float | None = None,
    **more: object,
) -> Word:
    return Word(x0, x0 + (width if width is not None else 5 * len(text)), y, size, text, **more)  # type: ignore[arg-type]


HEBREW = "שלום"


@pytest.mark.parametrize(
    ("stored", "is_mirrored"),
    [(HEBREW, False), (HEBREW[::-1], True), (f".{HEBREW[::-1]}", True), (f"{HEBREW}.", False)],
)
def test_a_word_from_right_to_left_is_read_so_however_it_is_stored(
    stored: str, *, is_mirrored: bool
) -> None:
    places = range(len(stored)) if is_mirrored else range(len(stored), 0, -1)
    found = in_reading_order([Sign(sign, x, 0, 10) for sign, x in zip(stored, places, strict=True)])
    assert found.removesuffix(".") == HEBREW


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ([word(0, "גג"), word(20, "בב"), word(40, "אא")], "אא בב גג"),
        ([word(0, "גג"), word(20, ",2024"), word(50, "5"), word(60, "אא")], "אא 5 2024, גג"),
        ([word(0, "גג"), word(20, "New"), word(50, "York"), word(80, "אא")], "אא New York גג"),
        (
            [word(0, "The"), word(20, "word"), word(50, "אא"), word(80, "means")],
            "The word אא means",
        ),
        ([word(0, "水門"), word(20, "は閉"), word(40, "ABC")], "水門は閉 ABC"),
    ],
    ids=["all", "numbers", "Latin words inside", "a word inside Latin", "no blanks"],
)
def test_the_words_of_a_line_are_in_the_order_in_which_they_are_read(
    line: list[Word], text: str
) -> None:
    assert text_of(line) == text


def page(words: list[Word], dots: list[tuple[float, float]] | None = None) -> list[Block]:
    return blocks(Sheet(words, "", {}, 300, dots or []))


PROSE = [
    "the",
    "keepers",
    "meet",
    "at",
    "the",
    "old",
    "mill",
    "and",
    "talk",
    "of",
    "the",
    "gates",
    "all",
    "day",
    "long",
]


def line(y: float, words: list[str], x0: float = 40) -> list[Word]:
    found = []
    for text in words:
        found.append(word(x0, text, y))
        x0 = found[-1].x1 + 3
    return found


def test_the_numbers_of_the_lines_of_a_draft_are_left_out() -> None:
    rows = [
        [word(10, str(number)), *line(280 - 20 * number, PROSE)]
        for number in range(1, LEAST_NUMBERED + 1)
    ]
    placed = [one._replace(y=row[-1].y) for row in rows for one in row]
    assert [block.text for block in page(placed)] == [" ".join(PROSE * LEAST_NUMBERED)]


def test_the_numbers_of_rows_and_of_few_lines_stay() -> None:
    table = [
        one
        for number in range(1, 8)
        for one in (
            word(10, str(number), 280 - 12 * number),
            word(60, "gull", 280 - 12 * number),
            word(140, "sea", 280 - 12 * number),
        )
    ]
    assert page(table)[0].rows[0] == ("1", "gull", "sea")
    few = [
        one
        for number in range(1, LEAST_NUMBERED)
        for one in (word(10, str(number), 280 - 12 * number), *line(280 - 12 * number, PROSE))
    ]
    assert any("1" in str(block) for block in page(few))


def test_a_large_first_letter_belongs_to_the_word_beside_it() -> None:
    letter = word(20, "T", 76, 40, 24)
    lower = [*line(88, PROSE, 46), *line(76, PROSE, 46), *line(64, PROSE, 20)]
    words = [letter, *line(100, ["he", *PROSE], 46), *lower]
    assert [block.text[:15] for block in page(words)] == ["The the keepers"]


def test_lines_in_a_typed_font_are_a_listing_with_their_indents() -> None:
    code = [
        word(20, "def", 100, is_typed=True),
        word(40, "lift(n):", 100, is_typed=True),
        word(40, "return", 88, is_typed=True),
        word(85, "n", 88, is_typed=True),
        word(20, "x", 64, is_typed=True),
    ]
    found = page([*line(140, PROSE), *line(128, PROSE), *code, *line(20, PROSE), *line(8, PROSE)])
    assert [block.text for block in found if block.is_listing] == [
        "def lift(n):\n    return   n\n\nx"
    ]
    assert not any(block.is_listing for block in page(code))  # all of the page is typed


def test_bullets_that_are_drawn_make_items() -> None:
    words = [*line(100, ["Short"]), *line(88, ["inner"], 60), *line(76, ["Last"])]
    found = page(words, [(30, 103), (50, 91), (30, 79)])
    assert [(block.text, block.depth) for block in found] == [
        ("Short", 1),
        ("inner", 2),
        ("Last", 1),
    ]


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("neces|sary", "necessary"),
        ("state-of-the|art", "state-of-the-art"),
        ("COVID|19", "COVID-19"),
        ("anti|American", "anti-American"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_stays_if_it_belongs_to_the_word(
    broken: str, whole: str
) -> None:
    first, second = broken.split("|")
    words = [*line(100, [*PROSE, f"{first}\x02"]), *line(88, [second, "ends", "here."])]
    assert page(words)[0].text == f"{' '.join(PROSE)} {whole} ends here."


def linking(address: str, place: str, text: str) -> str:
    """The Markdown of a page that leads to an address."""
    link = f"<</Type/Annot/Subtype/Link/Rect[{place}]/A<</S/URI/URI({address})>>>>"
    return pdf(drawn(at(20, 250, text), on_page=f"/Annots[{link}]"), URL, "").markdown


def test_a_link_of_a_page_is_a_link_of_its_words() -> None:
    text = linking("https://gull.example/plan", "38 245 90 262", "See the long plan of gulls.")
    assert "See [the long plan](https://gull.example/plan) of gulls." in text


def test_the_values_of_a_form_are_text() -> None:
    value = "/Tx BMC BT /F 10 Tf 2 5 Td (Jo Reef) Tj ET EMC"
    look = "/Type/XObject/Subtype/Form/BBox[0 0 100 17]/Resources<</Font<</F 4 0 R>>>>"
    widget = "<</Type/Annot/Subtype/Widget/FT/Tx/T(name)/V(Jo Reef)/F 4/Rect[60 245 160 262]/AP<</N 8 0 R>>>>"
    field = {7: widget, 8: f"<<{look}/Length {len(value)}>>stream\n{value}\nendstream"}
    form = "/AcroForm<</Fields[7 0 R]>>"
    body = drawn(at(20, 250, "Name:"), more=field, catalog=form, on_page="/Annots[7 0 R]")
    assert pdf(body, URL, "").markdown == "*Page 1*\n\nName: Jo Reef"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", ""])
def test_an_address_that_is_not_of_the_web_is_no_link(address: str) -> None:
    assert linking(address, "0 0 300 300", "See the plan.") == "*Page 1*\n\nSee the plan."


@pytest.mark.parametrize("more", [0, 1])
def test_large_letters_and_dots_that_are_too_many_are_part_of_a_drawing(more: int) -> None:
    rows = range(MOST_DROP_CAPS + more)
    letters = [word(20, "T", 76 - 200 * at, 40, 24) for at in rows]
    beside = [
        one
        for at in rows
        for row in range(3)
        for one in line(100 - 12 * row - 200 * at, ["he", *PROSE], 46)
    ]
    assert sum("The" in block.text for block in page([*letters, *beside])) == (
        0 if more else MOST_DROP_CAPS
    )
    dots = [(30.0, 103.0)] * (MOST_BULLETS + more)
    assert [block.depth for block in page(line(100, ["Short"]), dots)] == [0 if more else 1]


def test_a_page_of_many_links_and_words_is_read_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Link] = []
    monkeypatch.setattr(Link, "holds", lambda place, _: compared.append(place))
    words = [word(10 * at, "gull") for at in range(10_000)]
    pdf_page._linked(words, [Link(0, 0, 1, 1, "https://gull.example/")] * 500)
    assert len(compared) == MOST_COMPARED


def test_a_stated_title_that_is_the_name_of_a_file_yields_to_the_heading() -> None:
    page = at(20, 250, "Of gulls", 20) + at(20, 200, "They eat fish all day.")
    for stated, title in (
        ("gulls2", "Of gulls"),
        ("gulls", "gulls"),
        ("A long tale", "A long tale"),
        ("", "Of gulls"),
    ):
        assert pdf(drawn(page, title=stated), URL, "").title == title
