"""Sheets become tables under their names; the extra `documents` reads them."""

from __future__ import annotations

import sys
from datetime import date, datetime
from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.documents import office, open_document, packed, relations
from tests.growth import too_much
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.open_sheets import ONCE
from websearch_gateway.pages.formats.package import MOST_UNPACKED, Package, Relations
from websearch_gateway.pages.formats.sheet_looks import (
    Looks,
    Shared,
    _note_cells,
    _note_hidden_columns,
    _note_hidden_rows,
    _note_links,
)
from websearch_gateway.pages.formats.sheets import (
    FAR,
    HIDDEN_CELLS,
    UNREAD,
    _nearer,
    _repeats,
    _spanned,
    _unformatted,
    _without_far_cells,
    workbook,
)

URL = "https://example.com/a"
SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheets(
    *found: str, names: list[str] | None = None, more: dict[str, str | bytes] | None = None
) -> bytes:
    """A workbook whose sheets have this XML in their data."""
    numbers = range(1, len(found) + 1)
    named = names or [f"S{n}" for n in numbers]
    rows = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>'
        for n, name in zip(numbers, named, strict=True)
    )
    outer = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook {SPACE} {outer}><sheets>{rows}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            {f"s{n}": ("worksheet", f"worksheets/s{n}.xml") for n in numbers}
        ),
    }
    for n, text in zip(numbers, found, strict=True):
        parts[f"xl/worksheets/s{n}.xml"] = (
            f"<worksheet {SPACE}><sheetData>{text}</sheetData></worksheet>"
        )
    return office("xl/workbook.xml", parts | (more or {}))


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="str"><v>{text}</v></c>'


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        SearchFetchError, match=r"need the extra `documents`: pip install"
    ) as caught:
        zipped(sheets(""), URL, "")
    assert caught.value.details == {"reason": "unsupported", "extra": "documents"}


