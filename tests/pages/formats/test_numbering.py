"""Each kind of number that Word counts with."""

from __future__ import annotations

import lxml.etree
import pytest

from tests.documents import W
from websearch_gateway.pages.formats.numbering import Numbering


def numbering(levels: str, changes: str = "") -> Numbering:
    """The list 1, which has these levels and changes them."""
    root = lxml.etree.fromstring(
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="1"/>{changes}</w:num></w:numbering>'
    )
    return Numbering(root)


def level(at: int, text: str, more: str = "", kind: str = "decimal", start: int = 1) -> str:
    """A level whose numbers stand in a text."""
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{text}"/>{more}</w:lvl>'
    )


def mark(number: int, kind: str) -> str:
    """The mark of an item that a list numbers with this number."""
    return numbering(level(0, "%1", kind=kind, start=number)).next_mark("1", 0)


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
        (101, "ordinal", "101st"),
        (3, "ordinal", "3rd"),
        (9, "ordinal", "9th"),
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


def test_a_list_has_nine_levels() -> None:
    lists = numbering("".join(level(at, f"%{at + 1}") for at in range(9)))
    assert [lists.next_mark("1", at) for at in (8, 8, 0, 8)] == ["1", "2", "1", "1"]


def test_a_list_that_is_not_declared_has_no_levels() -> None:
    lists = numbering(level(0, "%1"))
    assert lists.level("2", 0) is None
    assert lists.level("1", 0) is not None


def test_a_list_may_change_the_levels_that_it_shares() -> None:
    change = f'<w:lvlOverride w:ilvl="0">{level(0, "(%1)")}</w:lvlOverride>'
    begins_later = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
    assert numbering(level(0, "%1."), change).next_mark("1", 0) == "(1)"
    assert numbering(level(0, "%1."), begins_later).next_mark("1", 0) == "7."


@pytest.mark.parametrize(
    ("legal", "text"),
    [("", "I.1"), ("<w:isLgl/>", "1.1"), ('<w:isLgl w:val="0"/>', "I.1")],
)
def test_a_legal_level_writes_all_numbers_with_digits(legal: str, text: str) -> None:
    lists = numbering(level(0, "%1", kind="upperRoman") + level(1, "%1.%2", legal))
    lists.next_mark("1", 0)
    assert lists.next_mark("1", 1) == text
