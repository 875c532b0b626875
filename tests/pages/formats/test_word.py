"""Word documents keep their structure; what Word does not show is left out."""

from __future__ import annotations

import pytest

from tests.documents import W, paragraph, relations, word
from websearch_gateway.pages.formats.containers import zipped

URL = "https://example.com/a"
STYLES = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:style w:type="table" w:styleId="T"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="H"><w:name w:val="heading 2"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H"/></w:style>'
    '<w:style w:styleId="Loop"><w:name w:val="x"/><w:basedOn w:val="Loop"/></w:style>'
    '<w:style w:styleId="Code"><w:name w:val="Source Code"/></w:style>'
    '<w:style w:styleId="Q"><w:name w:val="Intense Quote"/></w:style></w:styles>'
)
NUMBERS = (
    '<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num></w:numbering>'
)
RELATIONS = {
    "s": ("styles", "styles.xml"),
    "n": ("numbering", "numbering.xml"),
    "f": ("footnotes", "footnotes.xml"),
    "l": ("hyperlink", "https://example.com/tides"),
    "i": ("image", "media/image7.png"),
}


def read(body: str, **parts: str) -> str:
    found = {
        "word/styles.xml": STYLES,
        "word/numbering.xml": NUMBERS,
        "word/_rels/document.xml.rels": relations(RELATIONS),
        **{f"word/{name}.xml": text for name, text in parts.items()},
    }
    return zipped(word(body, found), "https://example.com/a", "").markdown


def styled(text: str, style: str) -> str:
    return paragraph(text, f'<w:pStyle w:val="{style}"/>')


def listed(text: str, level: int) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>')


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_headings_follow_the_styles_and_those_that_they_are_based_on() -> None:
    body = (
        styled("Tides", "H")
        + styled("Winds", "Mine")
        + paragraph("Direct", '<w:outlineLvl w:val="0"/>')
    )
    assert read(body + styled("Plain", "Loop")) == "## Tides\n\n## Winds\n\n# Direct\n\nPlain"


def test_a_long_chain_of_styles_is_followed() -> None:
    chain = "".join(
        f'<w:style w:styleId="C{n}"><w:name w:val="c"/><w:basedOn w:val="{f"C{n - 1}" if n else "H"}"/></w:style>'
        for n in range(3_000)
    )
    assert (
        read(styled("Tides", "C2999"), styles=STYLES.replace("</w:styles>", f"{chain}</w:styles>"))
        == "## Tides"
    )


def test_lists_keep_their_depth_and_numbers() -> None:
    body = (
        listed("Cast off", 0)
        + listed("the bow line", 1)
        + listed("Row", 0)
        + paragraph("Rest.")
        + listed("Land", 0)
    )
    assert read(body) == "1. Cast off\n   * the bow line\n2. Row\n\nRest.\n\n3. Land"


def test_merged_cells_repeat_their_text() -> None:
    rows = (
        cell("Wide", '<w:gridSpan w:val="2"/>') + cell("c"),
        cell("Tall", '<w:vMerge w:val="restart"/>') + cell("1") + cell("a | b"),
        cell("", "<w:vMerge/>") + cell("2") + cell("3"),
    )
    table = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    assert read(f"<w:tbl>{table}</w:tbl>") == (
        "| Wide | Wide | c |\n| --- | --- | --- |\n| Tall | 1 | a \\| b |\n| Tall | 2 | 3 |"
    )


def test_marks_links_and_code() -> None:
    runs = (
        "<w:r><w:rPr><w:b/></w:rPr><w:t>Hi</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>gh</w:t></w:r>"
        '<w:r><w:t xml:space="preserve"> and </w:t></w:r><w:r><w:rPr><w:i w:val="0"/></w:rPr><w:t>low</w:t></w:r>'
        '<w:r><w:tab/></w:r><w:hyperlink r:id="l"><w:r><w:t>tides</w:t></w:r></w:hyperlink>'
    )
    code = styled("if tide:", "Code") + styled("    row()", "Code").replace(
        "<w:t>", '<w:t xml:space="preserve">'
    )
    assert read(f"<w:p>{runs}</w:p>{code}{styled('Said he.', 'Q')}") == (
        "**High** and low [tides](https://example.com/tides)\n\n```\nif tide:\n    row()\n```\n\n> Said he."
    )


def test_footnotes_stand_at_the_end() -> None:
    notes = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f'<w:footnote w:id="0">{paragraph("separator")}</w:footnote>'
        f'<w:footnote w:id="4">{paragraph("A ton.")}</w:footnote>'
        "</w:footnotes>"
    )
    body = (
        '<w:p><w:r><w:t>Heavy</w:t></w:r><w:r><w:footnoteReference w:id="4"/></w:r></w:p>'
        + paragraph("End.")
    )
    assert read(body, footnotes=notes) == "Heavy[^1]\n\nEnd.\n\n[^1]: A ton."


@pytest.mark.parametrize(
    ("drawing", "shown"),
    [
        (
            '<w:drawing><x descr="A red buoy"><a:blip r:embed="i"/></x></w:drawing>',
            "[Image: A red buoy]",
        ),
        ('<w:drawing><a:blip r:embed="i"/></w:drawing>', "[Image: image7.png]"),
        (f"<w:pict><w:txbxContent>{paragraph('Boxed')}</w:txbxContent></w:pict>", "Boxed"),
    ],
)
def test_pictures_are_named_and_text_boxes_read(drawing: str, shown: str) -> None:
    assert read(f"<w:p><w:r>{drawing}</w:r></w:p>") == shown


