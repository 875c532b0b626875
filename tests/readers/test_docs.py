"""The page for those who add a reader names every one there is."""

from __future__ import annotations

from pathlib import Path

from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.formats.kinds import CONVERTERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "adding-a-reader.md"


def _first_column(heading: str) -> list[str]:
    table = DOCUMENT.read_text().partition(heading)[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    return [name.strip() for row in rows[2:] for name in row.split(",")]


def test_every_reader_has_its_row_in_the_order_of_the_table(reader: ReaderTable) -> None:
    assert _first_column("## The readers") == [one.name for one in reader.readers]


def test_every_kind_of_document_has_its_row() -> None:
    assert set(CONVERTERS) <= set(_first_column("## The kinds of documents"))
