"""Handwritten PDFs become text with page numbers and the headings of their outline."""

from __future__ import annotations

import pytest

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.formats.pdf import pdf

URL = "https://example.com/a/leaflet%20one.pdf"


def written(*pages: list[str], outline: list[tuple[str, int]] = [], title: str = "") -> bytes:  # noqa: B006
    """A PDF with these lines on its pages. `outline` has titles and page indexes, the second below the first."""
    objects = {1: "<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>", 3: f"<</Title({title})>>"}
    objects[4] = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    kids = []
    for number, lines in enumerate(pages):
        page, content = 20 + 2 * number, 21 + 2 * number
        text = "BT /F 10 Tf 14 TL 20 280 Td " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        resources = "/Resources<</Font<</F 4 0 R>>>>/MediaBox[0 0 300 300]"
        objects[page] = f"<</Type/Page/Parent 2 0 R{resources}/Contents {content} 0 R>>"
        objects[content] = f"<</Length {len(text)}>>stream\n{text}\nendstream"
        kids.append(f"{page} 0 R")
    objects[2] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    objects[5] = "<</Type/Outlines/First 6 0 R/Last 6 0 R>>" if outline else "<</Type/Outlines>>"
    for level, (heading, index) in enumerate(outline):
        number = 6 + level
        below = f"/First {number + 1} 0 R/Last {number + 1} 0 R" if level + 1 < len(outline) else ""
        objects[number] = f"<</Title({heading})/Parent {number - 1} 0 R{below}/Dest[{20 + 2 * index} 0 R/Fit]>>"
    body, places = b"%PDF-1.7\n", {}
    for number, text in sorted(objects.items()):
        places[number] = len(body)
        body += f"{number} 0 obj{text}endobj\n".encode()
    table = "".join(f"{number} 1\n{place:010} 00000 n \n" for number, place in sorted(places.items()))
    trailer = f"trailer<</Root 1 0 R/Info 3 0 R/Size 99>>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 1\n0000000000 65535 f \n{table}{trailer}".encode()


def test_each_page_has_its_number() -> None:
    page = pdf(written(["High water", "at noon."], [], ["Low water."], title="Tide  tables"), URL, "")
    assert page.title == "Tide tables"
    assert page.markdown == "*Page 1*\n\nHigh water\nat noon.\n\n*Page 3*\n\nLow water."


def test_the_outline_gives_the_headings() -> None:
    """A heading stands where the page has it, whatever its number; one that the page spells otherwise, at the top."""
    body = written(
        ["Preface.", "1.2 High Water", "It rises."],
        ["It falls."],
        outline=[("High water", 0), ("Low water", 1)],
    )
    assert pdf(body, URL, "").markdown == (
        "*Page 1*\n\nPreface.\n\n## High water\n\nIt rises.\n\n*Page 2*\n\n### Low water\n\nIt falls."
    )


def test_a_pdf_without_a_title_is_named_after_its_file() -> None:
    assert pdf(written(["Words."]), URL, "").title == "leaflet one.pdf"


@pytest.mark.parametrize("body", [b"%PDF-1.7", b"%PDF-1.7\n" + b"\xff" * 500, written(["Words."])[:120]])
def test_a_damaged_pdf_is_refused(body: bytes) -> None:
    with pytest.raises(SearchFetchError, match="damaged"):
        pdf(body, URL, "")


def test_a_pdf_without_text_is_refused() -> None:
    with pytest.raises(SearchFetchError, match="no text"):
        pdf(written([]), URL, "")
