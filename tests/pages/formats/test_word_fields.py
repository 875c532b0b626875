"""What Word computes or draws is read as it is shown: numbers, fields, signs of fonts, ticks, other documents."""

from __future__ import annotations

import pytest

from tests.documents import W, packed, paragraph, relations, word
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.numbering import _counted

URL = "https://example.com/a"


def read(body: str, parts: dict[str, str | bytes] | None = None) -> str:
    return zipped(word(body, parts), URL, "").markdown


def level(at: int, kind: str, text: str, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


def numbered(*levels: str, change: str = "") -> dict[str, str | bytes]:
    """The parts of a document with a list of these levels, which has the ids 1 and 2."""
    abstract = f'<w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>'
    lists = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    lists += f'<w:num w:numId="2"><w:abstractNumId w:val="0"/>{change}</w:num>'
    styles = "".join(
        f'<w:style w:styleId="H{n}"><w:name w:val="heading {n}"/>'
        '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
        for n in (1, 2)
    )
    return {
        "word/numbering.xml": f"<w:numbering {W}>{abstract}{lists}</w:numbering>",
        "word/styles.xml": f"<w:styles {W}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": relations(
            {"n": ("numbering", "numbering.xml"), "s": ("styles", "styles.xml")}
        ),
    }


def item(text: str, at: int = 0, list_id: int = 1) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{list_id}"/></w:numPr>')


def test_headings_have_the_numbers_that_word_shows() -> None:
    levels = (
        level(0, "upperRoman", "Part %1", '<w:pStyle w:val="H1"/>'),
        level(1, "decimal", "%1.%2", '<w:pStyle w:val="H2"/><w:isLgl/>'),
    )
    names = [("H1", "Gulls"), ("H2", "Food"), ("H2", "Nests"), ("H1", "Terns"), ("H2", "Food")]
    body = "".join(paragraph(text, f'<w:pStyle w:val="{style}"/>') for style, text in names)
    assert read(body, numbered(*levels)).split("\n\n") == [
        "# Part I Gulls",
        "## 1.1 Food",
        "## 1.2 Nests",
        "# Part II Terns",
        "## 2.1 Food",
    ]


@pytest.mark.parametrize(
    ("kind", "text", "marks"),
    [
        ("decimal", "%1.", ["1.", "2.", "3."]),
        ("decimal", "%1)", ["- 1)", "- 2)", "- 3)"]),
        ("lowerLetter", "(%1)", ["- (a)", "- (b)", "- (c)"]),
        ("upperRoman", "§ %1", ["- § I", "- § II", "- § III"]),
        ("decimalZero", "No. %1", ["- No. 01", "- No. 02", "- No. 03"]),
        ("bullet", "•", ["*", "*", "*"]),
        ("ordinal", "%1", ["- 1st", "- 2nd", "- 3rd"]),
        ("chineseCounting", "%1、", ["- 一、", "- 二、", "- 三、"]),
        ("decimalEnclosedCircle", "%1", ["- ①", "- ②", "- ③"]),
    ],
)
def test_items_have_the_marks_that_word_shows(kind: str, text: str, marks: list[str]) -> None:
    lines = read(
        "".join(map(item, ("one", "two", "three"))), numbered(level(0, kind, text))
    ).splitlines()
    shown = [
        line.replace("\\", "").removesuffix(f" {name}")
        for line, name in zip(lines, ("one", "two", "three"), strict=True)
    ]
    assert [mark.replace("* ", "- ") for mark in shown] == marks


def test_a_list_goes_on_after_a_paragraph_and_another_starts_anew() -> None:
    change = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    body = item("a") + paragraph("Text.") + item("b") + paragraph("Text.") + item("c", list_id=2)
    text = read(body, numbered(level(0, "decimal", "%1."), change=change))
    assert [line for line in text.splitlines() if line and line != "Text."] == [
        "1. a",
        "2. b",
        "7. c",
    ]


BEGIN, SEPARATE, END = (
    f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
)


def instruction(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


def shown(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (
            BEGIN
            + instruction('HYPERLINK "https://gull.example/"')
            + SEPARATE
            + shown("gulls")
            + END,
            "[gulls](https://gull.example/)",
        ),
        (
            BEGIN
            + instruction("HYPER")
            + instruction('LINK "https://gull.example/"')
            + SEPARATE
            + shown("gulls")
            + END,
            "[gulls](https://gull.example/)",
        ),
        (
            "<w:fldSimple w:instr='HYPERLINK \"https://gull.example/\"'>"
            + shown("gulls")
            + "</w:fldSimple>",
            "[gulls](https://gull.example/)",
        ),
        (BEGIN + instruction('HYPERLINK \\l "mark"') + SEPARATE + shown("gulls") + END, "gulls"),
        (BEGIN + instruction("PAGE") + SEPARATE + shown("7") + END, "7"),
        (
            BEGIN
            + instruction("IF ")
            + BEGIN
            + instruction("X")
            + SEPARATE
            + shown("no")
            + END
            + SEPARATE
            + shown("yes")
            + END,
            "yes",
        ),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FC"/></w:r>', "✓"),
        ('<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>', "α"),
        ('<w:r><w:sym w:font="Arial" w:char="00D7"/></w:r>', "×"),
        ('<w:r><w:sym w:font="Unknown" w:char="F0AB"/></w:r>', "\ufffd"),
        (
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/><w:checked/>'
            "</w:checkBox></w:ffData></w:fldChar></w:r>"
            + instruction("FORMCHECKBOX")
            + SEPARATE
            + END,
            "☑",
        ),
        (
            '<w:sdt xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"><w:sdtPr><w14:checkbox>'
            f'<w14:checked w14:val="0"/></w14:checkbox></w:sdtPr><w:sdtContent>{shown("x")}</w:sdtContent></w:sdt>',
            "☐",
        ),
        (
            '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="North"/>'
            '<w:listEntry w:val="South"/></w:ddList></w:ffData></w:fldChar></w:r>' + END,
            "South",
        ),
        (
            f"<w:r><w:ruby><w:rt>{shown('mon')}</w:rt><w:rubyBase>{shown('門')}</w:rubyBase></w:ruby></w:r>",
            "門(mon)",
        ),
    ],
    ids=[
        *("link", "link in parts", "simple link", "link within", "page", "nested"),
        *(
            "Wingdings",
            "Symbol",
            "usual font",
            "unknown font",
            "ticked",
            "unticked",
            "choice",
            "reading",
        ),
    ],
)
def test_fields_signs_and_ticks_are_read_as_they_are_shown(runs: str, text: str) -> None:
    assert read(f"<w:p>{shown('So ')}{runs}{shown(' it is.')}</w:p>") == f"So {text} it is."


def test_a_document_in_the_place_of_paragraphs_is_read() -> None:
    parts: dict[str, str | bytes] = {
        "word/a.html": "<html><head><style>p {}</style></head><body><p>Of <b>gulls</b>.</p><script>x</script>",
        "word/_rels/document.xml.rels": relations({"c": ("aFChunk", "a.html")}),
    }
    body = paragraph("Before.") + '<w:altChunk r:id="c"/>' + paragraph("After.")
    assert read(body, parts).split("\n\n") == ["Before.", "Of **gulls**.", "After."]


def test_a_strict_document_is_read() -> None:
    main = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    start = "http://purl.oclc.org/ooxml/officeDocument/relationships/officeDocument"
    body = packed(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": (
                '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
                f'<Relationship Id="r1" Type="{start}" Target="word/document.xml"/></Relationships>'
            ),
            "word/document.xml": f'<w:document xmlns:w="{main}"><w:body>{paragraph("Gulls.")}</w:body></w:document>',
        }
    )
    assert zipped(body, URL, "").markdown == "Gulls."


@pytest.mark.parametrize(
    ("number", "marks"),
    [
        (10, ["十", "10th", "⑩"]),
        (12, ["十二", "12th", "⑫"]),
        (21, ["二十一", "21st", "21"]),
        (99, ["九十九", "99th", "99"]),
    ],
)
def test_numbers_are_written_as_word_writes_them(number: int, marks: list[str]) -> None:
    kinds = ("chineseCounting", "ordinal", "decimalEnclosedCircle")
    assert [_counted(number, kind) for kind in kinds] == marks