def test_hidden_and_deleted_text_is_left_out_and_inserted_text_stays() -> None:
    hidden = paragraph("secret", run="<w:vanish/>") + paragraph("tiny", run='<w:sz w:val="2"/>')
    changed = "<w:p><w:del><w:r><w:delText>old</w:delText><w:t>gone</w:t></w:r></w:del>"
    changed += "<w:ins><w:r><w:t>new</w:t></w:r></w:ins></w:p>"
    assert read(hidden + changed) == "new"


def test_text_cannot_become_markup() -> None:
    assert read(paragraph("# *a* | &lt;b&gt; [c](d)")) == "\\# \\*a\\* | \\<b> [c\\](d)"


def test_a_merged_cell_repeats_its_paragraphs_as_words() -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>{paragraph("a")}{paragraph("b")}</w:tc>'
    cells = f"<w:tc>{paragraph('c')}</w:tc><w:tc>{paragraph('d')}</w:tc>"
    assert read(f"<w:tbl><w:tr>{wide}</w:tr><w:tr>{cells}</w:tr></w:tbl>") == (
        "| a b | a b |\n| --- | --- |\n| c | d |"
    )


def test_a_text_box_in_a_text_box_is_read_once() -> None:
    start, end = "<w:p><w:r><w:pict><w:txbxContent>", "</w:txbxContent></w:pict></w:r></w:p>"
    assert read(start * 40 + paragraph("Boxed") + end * 40) == "Boxed"


def test_the_title_in_the_usual_part_is_read_without_a_relation_to_it() -> None:
    core = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Harbour tides</dc:title></c>'
    assert (
        zipped(word(paragraph("Text."), {"docProps/core.xml": core}), "", "").title
        == "Harbour tides"
    )


APART = {
    "raised by a position": ('<w:position w:val="10"/>', "10^5 boats"),
    "lowered by a position": ('<w:position w:val="-8"/>', "10_5 boats"),
    "raised by two points": ('<w:position w:val="4"/>', "10^5 boats"),
    "moved a little": ('<w:position w:val="3"/>', "105 boats"),
    "raised by a style": ('<w:rStyle w:val="up"/>', "10^5 boats"),
    "lowered against its style": (
        '<w:rStyle w:val="up"/><w:vertAlign w:val="subscript"/>',
        "10_5 boats",
    ),
    "on the line against its style": (
        '<w:rStyle w:val="up"/><w:vertAlign w:val="baseline"/>',
        "105 boats",
    ),
    "struck twice": ("<w:dstrike/>", "10~~5~~ boats"),
    "struck by a style": ('<w:rStyle w:val="old"/>', "10~~5~~ boats"),
    "not struck against its style": ('<w:rStyle w:val="old"/><w:strike w:val="0"/>', "105 boats"),
}


@pytest.mark.parametrize("case", APART)
def test_raised_lowered_and_struck_text_stays_apart(case: str) -> None:
    look, text = APART[case]
    styles = (
        f'<w:styles {W}><w:style w:styleId="up"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
        '<w:style w:styleId="old"><w:rPr><w:strike/></w:rPr></w:style></w:styles>'
    )
    runs = (
        f"<w:r><w:t>10</w:t></w:r><w:r><w:rPr>{look}</w:rPr><w:t>5</w:t></w:r>"
        '<w:r><w:t xml:space="preserve"> boats</w:t></w:r>'
    )
    parts: dict[str, str | bytes] = {
        "word/styles.xml": styles,
        "word/_rels/document.xml.rels": relations({"s": ("styles", "styles.xml")}),
    }
    assert zipped(word(f"<w:p>{runs}</w:p>", parts), URL, "").markdown == text


def test_a_tab_to_the_margin_parts_two_numbers() -> None:
    runs = "<w:r><w:t>12</w:t></w:r><w:r><w:ptab/></w:r><w:r><w:t>34</w:t></w:r>"
    assert zipped(word(f"<w:p>{runs}</w:p>"), URL, "").markdown == "12 34"


def test_cells_merged_the_old_way_and_deleted_rows() -> None:
    def row(*cells: str, deleted: bool = False) -> str:
        return f"<w:tr><w:trPr>{'<w:del/>' if deleted else ''}</w:trPr>{''.join(cells)}</w:tr>"

    table = row(cell("ab", '<w:hMerge w:val="restart"/>'), cell("", "<w:hMerge/>"), cell("c"))
    table += row(cell("7"), cell("8"), cell("9"), deleted=True)
    table += row(cell("1"), cell("2"), cell("3"))
    markdown = zipped(word(f"<w:tbl>{table}</w:tbl>"), URL, "").markdown
    assert markdown == "| ab | ab | c |\n| --- | --- | --- |\n| 1 | 2 | 3 |"


@pytest.mark.parametrize(("size", "text"), [(4, "Words"), (5, "Words seen")])
def test_text_of_at_most_two_points_is_hidden(size: int, text: str) -> None:
    run = f'<w:r><w:rPr><w:sz w:val="{size}"/></w:rPr><w:t xml:space="preserve"> seen</w:t></w:r>'
    assert read(f"<w:p><w:r><w:t>Words</w:t></w:r>{run}</w:p>") == text


@pytest.mark.parametrize(
    ("level", "text"), [("4", "##### Tides"), ("8", "###### Tides"), ("9", "Tides"), ("x", "Tides")]
)
def test_an_outline_has_nine_levels_of_headings(level: str, text: str) -> None:
    assert read(paragraph("Tides", f'<w:outlineLvl w:val="{level}"/>')) == text
