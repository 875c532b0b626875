"""Each kind of number that Word counts with."""

from __future__ import annotations

import lxml.etree
import pytest

from tests.documents import W
from websearch_gateway.pages.formats.numbering import Numbering


def mark(number: int, kind: str) -> str:
    """The mark of an item that a list numbers with this number."""
    level = (
        f'<w:lvl w:ilvl="0"><w:start w:val="{number}"/><w:numFmt w:val="{kind}"/>'
        '<w:lvlText w:val="%1"/></w:lvl>'
    )
    root = lxml.etree.fromstring(
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="1">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>'
    )
    return Numbering(root).next_mark("1", 0)


@pytest.mark.parametrize(
    ("number", "kind", "text"),
    [
        (3999, "lowerRoman", "mmmcmxcix"),
        (2888, "upperRoman", "MMDCCCLXXXVIII"),
        (444, "lowerRoman", "cdxliv"),
        (1666, "lowerRoman", "mdclxvi"),
        (4000, "upperRoman", "4000"),
        (4000, "lowerRoman", "4000"),
        (26, "lowerLetter", "z"),
        (28, "upperLetter", "BB"),
        (113, "ordinal", "113th"),
        (122, "ordinal", "122nd"),
        (20, "decimalEnclosedCircle", "⑳"),
        (21, "decimalEnclosedCircle", "21"),
        (99, "japaneseCounting", "九十九"),
        (100, "japaneseCounting", "100"),
        (99_999, "decimal", "99999"),
        (100_000, "decimal", "99999"),
    ],
)
def test_a_number_is_written_in_its_kind(number: int, kind: str, text: str) -> None:
    assert mark(number, kind) == text
