"""Every reader has its row in docs/adding-a-reader.md, and every source its recorded document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from websearch_gateway.pages.formats.kinds import CONVERTERS
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.pages.sites.api import ApiReader

DOCUMENT = Path(__file__).parents[2] / "docs" / "adding-a-reader.md"


def _first_column(heading: str) -> list[str]:
    table = DOCUMENT.read_text().partition(heading)[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("|")]
    return [name.strip() for row in rows[2:] for name in row.split(",")]


def test_every_reader_has_its_row_in_the_order_of_the_table(reader: ReaderTable) -> None:
    assert _first_column("## The readers") == [one.name for one in reader.readers]


def test_every_kind_of_document_has_its_row() -> None:
    assert set(CONVERTERS) <= set(_first_column("## The kinds of documents"))


def test_every_source_has_a_document_in_the_contract_suite(
    reader: ReaderTable, cases: Mapping[str, Any]
) -> None:
    sources = [one.name for one in reader.readers if isinstance(one, ApiReader)]
    # Youtube has a library of its own.
    with_documents = {
        "youtube",
        *(case.source().name for case in cases.values()),
    }
    missing = [name for name in sources if name not in with_documents]
    assert missing == [], f"add a Case of {missing} to tests/pages/conftest.py"
