"""Documents that the usual libraries write are read with their structure."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import pytest

from websearch_gateway.pages.formats.containers import zipped

URL = "https://example.com/a"


def saved(document: Any) -> bytes:
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def test_a_document_of_python_docx() -> None:
    document = pytest.importorskip("docx").Document()
    document.core_properties.title = "Harbour handbook"
    document.add_heading("Harbour", 0)
    document.add_heading("Tides", 2)
    document.add_paragraph("The tide ").add_run("rises").bold = True
    for text, style in (
        ("Rope", "List Bullet"),
        ("Long rope", "List Bullet 2"),
        ("Row", "List Number"),
    ):
        document.add_paragraph(text, style=style)
    document.add_paragraph("So he said.", style="Intense Quote")
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Wide"
    table.cell(1, 0).text, table.cell(1, 1).text = "a", "b"
    document.sections[0].header.paragraphs[0].text = "Port Ltd"
    page = zipped(saved(document), URL, "")
    assert page.title == "Harbour handbook"
    assert page.markdown == (
        "# Harbour\n\n## Tides\n\nThe tide **rises**\n\n* Rope\n  * Long rope\n\n1. Row\n\n> So he said.\n\n"
        "| Wide | Wide |\n| --- | --- |\n| a | b |"
    )


def test_a_presentation_of_python_pptx() -> None:
    pptx = pytest.importorskip("pptx")
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Tools"
    slide.placeholders[1].text_frame.text = "Rope"
    deeper = slide.placeholders[1].text_frame.add_paragraph()
    deeper.text, deeper.level = "Long rope", 1
    slide.notes_slide.notes_text_frame.text = "Greet the master."
    blank = presentation.slides.add_slide(presentation.slide_layouts[6])
    for top, text in ((5, "Lower"), (1, "Upper")):
        blank.shapes.add_textbox(0, pptx.util.Inches(top), 100, 100).text_frame.text = text
    assert zipped(saved(presentation), URL, "").markdown == (
        "## Tools\n\n* Rope\n  * Long rope\n\n### Notes\n\nGreet the master.\n\n## Slide 2\n\nUpper\n\nLower"
    )
