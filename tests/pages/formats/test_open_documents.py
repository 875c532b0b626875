"""OpenDocument texts and presentations keep their structure."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

import pytest

from tests.documents import open_document
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.open_sheets import _contents, _looks_of, without_repeats
from websearch_gateway.pages.formats.open_styles import Styles
from websearch_gateway.pages.formats.package import Package
from websearch_gateway.pages.formats.sheet_looks import Looks

URL = "https://example.com/a"

STYLES = (
    '<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>'
    '<style:style style:name="V"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="P1" style:parent-style-name="Title"/>'
    '<style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>'
    '<text:list-style style:name="L"><text:list-level-style-number style:num-format="1"/>'
    "<text:list-level-style-bullet/></text:list-style>"
)


def read(body: str, kind: str = "text") -> str:
    return zipped(open_document(kind, body, STYLES), "https://example.com/a", "").markdown


def test_headings_marks_spaces_and_links() -> None:
    body = (
        '<text:p text:style-name="P1">Harbour</text:p><text:h text:outline-level="2">Tides</text:h>'
        '<text:p>They <text:span text:style-name="B">rise</text:span>, <text:a xlink:href="https://example.com/">see'
        '</text:a>.<text:span text:style-name="V">secret</text:span></text:p>'
        '<text:p text:style-name="P2">if x:</text:p><text:p text:style-name="P2"><text:s text:c="2"/>y</text:p>'
    )
    assert read(body) == (
        "# Harbour\n\n## Tides\n\nThey **rise**, [see](https://example.com/).\n\n```\nif x:\n  y\n```"
    )


def test_lists_keep_their_depth_and_kind() -> None:
    inner = "<text:list><text:list-item><text:p>Long rope</text:p></text:list-item></text:list>"
    body = (
        f'<text:list text:style-name="L"><text:list-item><text:p>Rope</text:p>{inner}</text:list-item>'
        "<text:list-item><text:p>Anchor</text:p></text:list-item></text:list>"
    )
    assert read(body) == "1. Rope\n   * Long rope\n2. Anchor"


def test_merged_and_repeated_cells() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    rows = (
        cell("Wide", 'table:number-columns-spanned="2"') + covered + cell("c"),
        cell("Tall", 'table:number-rows-spanned="2"')
        + cell("x", 'table:number-columns-repeated="2"'),
        covered + cell("1") + cell("2"),
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    assert read(f"<table:table>{table}</table:table>") == (
        "| Wide | Wide | c |\n| --- | --- | --- |\n| Tall | x | x |\n| Tall | 1 | 2 |"
    )


def test_footnotes_pictures_and_changes() -> None:
    body = (
        "<text:tracked-changes><text:p>old</text:p></text:tracked-changes>"
        "<text:p>Heavy<text:note><text:note-body><text:p>A ton.</text:p></text:note-body></text:note></text:p>"
        '<text:p><draw:frame><draw:image xlink:href="Pictures/1.png"/><svg:desc>A buoy</svg:desc></draw:frame></text:p>'
        "<text:p><draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box></draw:frame></text:p>"
    )
    assert read(body) == "Heavy[^1]\n\n[Image: A buoy]\n\nBoxed\n\n[^1]: A ton."


def test_slides_have_titles_and_notes() -> None:
    frame = (
        '<draw:frame presentation:class="{}" svg:x="1cm" svg:y="{}cm">'
        "<draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    )
    page = (
        frame.format("outline", 9, "Lower")
        + frame.format("outline", 4, "Upper")
        + frame.format("title", 1, "Port")
        + frame.format("footer", 9, "Port Ltd")
        + f"<presentation:notes>{frame.format('notes', 1, 'Greet them.')}</presentation:notes>"
    )
    body = open_document("presentation", f"<draw:page>{page}</draw:page>")
    assert zipped(body, "https://example.com/a", "").markdown == (
        "## Port\n\nUpper\n\nLower\n\n### Notes\n\nGreet them."
    )


def test_entities_are_left_out() -> None:
    body = open_document("text", "<text:p>Be&a;fore <text:span>&a;</text:span>after</text:p>")
    laughs = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    with ZipFile(BytesIO(body)) as archive:
        content = laughs + archive.read("content.xml")
    parts: dict[str, str | bytes] = {"content.xml": content}
    assert (
        zipped(open_document("text", "", parts=parts), "https://example.com/a", "").markdown
        == "Before after"
    )


def test_a_locked_document_says_so() -> None:
    parts: dict[str, str | bytes] = {"META-INF/manifest.xml": "<manifest:encryption-data/>"}
    with pytest.raises(SearchFetchError, match="password") as caught:
        zipped(open_document("text", "", parts=parts), "https://example.com/a", "")
    assert caught.value.details["reason"] == "encrypted"


def test_a_table_in_a_table_is_read_once() -> None:
    def table(cell: str) -> str:
        return f"<table:table><table:table-row><table:table-cell>{cell}</table:table-cell></table:table-row></table:table>"

    inner = table("<text:p>Inner</text:p>")
    assert read(table("<text:p>Outer</text:p>" + inner)).count("Inner") == 1


def test_a_level_of_thousands_of_digits_counts_as_none() -> None:
    assert read(f'<text:h text:outline-level="{"9" * 5_000}">Tides</text:h>') == "# Tides"


def test_cells_of_a_text_repeat_only_so_much() -> None:
    """A row of a hundred bytes may stand for a thousand cells, each with the same long text."""

    def rows(text: str, count: int) -> str:
        cell = f'<table:table-cell table:number-columns-repeated="1000"><text:p>{text}</text:p></table:table-cell>'
        return f"<table:table>{f'<table:table-row>{cell}</table:table-row>' * count}</table:table>"

    assert read(rows("x", 5)).count("| x") == 5_000
    assert read(rows("x", 70) * 2).count("| x") <= 100_000
    assert read(rows("y" * 10_000, 5)).count("y" * 10_000) <= 1_000 + 5


def listed(*lists: str, level: str = "") -> str:
    style = f'<text:list-style style:name="L"><text:list-level-style-number style:num-format="1" {level}/></text:list-style>'
    return zipped(open_document("text", "<text:p>x</text:p>".join(lists), style), URL, "").markdown


def numbered(*items: str, how: str = "") -> str:
    return f'<text:list text:style-name="L" {how}>{"".join(items)}</text:list>'


def test_lists_of_open_document_count_as_they_say() -> None:
    one, two = (
        f"<text:list-item><text:p>{name}</text:p></text:list-item>" for name in ("one", "two")
    )
    later = one.replace("<text:list-item", '<text:list-item text:start-value="5"')
    assert listed(numbered(one), numbered(two)) == "1. one\n\nx\n\n1. two"
    on = numbered(two, how='text:continue-numbering="true"')
    assert listed(numbered(one), on) == "1. one\n\nx\n\n2. two"
    assert listed(numbered(later, two)) == "5. one\n6. two"
    assert listed(numbered(one, two), level='text:start-value="3"') == "3. one\n4. two"


def test_a_style_has_the_marks_of_that_which_it_is_based_on() -> None:
    styles = (
        '<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style>'
        '<style:style style:name="T1" style:parent-style-name="Up"/>'
    )
    body = '<text:p>10<text:span text:style-name="T1">5</text:span> boats</text:p>'
    assert zipped(open_document("text", body, styles), URL, "").markdown == "10^5 boats"


def styles_of(xml: str) -> Styles:
    """The styles that a document declares."""
    root = Package(open_document("text", "", xml)).xml("content.xml")
    return Styles([root])


def test_a_list_counts_with_ten_levels() -> None:
    levels = "".join(f'<text:list-level-style-number style:num-format="{at}"/>' for at in range(11))
    styles = styles_of(f'<text:list-style style:name="L">{levels}</text:list-style>')
    assert [styles.level("L", at).kind for at in (0, 9, 10)] == ["0", "9", ""]


@pytest.mark.parametrize(("parents", "text"), [(29, "**Words**"), (30, "")])
def test_thirty_styles_of_a_chain_are_followed(parents: int, text: str) -> None:
    """What more of them say is not known: the text may be hidden."""
    chain = "".join(
        f'<style:style style:name="C{at}" style:parent-style-name="C{at + 1}"/>'
        for at in range(parents)
    )
    bold = '<style:text-properties fo:font-weight="bold" text:display="true"/>'
    last = f'<style:style style:name="C{parents}">{bold}</style:style>'
    body = '<text:p><text:span text:style-name="C0">Words</text:span></text:p>'
    assert zipped(open_document("text", body, chain + last), URL, "").markdown == text


def rows_of_sheet(xml: str) -> Looks:
    """What a sheet of these rows shows."""
    body = open_document("spreadsheet", f"<table:table>{xml}</table:table>")
    package = Package(body)
    root = package.xml("content.xml")
    [sheet] = root.iter("{urn:oasis:names:tc:opendocument:xmlns:table:1.0}table")
    return _looks_of(sheet, _contents(package.read("content.xml"), root))


NUMBER = '<table:table-cell office:value-type="float"{}><text:p>7.0</text:p></table:table-cell>'


@pytest.mark.parametrize("rows", [1_048_576, 1_048_577])
def test_a_sheet_has_as_many_rows_as_its_program_allows(rows: int) -> None:
    empty = f'<table:table-row table:number-rows-repeated="{rows}"><table:table-cell/></table:table-row>'
    looks = rows_of_sheet(f"{empty}<table:table-row>{NUMBER.format('')}</table:table-row>")
    assert looks.shown == {(1_048_576, 0): "7.0"}


@pytest.mark.parametrize("columns", [1_000, 1_001])
def test_a_merged_cell_spans_at_most_a_thousand_columns(columns: int) -> None:
    wide = NUMBER.format(f' table:number-columns-spanned="{columns}"')
    looks = rows_of_sheet(f"<table:table-row>{wide}</table:table-row>")
    assert looks.merged == [((0, 0), (0, 999))]


@pytest.mark.parametrize(
    ("sheets", "is_too_large"),
    [
        ([(2_000, 2_000)], False),
        ([(2_000, 2_001)], True),
        ([(2_000, 2_000), (2_000, 2_000), (1_000, 2_000)], False),
        ([(2_000, 2_000), (2_000, 2_000), (1_000, 2_001)], True),
    ],
)
def test_sheets_that_span_millions_of_cells_are_read_without_repeats(
    sheets: list[tuple[int, int]], *, is_too_large: bool
) -> None:
    content = ""
    for rows, columns in sheets:
        cell = NUMBER.format(f' table:number-columns-repeated="{columns - 1}"')
        content += (
            f'<table:table ><table:table-row table:number-rows-repeated="{rows}">'
            f"{cell}</table:table-row></table:table>"
        )
    assert (without_repeats(content.encode()) is not None) == is_too_large


@pytest.mark.parametrize(("blanks", "count"), [(100, 100), (101, 100)])
def test_an_element_stands_for_at_most_a_hundred_blanks(blanks: int, count: int) -> None:
    code = f'<text:p text:style-name="P2">a<text:s text:c="{blanks}"/>b</text:p>'
    assert f"a{' ' * count}b" in read(code)
