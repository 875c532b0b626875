"""Documents name the signs of some fonts by their places. The places are those of the fonts of Microsoft Office."""

from __future__ import annotations

import pytest

from websearch_gateway.pages.formats.symbols import UNKNOWN, symbol

SYMBOL = {
    0x20: "��∀�∃��∋�����−��" + "�" * 16,
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ�∴�⊥�",
    0x60: "�αβχδεφγηιϕκλμνοπθρστυϖωξψζ���∼�",
    0x80: "�" * 32,
    0xA0: "���≤�∞�����↔←↑→↓°±″≥×∝∂•÷≠≡≈…���",
    0xC0: "����⊗⊕∅∩∪���⊂⊆∈∉�∇���∏√⋅¬∧∨⇔⇐�⇒�",
    0xE0: "�����∑������������∫�������������",
}
WINGDINGS = {
    0x20: "�" * 32,
    0x40: "����������☺�☹�������������������",
    0x60: "������������●�■□□❑���◆❖���������",
    0x80: "�" * 31 + "•",
    0xA0: "�○�����▪☐��★��������������������",
    0xC0: "������������������������➢������←",
    0xE0: "→↑↓�����➔�������⇨����������✗✓☒☑�",
}
WINGDINGS_2 = {
    0x20: "�" * 32,
    0x40: "���������������✗✓☒☑☒☒�����������",
    0x60: "�" * 32,
    0x80: "�" * 32,
    0xA0: "���☐" + "�" * 28,
    0xC0: "�" * 32,
    0xE0: "�" * 32,
}


@pytest.mark.parametrize(
    ("font", "rows"), [("Symbol", SYMBOL), ("Wingdings", WINGDINGS), ("Wingdings 2", WINGDINGS_2)]
)
@pytest.mark.parametrize("offset", [0, 0xF000])
def test_each_place_of_a_font_has_its_sign(font: str, rows: dict[int, str], offset: int) -> None:
    found = {
        row: "".join(symbol(font, f"{offset + row + place:X}") for place in range(32))
        for row in rows
    }
    assert found == rows


@pytest.mark.parametrize(
    ("code", "sign"),
    [("41", "A"), ("1F", UNKNOWN), ("F8FF", UNKNOWN), ("F900", "\uf900"), ("x", "")],
)
def test_another_font_has_the_usual_places(code: str, sign: str) -> None:
    assert symbol("Arial", code) == sign
