"""Rich Text Format keeps headings, lists, tables, links, notes and marks."""

from __future__ import annotations

import pytest

from websearch_gateway.pages.formats.rtf import rtf


def read(text: str) -> str:
    return rtf(
        b"{\\rtf1\\ansi\\ansicpg1252 " + text.encode("latin-1") + b"}", "https://example.com/a", ""
    ).markdown


def test_headings_marks_and_characters() -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1\sb240 heading 1;}{\s9 Title;}}{\info{\title Harbour}}"
    text = (
        r"\pard\s1 Tides\par\pard They {\b rise} and \i fall\i0  \'e4\u8364?\u-10179?\u-8704?{\v secret}.\par "
        r"\pard\outlinelevel1 Winds\par"
    )
    assert read(styles + text) == "# Tides\n\nThey **rise** and *fall* ä€😀.\n\n## Winds"


def test_lists_keep_their_depth_and_numbers() -> None:
    text = (
        r"\pard{\listtext\pard 1.\tab}\ls1 Rope\par\pard{\listtext \'b7\tab}\ilvl1\ls1 Long rope\par"
        r"\pard{\listtext 2.\tab}\ls1 Anchor\par"
    )
    assert read(text) == "1. Rope\n   * Long rope\n2. Anchor"


def test_tables_repeat_merged_cells() -> None:
    """The first row has one cell over two columns; the first cell of the second continues below."""
    text = (
        r"\trowd\cellx2000\cellx3000\pard\intbl Wide\cell c\cell\row"
        r"\trowd\clvmgf\cellx1000\cellx2000\cellx3000\pard\intbl Tall\cell 1\cell 2\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\cellx3000\pard\intbl \cell 3\cell 4\cell\row\pard After.\par"
    )
    assert read(text) == (
        "| Wide | Wide | c |\n| --- | --- | --- |\n| Tall | 1 | 2 |\n| Tall | 3 | 4 |\n\nAfter."
    )


def test_links_footnotes_and_pictures() -> None:
    text = (
        r'See {\field{\*\fldinst HYPERLINK "https://example.com/x"}{\fldrslt tides}}{\*\footnote \pard A ton.}.'
        r"{\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv A buoy}}}\pngblip 89504e47}}"
        r"{\nonshppict{\pict 00}}\par"
    )
    assert read(text) == "See [tides](https://example.com/x)[^1].[Image: A buoy]\n\n[^1]: A ton."


def test_headers_and_binary_data_are_left_out() -> None:
    assert read(r"{\header Port Ltd\par}{\object{\*\objdata \bin4 }}}}}}Words\par") == "Words"


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000,
        "}" * 200_000 + "Words",
        r"\u" * 50_000,
        r"{\*\x" * 50_000,
        r"\cell\row" * 20_000,
        "\\'" * 100_000,
    ],
)
def test_hostile_text_is_read_in_linear_time(text: str) -> None:
    assert len(read(text)) < 1_000_000


def test_only_a_field_that_links_is_linked() -> None:
    page = r"{\field{\*\fldinst PAGE}{\fldrslt 3}}"
    link = r'{\field{\*\fldinst {\rtlch HYPERLINK "https://example.com/x"}}{\fldrslt tides}}'
    assert read(rf"Page {page}, {link}\par") == "Page 3, [tides](https://example.com/x)"


def test_a_picture_has_no_name_of_another_one() -> None:
    named = r"{\pict{\*\picprop{\sp{\sn wzDescription}{\sv A buoy}}}\pngblip 8950}"
    assert read(r"{\pict\pngblip 8950} " + named + r"\par") == "[Image] [Image: A buoy]"


def test_a_table_that_breaks_off_keeps_its_last_row() -> None:
    text = r"\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row\pard\intbl c\cell d"
    assert read(text) == "| a | b |\n| --- | --- |\n| c |  |\n\nd"


def test_rows_without_a_definition_have_that_of_the_row_above() -> None:
    wide = r"\trowd\clmgf\cellx1000\clmrg\cellx2000\cellx3000\pard\intbl Wide\cell\cell c\cell\row"
    assert read(wide + r"\pard\intbl Low\cell\cell d\cell\row\pard") == (
        "| Wide | Wide | c |\n| --- | --- | --- |\n| Low | Low | d |"
    )


def test_a_font_chooses_the_letters_of_its_bytes() -> None:
    fonts = r"{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset204 Arial;}}"
    assert read(fonts + r"\f0 Caf\'e9 {\f1 \'cc\'ee\'f0\'e5} \'e9\par") == "Café Море é"


def test_a_line_end_may_stand_between_the_bytes_of_a_character() -> None:
    body = b"{\\rtf1\\ansi\\ansicpg932 \\'8a\r\n\\'43\\par}"
    assert rtf(body, "https://example.com/a", "").markdown == "海"


def test_the_title_may_have_any_letters() -> None:
    body = rb"{\rtf1\ansi{\info{\title Stra\'dfe \{A\} \u8364?}}Words\par}"
    assert rtf(body, "https://example.com/a", "").title == "Straße {A} €"