class TestWithTheExtra:
    @pytest.fixture(autouse=True)
    def _extra(self) -> None:
        pytest.importorskip("python_calamine")

    def test_each_sheet_has_its_name_and_its_range(self) -> None:
        row = f'<row r="3">{cell("B3", "Port")}{cell("C3", "a | b")}</row><row r="4">{cell("C4", "two")}</row>'
        text = zipped(sheets(row, "", names=["Berths", "Empty"]), URL, "").markdown
        assert text == "## Berths\n\n*Cells B3:C4*\n\n| Port | a \\| b |\n| --- | --- |\n|  | two |"

    def test_cells_are_shown_as_the_program_shows_them(self) -> None:
        styles = (
            f'<styleSheet {SPACE}><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>'
            '<cellXfs><xf numFmtId="0"/><xf numFmtId="9"/><xf numFmtId="164"/></cellXfs></styleSheet>'
        )
        cells = (
            '<c r="A1" s="1"><v>0.5</v></c><c r="B1" s="2"><v>42</v></c><c r="C1" t="e"><v>#DIV/0!</v></c>'
            '<c r="D1"><f>A1+"|"</f></c><c r="E1"><f>A1*2</f><v>1</v></c>'
            f'{cell("F1", "plan")}<c r="G1" s="7"><v>3</v></c>'
        )
        more: dict[str, str | bytes] = {
            "xl/styles.xml": styles,
            "xl/_rels/workbook.xml.rels": relations(
                {"s1": ("worksheet", "worksheets/s1.xml"), "x": ("styles", "styles.xml")}
            ),
            "xl/worksheets/_rels/s1.xml.rels": relations(
                {"l": ("hyperlink", "https://gull.example/a(b)")}
            ),
        }
        link = (
            '</sheetData><hyperlinks><hyperlink xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
            ' ref="F1" r:id="l"/></hyperlinks><sheetData>'
        )
        text = zipped(sheets(f'<row r="1">{cells}</row>{link}', more=more), URL, "").markdown
        assert text.splitlines()[4] == (
            '| 50% | 00042 | #DIV/0! | `=A1+"\\|"` | 1 | [plan](https://gull.example/a%28b%29) | 3 |'
        )

    def test_hidden_rows_and_columns_are_left_out_and_said(self) -> None:
        hidden = f'<row r="2" hidden="1">{cell("A2", "no")}{cell("B2", "no")}</row>'
        first = f'<row r="1">{cell("A1", "a")}{cell("B1", "no")}{cell("C1", "c")}</row>'
        body = sheets(f'{first}{hidden}<row r="3">{cell("A3", "d")}</row>')
        columns = '<cols><col min="2" max="2" hidden="1"/></cols><sheetData>'
        with ZipFile(BytesIO(body)) as archive:
            parts: dict[str, str | bytes] = {
                name: archive.read(name) for name in archive.namelist()
            }
        sheet = "xl/worksheets/s1.xml"
        parts[sheet] = str(parts[sheet], "utf-8").replace("<sheetData>", columns)
        page = zipped(packed(parts), URL, "")
        assert page.markdown.splitlines()[4:] == ["| a | c |", "| --- | --- |", "| d |  |"]
        assert page.warnings == (HIDDEN_CELLS,)

    def test_a_formula_shows_its_stored_value_and_is_never_run(self) -> None:
        row = '<row r="1"><c r="A1"><f>cmd|"/c calc"!A1</f><v>42</v></c></row>'
        assert "| 42 |" in zipped(sheets(row), URL, "").markdown

    def test_real_workbooks_keep_types_and_merged_cells(self) -> None:
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.append(["Name", "Since", "Fee", "Paid"])
        sheet.append(["Lark", date(2024, 3, 1), 12.5, True])
        sheet.append(["Gull", datetime(2024, 3, 1, 12, 30), 7.0, False])  # noqa: DTZ001 - a workbook has no zones
        sheet.append(["wide", None, "tall", None])
        sheet.append([None, None, None, "end"])
        sheet.merge_cells("A4:B4")
        sheet.merge_cells("C4:C5")
        book.create_sheet("Secret").sheet_state = "hidden"
        file = BytesIO()
        book.save(file)
        page = zipped(file.getvalue(), URL, "")
        assert page.markdown.endswith(
            "| Name | Since | Fee | Paid |\n| --- | --- | --- | --- |\n| Lark | 2024-03-01 | 12.5 | TRUE |\n"
            "| Gull | 2024-03-01 12:30:00 | 7 | FALSE |\n| wide | wide | tall |  |\n|  |  | tall | end |"
        )
        assert page.warnings == ("Hidden sheets were left out: 1.",)

    def test_spreadsheets_of_open_document_repeat_merged_cells(self) -> None:
        def found(text: str, more: str = "") -> str:
            return f'<table:table-cell office:value-type="string" {more}><text:p>{text}</text:p></table:table-cell>'

        rows = (
            found("Wide", 'table:number-columns-spanned="2"')
            + "<table:covered-table-cell/>"
            + found("c"),
            found("1") + found("2") + found("3"),
        )
        table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        body = open_document(
            "spreadsheet", f'<table:table table:name="Cargo">{table}</table:table>'
        )
        assert zipped(body, URL, "").markdown == (
            "## Cargo\n\n*Cells A1:C2*\n\n| Wide | Wide | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |"
        )

    @pytest.mark.parametrize(
        ("kind", "value", "shown"),
        [
            ("percentage", "0.125", "12.5 %"),
            ("float", "7", "00007"),
            ("float", "1234567.5", "1,234,567.50"),
            ("currency", "19.9", "19.90 €"),
            ("float", "1", "a | b"),
        ],
    )
    def test_cells_of_open_document_are_as_the_program_shows_them(
        self, kind: str, value: str, shown: str
    ) -> None:
        row = (
            '<table:table-row><table:table-cell office:value-type="string"><text:p>Fee</text:p>'
            f'</table:table-cell><table:table-cell office:value-type="{kind}" office:value="{value}">'
            f"<text:p>{shown}</text:p></table:table-cell></table:table-row>"
        )
        body = open_document("spreadsheet", f'<table:table table:name="S">{row}</table:table>')
        written = shown.replace("|", "\\|")
        assert zipped(body, URL, "").markdown.splitlines()[4] == f"| Fee | {written} |"

    def test_hidden_rows_and_columns_of_open_document_are_left_out_and_links_lead_on(self) -> None:
        def found(text: str) -> str:
            return f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>'

        link = '<text:a xlink:href="https://lark.example/a(b)">Lark</text:a>'
        table = (
            '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/>'
            f"<table:table-row>{found('Port')}{found('secret')}{found('Berths')}</table:table-row>"
            '<table:table-row table:visibility="filter" table:number-rows-repeated="2">'
            f"{found('hidden') * 3}</table:table-row>"
            f"<table:table-row>{found(link)}{found('secret')}{found('4')}</table:table-row>"
        )
        page = zipped(
            open_document("spreadsheet", f'<table:table table:name="S">{table}</table:table>'),
            URL,
            "",
        )
        assert page.markdown.splitlines()[4:] == [
            "| Port | Berths |",
            "| --- | --- |",
            "| [Lark](https://lark.example/a%28b%29) | 4 |",
        ]
        assert page.warnings == (HIDDEN_CELLS,)

    @pytest.mark.parametrize(("more", "warning"), [(0, HIDDEN_CELLS), (1, UNREAD)])
    def test_a_sheet_of_open_document_with_very_many_hidden_rows_is_left_out(
        self, more: int, warning: str
    ) -> None:
        """MOST_HIDDEN_ROWS"""
        cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
        rows = (
            f"<table:table-row>{cell.format('Port')}</table:table-row>"
            f'<table:table-row table:visibility="collapse" '
            f'table:number-rows-repeated="{100_000 + more}">{cell.format("secret")}</table:table-row>'
        )
        body = open_document("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')
        page = zipped(body, URL, "")
        assert page.warnings == (warning,)
        assert "secret" not in page.markdown

    @pytest.mark.parametrize(("rows", "columns"), [(1, 50_000), (1_000, 50), (1_000_000, 1)])
    def test_cells_that_would_fill_the_memory_are_read_once(self, rows: int, columns: int) -> None:
        """A row of a hundred bytes may stand for a billion cells; the library would keep all of them."""
        cell = (
            f'<table:table-cell office:value-type="string" table:number-columns-repeated="{columns}">'
            "<text:p>x</text:p></table:table-cell>"
        )
        row = f'<table:table-row table:number-rows-repeated="{rows}">{cell}</table:table-row>'
        page = zipped(
            open_document("spreadsheet", f'<table:table table:name="S">{row * 120}</table:table>'),
            URL,
            "",
        )
        assert page.markdown == "## S\n\n*Cells A1:A120*\n\n| x |\n| --- |" + "\n| x |" * 119
        assert page.warnings == (ONCE,)

    def test_many_sheets_of_repeated_cells_do_not_fill_the_memory(self) -> None:
        """The library reads all of them, one of which alone would not matter."""
        cell = (
            '<table:table-cell office:value-type="string" table:number-columns-repeated="1000">'
            "<text:p>x</text:p></table:table-cell>"
        )
        row = f'<table:table-row table:number-rows-repeated="200">{cell}</table:table-row>'
        tables = "".join(f'<table:table table:name="S{n}">{row}</table:table>' for n in range(60))
        page = zipped(open_document("spreadsheet", tables), URL, "")
        assert page.warnings == (ONCE,)
        assert page.markdown.count("| x |") == 60

    def test_sheets_that_are_too_large_without_repeats_are_refused(self) -> None:
        cell = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'
        rows = (
            f"<table:table-row>{cell * 2_500}</table:table-row>"
            + f"<table:table-row>{cell}</table:table-row>" * 2_500
        )
        body = open_document("spreadsheet", f'<table:table table:name="S">{rows}</table:table>')
        with pytest.raises(SearchFetchError) as caught:
            zipped(body, URL, "")
        assert caught.value.details["reason"] == "too_large"

    def test_empty_cells_at_the_end_of_a_sheet_do_not_count(self) -> None:
        """Programs repeat them up to the last column and row."""
        end = '<table:table-cell table:number-columns-repeated="16382"/>'
        cell = (
            '<table:table-cell office:value-type="string" table:number-columns-repeated="2">'
            "<text:p>x</text:p></table:table-cell>"
        )
        last = f'<table:table-row table:number-rows-repeated="1048376">{end}</table:table-row>'
        rows = f"<table:table-row>{cell}{end}</table:table-row>" * 200 + last
        page = zipped(
            open_document("spreadsheet", f'<table:table table:name="S">{rows}</table:table>'),
            URL,
            "",
        )
        assert page.markdown.count("| x | x |") == 200
        assert not page.warnings

    def test_only_the_first_of_very_many_sheets_are_read(self) -> None:
        row = f'<row r="1">{cell("A1", "x")}</row>'
        page = zipped(sheets(*[row] * 505), URL, "")
        assert page.markdown.count("## ") == 500
        assert page.warnings == ("Only the first 500 of 505 sheets were read.",)

    @pytest.mark.parametrize("far", ["XFD1048576", "ZZ1048576"])
    def test_a_cell_at_the_end_of_a_sheet_does_not_cost_the_others(self, far: str) -> None:
        """The library would need 550 GB for the rectangle of these cells."""
        rows = f'<row r="1">{cell("A1", "Port")}{cell("C1", "Fee")}</row><row r="1048576">{cell(far, "far")}</row>'
        page = zipped(sheets(rows, f'<row r="1">{cell("A1", "other")}</row>'), URL, "")
        assert "| Port |  | Fee |" in page.markdown
        assert "| other |" in page.markdown
        assert page.warnings == ("Cells far away from the first ones were left out.",)

    def test_far_cells_that_nothing_closes_cost_no_more_than_their_length(self) -> None:
        """A search to the end of the sheet for each of them would take many minutes."""
        rows = (
            f'<row r="1">{cell("A1", "Port")}'
            + '<c r="ZZ99999">x' * 200_000
            + '</row><row r="9999999"></row>'
        )
        assert zipped(
            sheets(rows, f'<row r="1">{cell("A1", "other")}</row>'), URL, ""
        ).warnings == (FAR,)

    def test_a_sheet_too_large_to_find_its_hidden_cells_is_left_out(self) -> None:
        rows = f'<row r="1">{cell("A1", "Port")}</row>' + " " * MOST_UNPACKED
        page = zipped(sheets(rows), URL, "")
        assert (page.markdown, page.warnings) == ("", (UNREAD,))

    @pytest.mark.parametrize(
        "row",
        [
            '<row r="2" hidden="1">',
            '<row hidden="true" r="2">',
            "<row r='2' spans='>' hidden='1'>",
            f'<row r="2" spans="{"1:2 " * 200}" hidden = "1">',
            '<row r="2" ht="0" customHeight="1">',
            '<row hidden="1">',
        ],
    )
    def test_a_row_is_hidden_however_it_says_so(self, row: str) -> None:
        rows = f'<row r="1">{cell("A1", "Port")}</row>{row}{cell("A2", "secret")}</row>'
        page = zipped(sheets(rows), URL, "")
        assert "Port" in page.markdown
        assert "secret" not in page.markdown
        assert page.warnings == (HIDDEN_CELLS,)

    @pytest.mark.parametrize(
        ("row", "is_shown"),
        [
            ('<row r="2">', True),
            ("<row>", True),
            ('<row r="2" ht="15">', True),
            ('<row r="2" hidden="0">', True),
            ('<row r="2" hidden="1">', False),
            ('<row r="2" ht="0">', False),
        ],
    )
    def test_where_rows_are_hidden_by_default_those_that_are_written_are_shown(
        self, row: str, is_shown: bool
    ) -> None:
        """Programs write only the rows that are shown, and say once that all others are hidden (`zeroHeight`)."""
        rows = f'<row r="1">{cell("A1", "Port")}</row>{row}{cell("A2", "Pier")}</row>'
        sheet = (
            f'<worksheet {SPACE}><sheetFormatPr defaultRowHeight="15" zeroHeight="1"/>'
            f"<sheetData>{rows}</sheetData></worksheet>"
        )
        page = zipped(sheets("", more={"xl/worksheets/s1.xml": sheet}), URL, "")
        assert "Port" in page.markdown
        assert ("Pier" in page.markdown) == is_shown

    def test_pictures_do_not_count_where_far_cells_are_left_out(self) -> None:
        rows = f'<row r="1">{cell("A1", "Port")}</row><row r="1048576">{cell("XFD1048576", "far")}</row>'
        pictures: dict[str, str | bytes] = {"xl/media/image1.png": bytes(MOST_UNPACKED)}
        assert "| Port |" in zipped(sheets(rows, more=pictures), URL, "").markdown

    def test_a_damaged_workbook_is_refused(self) -> None:
        with pytest.raises(SearchFetchError, match="damaged"):
            workbook(b"PK\x03\x04 no workbook")


UNFINISHED = (
    "<c ",
    '<c r="A1"',
    "<c r=",
    '<row r="1" ',
    "<col ",
    "<hyperlink ",
    '<c r="A1"><f',
    "<c><v>",
    'a="',
)


@pytest.mark.parametrize("text", UNFINISHED)
def test_a_sheet_is_looked_at_in_linear_time_whatever_its_text(text: str) -> None:
    def looked_at(sheet: str) -> None:
        looks = Looks()
        _note_hidden_rows(looks, sheet.encode())
        _note_hidden_columns(looks, sheet.encode())
        _note_cells(looks, sheet.encode(), Shared())
        _note_links(looks, sheet.encode(), Relations())

    assert too_much(looked_at, text) is None


RICH = (
    '<r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>5</t></r><r><t xml:space="preserve"> boats, </t></r>'
    "<r><rPr><strike/></rPr><t>48</t></r><r><t>36 €</t></r>"
)
STYLES = (
    f"<styleSheet {SPACE}><fonts><font/><font><strike/></font></fonts>"
    '<numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts>'
    '<cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="0" numFmtId="170"/></cellXfs></styleSheet>'
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('<c r="A2" t="s"><v>1</v></c>', "10^5 boats, ~~48~~36 €"),
        (f'<c r="A2" t="inlineStr"><is>{RICH}</is></c>', "10^5 boats, ~~48~~36 €"),
        ('<c r="A2" s="1"><v>48</v></c>', "~~48~~"),
        ('<c r="A2" s="2"><v>48</v></c>', ""),
        ('<c r="A2" s="2" t="s"><v>0</v></c>', ""),
    ],
    ids=["shared", "in the sheet", "struck", "unseen number", "unseen text"],
)
def test_parts_of_a_text_in_a_sheet_do_not_touch(value: str, text: str) -> None:
    parts: dict[str, str | bytes] = {
        "xl/sharedStrings.xml": f"<sst {SPACE}><si><t>boats</t></si><si>{RICH}</si></sst>",
        "xl/styles.xml": STYLES,
        "xl/_rels/workbook.xml.rels": relations(
            {
                "s1": ("worksheet", "worksheets/s1.xml"),
                "t": ("sharedStrings", "sharedStrings.xml"),
                "y": ("styles", "styles.xml"),
            }
        ),
    }
    rows = f'<row r="1">{cell("A1", "a")}{cell("B1", "b")}</row><row r="2">{value}{cell("B2", "c")}</row>'
    markdown = zipped(sheets(rows, more=parts), URL, "").markdown
    assert f"\n| {text} | c |" in markdown


