"""Signs of the fonts Symbol and Wingdings, which documents name by their place in the font, as Unicode."""

from __future__ import annotations

_GREEK = dict(zip("abcdefghijklmnopqrstuvwxyz", "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
_SYMBOL = {
    **{ord(latin): greek for latin, greek in _GREEK.items()},
    **dict(zip(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)),
    0x22: "∀",
    0x24: "∃",
    0x27: "∋",
    0x2D: "−",
    0x40: "≅",
    0x5C: "∴",
    0x5E: "⊥",
    0x7E: "∼",
    0xA3: "≤",
    0xA5: "∞",
    0xAB: "↔",
    0xAC: "←",
    0xAD: "↑",
    0xAE: "→",
    0xAF: "↓",
    0xB0: "°",
    0xB1: "±",
    0xB2: "″",
    0xB3: "≥",
    0xB4: "×",
    0xB5: "∝",
    0xB6: "∂",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBA: "≡",
    0xBB: "≈",
    0xBC: "…",
    0xC4: "⊗",
    0xC5: "⊕",
    0xC6: "∅",
    0xC7: "∩",
    0xC8: "∪",
    0xCC: "⊂",
    0xCD: "⊆",
    0xCE: "∈",
    0xCF: "∉",
    0xD1: "∇",
    0xD5: "∏",
    0xD6: "√",
    0xD7: "⋅",
    0xD8: "¬",
    0xD9: "∧",
    0xDA: "∨",
    0xDB: "⇔",
    0xDC: "⇐",
    0xDE: "⇒",
    0xE5: "∑",
    0xF2: "∫",
}
_WINGDINGS = {
    0x4A: "☺",
    0x4C: "☹",
    0x6C: "●",
    0x6E: "■",
    0x6F: "□",
    0x70: "□",
    0x71: "❑",
    0x75: "◆",
    0x76: "❖",
    0x9F: "•",
    0xA1: "○",
    0xA7: "▪",
    0xA8: "☐",
    0xAB: "★",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
_PRIVATE_USE = 0xF000
UNKNOWN = "\ufffd"


def symbol(font: str, code: str) -> str:
    """The sign at a hexadecimal place of a font; the character itself of a font with usual places."""
    try:
        place = int(code, 16)
    except ValueError:
        return ""
    table = _FONTS.get(font.strip().lower())
    if table is not None:
        return table.get(place - _PRIVATE_USE if place >= _PRIVATE_USE else place, UNKNOWN)
    is_character = 0x20 <= place < 0xD800 or 0xF900 <= place < 0x110000
    return chr(place) if is_character else UNKNOWN
