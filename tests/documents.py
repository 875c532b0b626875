"""Small office documents, written by hand, for tests of their readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from types import MappingProxyType
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_ODF = "".join(
    f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
    for name, full in {
        **{name: name for name in ("office", "text", "table", "style", "presentation", "manifest")},
        "draw": "drawing",
        "fo": "xsl-fo-compatible",
        "svg": "svg-compatible",
    }.items()
)


def packed(parts: dict[str, str | bytes]) -> bytes:
    """A zip archive of these parts."""
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text, ZIP_STORED if name == "mimetype" else ZIP_DEFLATED)
    return file.getvalue()


def relations(found: dict[str, tuple[str, str]]) -> str:
    """A part of relations: type and target by id. A target with a scheme is outside of the document."""
    rows = ""
    for name, (kind, target) in found.items():
        outside = ' TargetMode="External"' if ":" in target else ""
        rows += f'<Relationship Id="{name}" Type="{_TYPES}{kind}" Target="{target}"{outside}/>'
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def office(main: str, parts: dict[str, str | bytes]) -> bytes:
    """An Office document whose main part is `main`."""
    start = {
        "[Content_Types].xml": "<Types/>",
        "_rels/.rels": relations({"r1": ("officeDocument", main)}),
    }
    return packed({**start, **parts})


def word(body: str, parts: dict[str, str | bytes] | None = None) -> bytes:
    """A Word document with this XML in its body."""
    return office(
        "word/document.xml",
        {
            "word/document.xml": f"<w:document {W} {R} {A}><w:body>{body}</w:body></w:document>",
            **(parts or {}),
        },
    )


def paragraph(text: str, properties: str = "", run: str = "") -> str:
    """A paragraph of a Word document."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def slides(*trees: str, parts: dict[str, str | bytes] | None = None, show: str = "1") -> bytes:
    """A presentation whose slides have these shapes; `show` is that of the last one."""
    numbers = range(1, len(trees) + 1)
    named = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in numbers)
    found: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{named}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in numbers}
        ),
    }
    for n, tree in zip(numbers, trees, strict=True):
        shown = show if n == len(trees) else "1"
        found[f"ppt/slides/slide{n}.xml"] = (
            f'<p:sld {P} {A} {R} show="{shown}"><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>'
        )
    return office("ppt/presentation.xml", {**found, **(parts or {})})


def shape(text: str, kind: str = "", top: int | None = None) -> str:
    """A shape with a paragraph for each line."""
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    place = "" if top is None else f'<a:xfrm><a:off x="0" y="{top}"/></a:xfrm>'
    lines = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    named = f"<p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr>"
    return f"<p:sp>{named}<p:txBody>{lines}</p:txBody></p:sp>"


def open_document(
    kind: str, body: str, styles: str = "", parts: dict[str, str | bytes] | None = None
) -> bytes:
    """An OpenDocument file: `kind` is text, presentation or spreadsheet."""
    content = (
        f'<office:document-content{_ODF} xmlns:xlink="http://www.w3.org/1999/xlink">'
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    declared = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "META-INF/manifest.xml": f"<x{_ODF}/>",
    }
    return packed({**declared, "content.xml": content, **(parts or {})})


def book(
    chapters: list[str], facts: str = "", parts: dict[str, str | bytes] | None = None
) -> bytes:
    """An EPUB of these chapters; `facts` are elements of its metadata."""
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(chapters)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata>{facts}</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    return packed(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            **{
                f"OEBPS/c{n}.xhtml": f"<html><body>{text}</body></html>"
                for n, text in enumerate(chapters)
            },
            **(parts or {}),
        }
    )


def drawn(
    *pages: str,
    outline: Sequence[tuple[str, int]] = (),
    title: str = "",
    unicode: str = "",
    more: Mapping[int, str] = MappingProxyType({}),
    catalog: str = "",
    on_page: str = "",
) -> bytes:
    """A PDF of pages of 300 by 300 points. `outline` has titles and page indexes, the second below the first.
    `more` are further objects, 7 and 8; `catalog` and `on_page` are further entries of the catalog and of each page.

    With `unicode` (hexadecimal UTF-16) the letter A stands for these characters.
    """
    objects = {
        1: f"<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R{catalog}>>",
        3: f"<</Title({title})>>",
    }
    objects[4] = (
        f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica{'/ToUnicode 9 0 R' if unicode else ''}>>"
    )
    if unicode:
        codes = f"1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <{unicode}> endbfchar"
        objects[9] = f"<</Length {len(codes)}>>stream\n{codes}\nendstream"
    objects |= more
    kids = []
    for number, text in enumerate(pages):
        page, content = 20 + 2 * number, 21 + 2 * number
        resources = "/Resources<</Font<</F 4 0 R>>>>/MediaBox[0 0 300 300]"
        objects[page] = f"<</Type/Page/Parent 2 0 R{resources}{on_page}/Contents {content} 0 R>>"
        objects[content] = f"<</Length {len(text)}>>stream\n{text}\nendstream"
        kids.append(f"{page} 0 R")
    objects[2] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    objects[5] = "<</Type/Outlines/First 6 0 R/Last 6 0 R>>" if outline else "<</Type/Outlines>>"
    for level, (heading, index) in enumerate(outline):
        number = 6 + level
        below = f"/First {number + 1} 0 R/Last {number + 1} 0 R" if level + 1 < len(outline) else ""
        objects[number] = (
            f"<</Title({heading})/Parent {number - 1} 0 R{below}/Dest[{20 + 2 * index} 0 R/Fit]>>"
        )
    body, places = b"%PDF-1.7\n", {}
    for number, text in sorted(objects.items()):
        places[number] = len(body)
        body += f"{number} 0 obj{text}endobj\n".encode()
    table = "".join(
        f"{number} 1\n{place:010} 00000 n \n" for number, place in sorted(places.items())
    )
    trailer = f"trailer<</Root 1 0 R/Info 3 0 R/Size {30 + 2 * len(pages)}>>\nstartxref\n{len(body)}\n%%EOF"
    return body + f"xref\n0 1\n0000000000 65535 f \n{table}{trailer}".encode()


def at(x: float, y: float, text: str, size: float = 10) -> str:
    """The instructions that write words at a place of a PDF page."""
    return f"BT /F {size} Tf {x} {y} Td ({text}) Tj ET\n"