def test_parts_of_a_text_in_an_open_sheet_do_not_touch() -> None:
    styles = (
        '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>'
        '<style:style style:name="old"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    )
    texts = (
        '<text:p>10<text:span text:style-name="up">5</text:span> boats</text:p>',
        '<text:p>now <text:span text:style-name="old">48</text:span>36</text:p>',
    )
    cells = "".join(
        f'<table:table-cell office:value-type="string">{text}</table:table-cell>' for text in texts
    )
    cells += '<table:table-cell office:value-type="float" office:value="7" table:style-name="old">'
    cells += "<text:p>7</text:p></table:table-cell>"
    body = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    markdown = zipped(open_document("spreadsheet", body, styles), URL, "").markdown
    assert "| 10^5 boats | now ~~48~~36 | ~~7~~ |" in markdown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (9_999_999_999_999_998.0, "9999999999999998"),
        (1e16, "1e+16"),
        (1e-9, "0.000000001"),
        (9e-10, "9e-10"),
        (0.5, "0.5"),
        (1.5, "1.5"),
        (-2.0, "-2"),
    ],
)
def test_very_large_and_very_small_numbers_have_an_exponent(value: float, text: str) -> None:
    assert _unformatted(value) == text


@pytest.mark.parametrize(("last_column", "is_repeated"), [(99, True), (100, False)])
def test_a_merged_cell_repeats_in_at_most_10_000_places(
    last_column: int, *, is_repeated: bool
) -> None:
    assert bool(_repeats([((0, 0), (99, last_column))], 0, 0)) == is_repeated


