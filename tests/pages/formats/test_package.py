"""What is in a container decides how it is read, and nothing in it exceeds the limits of a document."""

from __future__ import annotations

import struct

import pytest

from tests.documents import (
    book,
    office,
    open_document,
    packed,
    paragraph,
    relations,
    shape,
    slides,
    word,
)
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats import package
from websearch_gateway.pages.formats.containers import compound, zipped
from websearch_gateway.pages.formats.package import Package

URL = "https://example.com/a"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def entry(name: str) -> bytes:
    """An entry of an OLE directory."""
    return name.encode("utf-16-le").ljust(128, b"\0")


def reason_of(body: bytes) -> str:
    with pytest.raises(SearchFetchError) as caught:
        (compound if body.startswith(OLE[:8]) else zipped)(body, URL, "")
    return str(caught.value.details.get("reason"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (word(paragraph("Words")), "Words"),
        (slides(shape("Words")), "## Slide 1\n\nWords"),
        (open_document("text", "<text:p>Words</text:p>"), "Words"),
        (open_document("text-template", "").replace(b"text-template", b"text-template"), ""),
        (book(["<p>Words</p>"]), "Words"),
        (office("word/other.xml", {"word/other.xml": "<x/>"}), ""),
    ],
)
def test_a_container_is_read_by_what_it_holds(body: bytes, text: str) -> None:
    assert zipped(body, URL, "").markdown == text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (packed({"a.txt": "words"}), "type"),
        (office("visio/document.xml", {}), "unsupported"),
        (open_document("drawing", ""), "unsupported"),
        (OLE + entry("Root Entry") + entry("EncryptedPackage"), "encrypted"),
        (
            OLE + b"a" + entry("Book") + bytes(127) + entry("WordDocument") + entry("Workbook"),
            "unsupported",
        ),
        (OLE + entry("PowerPoint Document"), "unsupported"),
        (OLE + entry("__properties_version1.0"), "unsupported"),
        (OLE, "type"),
        (b"PK\x03\x04" + bytes(100), "damaged"),
        (word(paragraph("Words"))[:200], "damaged"),
    ],
)
def test_other_containers_say_what_they_are(body: bytes, reason: str) -> None:
    assert reason_of(body) == reason


def test_encrypted_entries_say_so() -> None:
    body = bytearray(word(paragraph("Words")))
    at = 0
    while (at := body.find(b"PK\x01\x02", at)) >= 0:  # the flags of each entry in the directory
        body[at + 8] |= 1
        at += 4
    assert reason_of(bytes(body)) == "encrypted"


def test_a_zip_bomb_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MOST_UNPACKED", 1_000_000)
    assert reason_of(word(paragraph("a" * 2_000_000))) == "too_large"


def test_parts_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "MOST_UNPACKED", 1_000_000)
    assert reason_of(book([f"<p>{'a' * 300_000}</p>"] * 5)) == "too_large"


def test_very_many_entries_are_too_large() -> None:
    body = packed({f"{n}": "" for n in range(package.MOST_ENTRIES + 1)})
    assert reason_of(body) == "too_large"


def test_a_lying_size_changes_nothing() -> None:
    """The directory announces two bytes for the text; what is unpacked counts."""
    body = bytearray(word(paragraph("Words")))
    at = body.find(b"PK\x01\x02", body.find(b"PK\x01\x02", body.find(b"PK\x01\x02") + 1) + 1)
    body[at + 24 : at + 28] = struct.pack("<I", 2)
    assert zipped(bytes(body), URL, "").markdown in ("", "Words")


LAUGHS = (
    "<!DOCTYPE x ["
    + '<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]>"
)


@pytest.mark.parametrize(
    "xml",
    [
        LAUGHS + "<w:document>&j;</w:document>",
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><w:document>&a;</w:document>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd"><w:document/>',
        "<w:document>" + "<w:p>" * 100_000,
        "\0\1\2",
    ],
)
def test_hostile_xml_reads_as_nothing(xml: str) -> None:
    """A billion laughs, external entities and definitions, deep nesting, and no XML."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    inner = f"<w:body>{paragraph('Words')}"
    text = xml.replace("<w:document>", f"<w:document {space}>{inner}", 1).replace(
        "</w:document>", "</w:body></w:document>"
    )
    read = zipped(office("word/document.xml", {"word/document.xml": text}), URL, "").markdown
    assert read in ("", "Words")


def test_relations_may_be_cyclic_and_lead_nowhere() -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relations(
            {
                "a": ("styles", "document.xml"),
                "b": ("numbering", "../../../../etc/passwd"),
                "c": ("footnotes", "document.xml"),
                "d": ("chart", "document.xml"),
            }
        )
    }
    note = '<w:p><w:r><w:t>Heavy</w:t><w:footnoteReference w:id="1"/></w:r></w:p>'
    assert zipped(word(note, parts), URL, "").markdown == "Heavy[^1]\n\n[^1]:"


def test_a_footnote_in_itself_is_read_once() -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    notes = f'<w:footnotes {space}><w:footnote w:id="1">{{}}</w:footnote></w:footnotes>'
    itself = '<w:p><w:r><w:t>Again</w:t><w:footnoteReference w:id="1"/></w:r></w:p>'
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relations({"c": ("footnotes", "footnotes.xml")}),
        "word/footnotes.xml": notes.format(itself),
    }
    assert zipped(word(itself, parts), URL, "").markdown == "Again[^1]\n\n[^1]: Again[^1]"


def test_nested_tables_become_text() -> None:
    inner = f"<w:tbl><w:tr><w:tc>{paragraph('in')}</w:tc><w:tc>{paragraph('side')}</w:tc></w:tr></w:tbl>"
    table = f"<w:tbl><w:tr><w:tc>{paragraph('a')}{inner}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>"
    assert zipped(word(table), URL, "").markdown == "| a in side | b |\n| --- | --- |"


def test_spans_and_levels_that_lie_are_capped() -> None:
    wide = f"<w:tc><w:tcPr><w:gridSpan w:val='99999'/></w:tcPr>{paragraph('a')}</w:tc>"
    level = "<w:numPr><w:ilvl w:val='99999'/><w:numId w:val='1'/></w:numPr>"
    text = zipped(
        word(f"<w:tbl><w:tr>{wide}</w:tr></w:tbl>{paragraph('b', level)}"), URL, ""
    ).markdown
    assert len(text) < 2_000


@pytest.mark.parametrize(("entries", "reason"), [(20_000, "damaged"), (20_001, "too_large")])
def test_an_archive_has_at_most_20_000_entries(entries: int, reason: str) -> None:
    with pytest.raises(SearchFetchError) as caught:
        Package(b"PK\x01\x02" * entries)
    assert caught.value.details["reason"] == reason


def test_an_archive_is_unpacked_up_to_60_million_bytes() -> None:
    assert Package(packed({"a": "b"})).room == 60_000_000


def test_a_part_has_at_most_20_000_relations() -> None:
    row = '<Relationship Id="r" Type="t" Target="a"/>'
    most, more = (
        Package(packed({"_rels/.rels": f"<Relationships>{row * count}</Relationships>"}))
        for count in (20_000, 20_001)
    )
    assert most.relations("")["r"].target == "a"
    with pytest.raises(SearchFetchError, match="more than may be unpacked"):
        more.relations("")