def test_items_have_the_marks_that_the_program_shows() -> None:
    text = r"\pard{\listtext (a)\tab}\ls1 Rope\par{\listtext 2.1\tab}\ls1 Knot\par{\listtext o\tab}\ls1 Sail\par"
    assert read(text) == "- (a) Rope\n- 2.1 Knot\n* Sail"


def test_text_that_is_struck_twice_is_struck() -> None:
    assert read(r"now {\striked1 48}36 \u8364?\par") == "now ~~48~~36 €"


WORDS = {
    874: "เรือ",
    932: "船の港",
    936: "港口船",
    949: "항구배",
    950: "港口船",
    1250: "člun",
    1251: "лодка",
    1252: "bateau à",
    1253: "βάρκα",
    1254: "İğne",
    1255: "סירה",
    1256: "قارب",
    1257: "laiva ģ",
    1258: "ơư",
}
"""A word in each code page of Windows."""


def escaped(word: str, codepage: int) -> str:
    return "".join(f"\\'{byte:02x}" for byte in word.encode(f"cp{codepage}"))


@pytest.mark.parametrize("codepage", [*WORDS, 437, 850, 852, 866])
def test_a_document_may_declare_its_code_page(codepage: int) -> None:
    word = WORDS.get(codepage, "лодка" if codepage == 866 else "ä")
    assert read(rf"\ansicpg{codepage} {escaped(word, codepage)}\par") == word


@pytest.mark.parametrize(
    ("charset", "codepage"),
    [
        *((128, 932), (129, 949), (134, 936), (136, 950), (161, 1253), (162, 1254), (163, 1258)),
        *((177, 1255), (178, 1256), (186, 1257), (204, 1251), (222, 874), (238, 1250)),
    ],
)
def test_a_font_has_the_code_page_of_its_character_set(charset: int, codepage: int) -> None:
    fonts = rf"{{\fonttbl{{\f7\fnil\fcharset{charset} Any;}}}}"
    word = WORDS[codepage]
    assert read(rf"{fonts}\f7 {escaped(word, codepage)}\f0\par") == word


def test_groups_are_read_to_a_depth_of_500() -> None:
    """The group of the document is the first."""
    assert read("{" * 499 + "deep" + "}" * 499) == "deep"
    assert read("a" + "{" * 500 + "deeper" + "}" * 500) == "a"


def test_a_mark_of_an_item_has_at_most_100_characters() -> None:
    item = r"\pard{\listtext " + "(a" * 60 + r"\tab}\ls1 Rope\par"
    assert read(item) == f"- {'(a' * 50} Rope"


@pytest.mark.parametrize(("apart", "columns"), [(21, 2), (39, 2), (40, 3)])
def test_edges_of_cells_less_than_two_points_apart_are_one(apart: int, columns: int) -> None:
    rows = (
        r"\trowd\cellx1000\cellx2000\pard\intbl a\cell b\cell\row"
        rf"\trowd\cellx{1000 + apart}\cellx2000\pard\intbl c\cell d\cell\row\pard After.\par"
    )
    assert read(rows).splitlines()[0].count("|") - 1 == columns


def test_a_first_cell_that_continues_a_neighbour_it_does_not_have_keeps_its_text() -> None:
    row = r"\trowd{}\cellx1000\cellx2000\pard\intbl {}\cell {}\cell\row"
    rows = row.format("", "a", "b") + row.format(r"\clmrg", "c", "d")
    assert read(rows + r"\pard After.\par").splitlines()[:3] == [
        "| a | b |",
        "| --- | --- |",
        "| c | d |",
    ]


def test_the_paragraphs_of_a_note_are_apart() -> None:
    assert read(r"Sea{\footnote A t\fs20 on.\par Or two.}\par") == "Sea[^1]\n\n[^1]: A ton. Or two."


@pytest.mark.parametrize(("before", "text"), [(3_900, "[Image: A buoy]"), (4_000, "[Image]")])
def test_the_name_of_a_picture_stands_in_its_first_4000_bytes(before: int, text: str) -> None:
    name = r"{\sp{\sn wzDescription}{\sv A buoy}}"
    assert read(rf"{{\pict{{\*\x {'y' * before}}}{{\*\picprop{name}}}\pngblip 8950}}\par") == text


@pytest.mark.parametrize("codepage", [737, 1140, 1300])
def test_a_document_in_another_code_page_is_read_as_one_of_windows(codepage: int) -> None:
    assert read(rf"\ansicpg{codepage} \'e4\par") == "ä"


def test_merged_cells_repeat_over_at_most_200_columns_of_a_table() -> None:
    edges = "".join(rf"\cellx{100 * at}" for at in range(1, 301))
    narrow = rf"\trowd{edges}\pard\intbl a" + r"\cell " * 300 + r"\row"
    wide = r"\trowd\cellx10000\cellx20000\cellx30000\pard\intbl x1\cell x2\cell x3\cell\row\pard"
    found = read(narrow + wide)
    assert [found.count(text) for text in ("x1", "x2", "x3")] == [100, 100, 1]