def test_merged_cells_repeat_in_100_000_places_of_a_sheet_and_only_within_it() -> None:
    large = [((at, 0), (at + 99, 99)) for at in range(0, 1_100, 100)]
    assert len(_repeats(large, 0, 0)) == 1_000
    assert _repeats([((0, 0), (1, 1))], 1, 0) == _repeats([((0, 0), (1, 1))], 0, 1) == {}


def test_a_sheet_spans_the_columns_of_one_letter_or_more_up_to_its_last_row() -> None:
    assert _spanned(b'<row r="7"><c r="B7"/>') == 7 * 26
    assert _spanned(b'<row r="7"><c r="AB7"/>') == 7 * 28
    assert _spanned(b"") == 0


@pytest.mark.parametrize(("row", "is_far"), [(10_000, False), (10_001, True)])
def test_a_sheet_spans_at_most_ten_million_cells(row: int, *, is_far: bool) -> None:
    """`ALL` is the thousandth column."""
    rows = f'<row r="1">{cell("A1", "a")}</row><row r="{row}">{cell(f"ALL{row}", "b")}</row>'
    assert (_without_far_cells(Package(sheets(rows))) is not None) == is_far


@pytest.mark.parametrize(
    ("place", "is_near"),
    [("ALL10000", True), ("ALL10001", False), ("ALM10000", False), ("A10001", False)],
)
def test_of_a_larger_sheet_10_000_rows_and_1000_columns_are_read(
    place: str, *, is_near: bool
) -> None:
    text = cell(place, "far").encode()
    assert (b"far" in _nearer(b"<row>" + text + b"</row>")) == is_near


