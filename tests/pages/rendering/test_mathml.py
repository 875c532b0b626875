"""Formulas are built of the few forms of MathML that the writer reads."""

from __future__ import annotations

from lxml import etree

from websearch_gateway.pages.rendering import mathml


def written(element: object) -> str:
    return str(etree.tostring(element, encoding="unicode"))


def test_a_row_of_one_part_is_that_part() -> None:
    assert written(mathml.row([mathml.token("mi", "x")])) == "<mi>x</mi>"
    parts = [mathml.token("mn", "2"), mathml.token("mi", "x")]
    assert written(mathml.row(parts)) == "<mrow><mn>2</mn><mi>x</mi></mrow>"
    assert written(mathml.row([])) == "<mrow/>"


def test_a_table_holds_rows_of_cells_and_a_cell_its_parts() -> None:
    cell = [mathml.token("mn", "1"), mathml.token("mi", "x")]
    table = mathml.table([[cell, []]])
    inside = "<mtr><mtd><mn>1</mn><mi>x</mi></mtd><mtd/></mtr>"
    assert written(table) == f"<mtable>{inside}</mtable>"
