"""Handwritten PDFs become text with page numbers and the headings of their outline."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from tests.documents import at, drawn
from tests.growth import too_much
from websearch_gateway.base import Limits
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.evidence.chunks import chunk
from websearch_gateway.pages.formats import pdf as pdf_module
from websearch_gateway.pages.formats.pdf import LAYOUT, READING, WRITING, Until, pdf

URL = "https://example.com/a/leaflet%20one.pdf"


def ruled(xs: list[float], ys: list[float]) -> str:
    """All lines between cells."""
    across = (f"{xs[0]} {y} m {xs[-1]} {y} l S\n" for y in ys)
    return "".join((*across, *(f"{x} {ys[0]} m {x} {ys[-1]} l S\n" for x in xs)))


def written(*pages: list[str], outline: list[tuple[str, int]] = [], title: str = "") -> bytes:  # noqa: B006
    """A PDF with these lines on its pages; `outline` and `title` as in `drawn`."""
    texts = (
        "BT /F 10 Tf 14 TL 20 280 Td " + " ".join(f"({line}) Tj T*" for line in page) + " ET"
        for page in pages
    )
    return drawn(*texts, outline=outline, title=title)


def test_each_page_has_its_number() -> None:
    page = pdf(
        written(["High water", "at noon."], [], ["Low water."], title="Tide  tables"), URL, ""
    )
    assert page.title == "Tide tables"
    assert page.markdown == "*Page 1*\n\nHigh water at noon.\n\n*Page 3*\n\nLow water."
    assert page.anchors == ((0, "page=1"), (page.markdown.index("*Page 3*"), "page=3"))


def test_the_outline_makes_headings_of_paragraphs_with_its_words() -> None:
    """With any number; in a page that spells a heading otherwise, it is an ordinary paragraph."""
    pages = [
        at(20, 280, "Preface.") + at(20, 250, "1. High Water") + at(20, 220, "It rises."),
        at(20, 280, "It falls."),
    ]
    body = drawn(*pages, outline=[("High water", 0), ("Low water", 1)])
    assert pdf(body, URL, "").markdown == (
        "*Page 1*\n\nPreface.\n\n## 1. High Water\n\nIt rises.\n\n*Page 2*\n\nIt falls."
    )


def test_a_pdf_without_a_title_is_named_after_its_file() -> None:
    assert pdf(written(["Words."]), URL, "").title == "leaflet one.pdf"


@pytest.mark.parametrize(
    "body", [b"%PDF-1.7", b"%PDF-1.7\n" + b"\xff" * 500, written(["Words."])[:120]]
)
def test_a_damaged_pdf_is_refused(body: bytes) -> None:
    with pytest.raises(SearchFetchError, match="damaged"):
        pdf(body, URL, "")


def test_a_pdf_that_needs_a_password_is_encrypted() -> None:
    """Of RC4 with 40 bits (ISO 32000-1, 7.6.3); no password has this check value, so the empty one does not either."""
    lock = (
        b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<"
        + b"4f" * 32
        + b">/U<"
        + b"55" * 32
        + b">>>/ID[<01><02>]"
    )
    body = drawn(at(20, 200, "Words")).replace(b"trailer<<", b"trailer<<" + lock)
    with pytest.raises(SearchFetchError, match="password") as caught:
        pdf(body, URL, "")
    assert caught.value.details["reason"] == "encrypted"


def test_a_pdf_without_text_is_a_scan() -> None:
    with pytest.raises(SearchFetchError, match="no text") as caught:
        pdf(written([], []), URL, "")
    assert caught.value.details["reason"] == "scanned"


def markdown(*pages: str, outline: list[tuple[str, int]] = []) -> str:  # noqa: B006
    return pdf(drawn(*pages, outline=outline), URL, "").markdown


def test_larger_fonts_make_headings_and_the_title() -> None:
    text = at(20, 200, "Of tides and winds that rise and fall at sea.") * 1
    page = pdf(drawn(at(20, 250, "Harbours", 20) + at(20, 225, "Tides", 14) + text), URL, "")
    assert page.title == "Harbours"
    assert "# Harbours\n\n## Tides\n\nOf tides" in page.markdown


SEA = "".join(
    at(20, 150 - 12 * n, "Of tides and winds that rise and fall at the sea.") for n in range(4)
)


@pytest.mark.parametrize(
    ("below", "y"), [("of tides", 245), ("1 Tides", 252), ("2.1 Tides", 252), ("Tides", 252)]
)
def test_a_title_does_not_join_the_heading_below_it(below: str, y: int) -> None:
    """Both have one size: the space between them, the number of the section or the room behind the title parts them."""
    page = pdf(drawn(at(20, 270, "Harbours", 16) + at(20, y, below, 16) + SEA), URL, "")
    assert page.title == "Harbours"
    assert f"# Harbours\n\n# {below}\n\nOf tides" in page.markdown


def test_a_title_in_the_middle_does_not_join_the_heading_at_the_margin() -> None:
    page = pdf(drawn(at(100, 270, "Harbours", 16) + at(20, 252, "on islands", 16) + SEA), URL, "")
    assert "# Harbours\n\n# on islands\n\nOf tides" in page.markdown


@pytest.mark.parametrize(
    ("upper", "lower", "y"),
    [
        ("Harbours of the far North", "and its seas", 243),
        ("Harbours and", "12 seas", 252),
        ("Harbours of the", "North", 252),
        ("Harbours:", "Tides", 252),
        ("Harbours of the far and cold", "North", 252),
    ],
)
def test_a_title_of_two_lines_is_one(upper: str, lower: str, y: int) -> None:
    """Also with wide lines, if the second begins with a number, or if the first cannot be the whole."""
    assert (
        pdf(drawn(at(20, 270, upper, 16) + at(20, y, lower, 16) + SEA), URL, "").title
        == f"{upper} {lower}"
    )


@pytest.mark.parametrize(("mark", "x"), [("1", 33), ("1", 50), ("1.", 36)])
def test_a_number_larger_than_its_text_makes_no_heading(mark: str, x: int) -> None:
    page = pdf(drawn(at(20, 270, mark, 16) + at(x, 270, "Cast off the ropes.") + SEA), URL, "")
    assert page.title == "leaflet one.pdf"
    assert f"*Page 1*\n\n{mark} Cast off the ropes.\n\nOf tides" in page.markdown


def test_columns_are_read_one_after_the_other() -> None:
    words = (
        "anchor rope sail mast",
        "tide wind gull fish",
        "pier wall stone net",
        "hill road bridge ox",
        "south.",
    )
    left = "".join(at(20, 250 - 12 * n, f"Left {line}") for n, line in enumerate(words))
    right = "".join(at(160, 250 - 12 * n, f"Right {line}") for n, line in enumerate(words))
    found = markdown(
        at(20, 275, "A line above both columns that is as wide as the page.") + left + right
    )
    assert found.index("above both") < found.index("Left south.") < found.index("Right anchor")


def test_words_broken_at_the_end_of_a_line_are_whole() -> None:
    found = markdown(
        at(20, 250, "The harbour of the northern island was veri-")
        + at(20, 238, "fied by the crew.")
    )
    assert "was verified by the crew." in found


def test_ruled_cells_are_a_table_and_merged_cells_repeat() -> None:
    """The first cell of the upper row spans two columns: the wall between them begins below it."""
    lines = (
        "20 200 m 260 200 l S 20 180 m 260 180 l S 20 160 m 260 160 l S "
        "20 160 m 20 200 l S 100 160 m 100 180 l S 180 160 m 180 200 l S 260 160 m 260 200 l S "
    )
    cells = [
        (30, 186, "Fees"),
        (190, 186, "Port"),
        (30, 166, "Day"),
        (110, 166, "a | b"),
        (190, 166, "East"),
    ]
    found = markdown(lines + "".join(at(*cell) for cell in cells))
    assert "| Fees | Fees | Port |\n| --- | --- | --- |\n| Day | a \\| b | East |" in found


def test_lines_of_text_in_one_ruled_cell_stay_together() -> None:
    cells = [
        (25, 186, "Berth"),
        (25, 150, "One"),
        (105, 186, "About"),
        (105, 150, "Deep and"),
        (105, 138, "calm"),
    ]
    found = markdown(ruled([20, 100, 200], [200, 170, 130]) + "".join(at(*cell) for cell in cells))
    assert "| Berth | About |\n| --- | --- |\n| One | Deep and calm |" in found


def test_aligned_words_are_a_table_with_its_empty_cells() -> None:
    rows = [
        ("Port", "Depth", "Boats"),
        ("Lark", "", "12"),
        ("", "7 m", "3"),
        ("Gull Bay", "9 m", ""),
    ]
    text = "".join(
        at(x, 250 - 14 * n, cell)
        for n, row in enumerate(rows)
        for x, cell in zip((20, 120, 200), row, strict=True)
        if cell
    )
    assert (
        "| Port | Depth | Boats |\n| --- | --- | --- |\n| Lark |  | 12 |\n|  | 7 m | 3 |\n| Gull Bay | 9 m |  |"
        in (markdown(text + at(20, 150, "The end of it.")))
    )


def test_repeated_headers_footers_and_page_numbers_are_gone() -> None:
    pages = [
        at(20, 285, "Journal of Harbours")
        + at(20, 150, f"Story {n}.")
        + at(140, 10, f"Page {n} of 4")
        for n in range(1, 5)
    ]
    found = markdown(*pages)
    assert "Journal" not in found
    assert " of 4" not in found
    assert all(f"*Page {n}*\n\nStory {n}." in found for n in range(1, 5))


def test_a_turned_page_is_read_upright() -> None:
    """Its content lies on its side, and `/Rotate` turns it back."""
    text = "".join(
        f"BT /F 10 Tf 0 1 -1 0 {50 + 14 * n} {x} Tm ({cell}) Tj ET\n"
        for n, row in enumerate([("Port", "Depth"), ("Lark", "5 m"), ("Gull", "6 m")])
        for x, cell in zip((20, 120), row, strict=True)
    )
    body = drawn(text).replace(b"/Type/Page/Parent", b"/Rotate 90/Type/Page/Parent")
    assert (
        "| Port | Depth |\n| --- | --- |\n| Lark | 5 m |\n| Gull | 6 m |"
        in pdf(body, URL, "").markdown
    )


def test_text_on_its_side_is_read_as_if_it_were_upright() -> None:
    """As a wide table on a page of a book; the few words that run as the page does stand below it."""
    rows = [("Port", "Depth"), ("Lark", "5 m"), ("Gull", "6 m")]
    text = "".join(
        f"BT /F 10 Tf 0 1 -1 0 {50 + 14 * n} {x} Tm ({cell}) Tj ET\n"
        for n, row in enumerate(rows)
        for x, cell in zip((20, 120), row, strict=True)
    )
    assert markdown(text + at(20, 20, "Atlas")) == (
        "*Page 1*\n\n| Port | Depth |\n| --- | --- |\n| Lark | 5 m |\n| Gull | 6 m |\n\nAtlas"
    )


def test_letters_beyond_the_first_plane_are_whole() -> None:
    """The italic letters of formulas, for example."""
    body = drawn(at(20, 200, "A"), unicode="D835DEFC")
    assert pdf(body, URL, "").markdown == "*Page 1*\n\n\U0001d6fc"


def test_rows_of_numbers_at_the_edge_of_each_page_stay() -> None:
    pages = [
        at(20, 285, f"{n}1 {n}2 {n}3") + at(20, 150, "Words") + at(140, 10, f"{n} / 4")
        for n in range(1, 5)
    ]
    found = markdown(*pages)
    assert all(f"*Page {n}*\n\n{n}1 {n}2 {n}3\n\nWords" in found for n in range(1, 5))
    assert " / 4" not in found


def test_no_line_looks_like_the_mark_of_another_page() -> None:
    found = markdown(at(20, 250, "Words") + at(20, 200, "*Page 7*"))
    assert [passage.page for passage in chunk(found)] == [1]


def test_the_work_on_ruling_lines_grows_with_their_number() -> None:
    walls = "".join(f"{x} 0 m {x} 90000 l S " for x in (0, 100, 200))

    def lines(size: int) -> str:
        return "".join(f"0 {4 * n} m 200 {4 * n} l S " for n in range(size // 20))

    assert not too_much(
        lambda text: markdown(walls + text + at(20, 20, "Words")), lines, (4_000,), ()
    )


def test_list_items_keep_their_order_and_depth() -> None:
    marks = [
        (20, 250, "- Rope"),
        (40, 236, "- Long rope"),
        (20, 222, "- Anchor"),
        (20, 208, "1. Cast off"),
    ]
    assert markdown("".join(at(*mark) for mark in marks)).endswith(
        "- Rope\n  - Long rope\n- Anchor\n\n1. Cast off"
    )


def test_lines_cannot_become_other_blocks() -> None:
    found = markdown(
        at(20, 250, "# no heading") + at(20, 200, "> no quotation") + at(20, 150, "| no table")
    )
    assert found == "*Page 1*\n\n\\# no heading\n\n\\> no quotation\n\n\\| no table"


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"{x} 0 m {x} 300 l S 0 {x} m 300 {x} l S " for x in range(300)) * 5
        + at(20, 20, "Words"),
        "0 0 m " + "1 1 l 200 1 l 1 200 l " * 30_000 + "S " + at(20, 20, "Words"),
        "".join(at(10 + n % 280, 10 + n % 270, "Words") for n in range(20_000)),
        "BT /F 10 Tf 20 20 Td (Words " + "a " * 150_000 + ") Tj ET",
        "BT /F 0 Tf 0 0 0 0 0 0 Tm (Words) Tj /F 1e30 Tf 1e30 1e30 Td (Words) Tj ET "
        + at(20, 20, "Words"),
        "".join(f"{x / 40} 200 m {x / 40 + 0.01} 200 l S " for x in range(0, 12_000, 2))
        + at(20, 20, "Words"),
        "BT /F 1 Tf 1 1 Td " + "(a) Tj 3 0 Td " * 20_000 + "(Words) Tj ET",
        "q " * 100_000 + at(20, 20, "Words"),
    ],
)
def test_hostile_pages_are_read_within_the_limits(content: str) -> None:
    """Grids, paths, scattered words, one endless line, impossible fonts and deep nesting."""
    assert "Words" in markdown(content)


@pytest.mark.parametrize("step", ["READING", "LAYOUT", "WRITING"])
@pytest.mark.parametrize("until", [Until(cpu=-1.0, clock=60.0), Until(cpu=60.0, clock=-1.0)])
def test_the_pages_are_read_for_which_there_is_time(
    step: str, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_module, step, until)
    page = pdf(drawn(*[at(20, 200, "Words")] * 3), URL, "")
    assert page.markdown == "*Page 1*\n\nWords"
    assert page.warnings == ("The PDF has 3 pages; only the first 1 were read.",)


def test_processor_time_ends_each_step_where_half_a_processor_is_free() -> None:
    assert READING.clock >= 2 * READING.cpu
    assert READING.cpu < LAYOUT.cpu < WRITING.cpu
    assert READING.clock < LAYOUT.clock < WRITING.clock < Limits().seconds


def test_only_the_first_of_very_many_pages_are_read() -> None:
    body = drawn(*[at(20, 200, "Words")] * 1_010)
    page = pdf(body, URL, "")
    assert "*Page 1000*" in page.markdown
    assert "*Page 1001*" not in page.markdown
    assert "only the first" in page.warnings[0]


@pytest.mark.parametrize(
    ("step", "cpu", "clock"), [(READING, 3.0, 6.0), (LAYOUT, 5.0, 8.0), (WRITING, 7.0, 9.0)]
)
def test_a_step_ends_after_its_seconds(
    step: Until, cpu: float, clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for spent, passed, count in (
        (cpu - 0.1, 0.0, 2),
        (cpu + 0.1, 0.0, 1),
        (0.0, clock - 0.1, 2),
        (0.0, clock + 0.1, 1),
    ):
        since_start = pdf_module._Clock()
        now = SimpleNamespace(
            thread_time=lambda spent=spent: time.thread_time() + spent,
            monotonic=lambda passed=passed: time.monotonic() + passed,
        )
        monkeypatch.setattr(pdf_module, "time", now)
        assert len(list(since_start.items(["first", "second"], step))) == count
        monkeypatch.undo()


def test_headings_have_six_levels() -> None:
    sizes = [30, 28, 26, 24, 22, 20, 18]
    lines = "".join(at(20, 280 - 34 * n, f"{size} gulls", size) for n, size in enumerate(sizes))
    found = markdown(
        lines + at(20, 20, "Of tides and winds that rise and fall, and fall, and rise.")
    )
    marks = [line.split(" ")[0] for line in found.splitlines() if line.startswith("#")]
    assert marks == ["#", "##", "###", "####", "#####", "######", "######"]


@pytest.mark.parametrize(("size", "is_heading"), [(11.3, True), (11.2, False)])
def test_a_heading_is_an_eighth_larger_than_the_text(size: float, *, is_heading: bool) -> None:
    """Sizes are rounded to halves of a point."""
    assert ("# Tides" in markdown(at(20, 220, "Tides", size) + SEA)) == is_heading


def test_a_size_that_the_outline_does_not_use_for_headings_makes_none() -> None:
    page = at(20, 280, "Harbours", 20) + at(20, 240, "Tides", 14) + at(20, 200, "Winds", 14) + SEA
    found = markdown(page, outline=[("Tides", 0)])
    assert "# Harbours\n\n## Tides\n\nWinds\n\nOf tides" in found


LOWER = "".join(
    at(20, 100 - 12 * n, "Of gulls and terns that fall and rise over the sea.") for n in range(4)
)


@pytest.mark.parametrize(("letters", "is_heading"), [(200, True), (201, False)])
def test_a_heading_has_at_most_200_characters(letters: int, *, is_heading: bool) -> None:
    text = "x" * (letters - 6) + " gulls"
    assert ("# x" in markdown(at(20, 220, text, 14) + SEA + LOWER)) == is_heading


def pages_with(*texts: tuple[float, str] | None) -> str:
    """The Markdown of four pages, which have these texts at these heights and words in the middle."""
    return markdown(
        *(
            at(20, 150, f"Story {'abcd'[n]}.") + (at(20, text[0], text[1]) if text else "")
            for n, text in enumerate(texts)
        )
    )


@pytest.mark.parametrize(
    ("heights", "is_left_out"),
    [
        ((272, 272, 272), True),
        ((271, 271, 271), False),
        ((28, 28, 28), True),
        ((29, 29, 29), False),
        ((272, 272), False),
        ((280, 281.9, 278.1), True),
        ((280, 282.1, 284), False),
    ],
    ids=["header", "below it", "footer", "above it", "on two of four", "same place", "moving"],
)
def test_a_header_repeats_in_the_margin_of_three_pages(
    heights: tuple[float, ...], *, is_left_out: bool
) -> None:
    texts = [(height, "Journal of gulls") for height in heights]
    found = pages_with(*texts, *([None] * (4 - len(texts))))
    assert ("Journal" not in found) == is_left_out


def test_a_header_has_at_most_three_lines() -> None:
    lines = ["Gulls", "Larks", "Terns", "Swans"]
    header = "".join(at(20, 294 - 7 * n, text, 6) for n, text in enumerate(lines))
    found = markdown(*(header + at(20, 150, "Story.") for _ in range(3)))
    assert [text for text in lines if text in found] == ["Swans"]