@pytest.mark.parametrize(("letters", "count"), [(100, 2), (101, 1)])
def test_a_merged_cell_of_more_than_100_letters_is_written_once(letters: int, count: int) -> None:
    pytest.importorskip("python_calamine")
    text = cell("A1", "x" * letters) + cell("C1", "end")
    merged = '</sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells><sheetData>'
    found = zipped(sheets(f'<row r="1">{text}</row>{merged}'), URL, "").markdown
    assert found.count("x" * letters) == count


@pytest.mark.parametrize("columns", [1_000, 1_001])
def test_a_table_of_a_sheet_has_at_most_1000_columns(columns: int) -> None:
    pytest.importorskip("python_calamine")
    names = [
        f"{chr(65 + at // 26 - 1) if at >= 26 else ''}{chr(65 + at % 26)}" for at in range(702)
    ]
    names += [f"A{name}" for name in names[26:]]
    row = "".join(cell(f"{name}1", "x") for name in names[:columns])
    page = zipped(sheets(f'<row r="1">{row}</row>'), URL, "")
    assert page.markdown.count("x") == 1_000
    wide = "Columns after the first 1,000 of a sheet were left out."
    assert page.warnings == ((wide,) if columns > 1_000 else ())


@pytest.mark.parametrize(("columns", "hidden"), [(16_384, 0), (16_385, 16_384)])
def test_a_sheet_that_describes_more_columns_than_a_program_has_shows_none(
    columns: int, hidden: int
) -> None:
    looks = Looks()
    _note_hidden_columns(looks, b"<col/>" * columns)
    assert len(looks.hidden_columns) == hidden


@pytest.mark.parametrize(("letters", "is_rich"), [(9_900, True), (10_001, False)])
def test_a_text_with_parts_of_other_looks_has_at_most_10_000_bytes(
    letters: int, *, is_rich: bool
) -> None:
    runs = b'<r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r><r><t>%s</t></r>'
    text = runs % (b"x" * (letters - len(runs) + 2))
    shared = Shared()
    assert len(text) == letters
    found = shared.rich_text(b"inlineStr", None, text + b"</is>", 0)
    assert bool(found) == is_rich


def test_500_letters_of_a_formula_are_shown() -> None:
    looks = Looks()
    _note_cells(looks, b'<c r="A1"><f>' + b"A" * 501 + b"</f></c>", Shared())
    assert looks.texts == {(0, 0): f"`={'A' * 500}`"}
