"""The words of a PDF as they are read: raised signs, links, forms, other scripts."""

from __future__ import annotations

import pytest

from tests.documents import at, drawn
from tests.pages.formats.pdf_words import word
from websearch_gateway.pages.formats.pdf import pdf
from websearch_gateway.pages.formats.pdf_page import Word
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
        ([("1", 0, 10), ("2", 4, 8.9)], [("12", ())]),
        ([("1", 0, 10), ("2", 4, 8.7)], [("1", ()), ("2", ("sup",))]),
        ([("1", 0, 10), ("2", 1.6, 7)], [("1", ()), ("2", ("sup",))]),
        ([("1", 0, 10), ("2", 1.4, 7)], [("12", ())]),
        ([("1", 0, 10), ("2", -0.8, 7)], [("1", ()), ("2", ("sub",))]),
        ([("1", 0, 10), ("2", -0.6, 7)], [("12", ())]),
    ],
    ids=[
        *("power", "index", "in the middle", "small capitals", "as large", "hardly raised"),
        *(
            "hardly smaller",
            "smaller",
            "least rise",
            "less than it",
            "least fall",
            "less than that",
        ),
    ],
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


def linking(address: str, place: str, text: str) -> str:
    """The Markdown of a page that leads to an address."""
    link = f"<</Type/Annot/Subtype/Link/Rect[{place}]/A<</S/URI/URI({address})>>>>"
    return pdf(drawn(at(20, 250, text), on_page=f"/Annots[{link}]"), URL, "").markdown


def test_a_link_of_a_page_is_a_link_of_its_words() -> None:
    text = linking("https://gull.example/plan", "38 245 90 262", "See the long plan of gulls.")
    assert "See [the long plan](https://gull.example/plan) of gulls." in text


@pytest.mark.parametrize("address", ["javascript:alert(1)", "file:///etc/passwd", ""])
def test_an_address_that_is_not_of_the_web_is_no_link(address: str) -> None:
    assert linking(address, "0 0 300 300", "See the plan.") == "*Page 1*\n\nSee the plan."


def test_a_stated_title_that_is_the_name_of_a_file_yields_to_the_heading() -> None:
    page = at(20, 250, "Of gulls", 20) + at(20, 200, "They eat fish all day.")
    for stated, title in (
        ("gulls2", "Of gulls"),
        ("gulls", "gulls"),
        ("A long tale", "A long tale"),
        ("", "Of gulls"),
    ):
        assert pdf(drawn(page, title=stated), URL, "").title == title
