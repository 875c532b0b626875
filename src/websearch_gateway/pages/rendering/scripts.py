"""Raised and lowered text: it never touches its base, so that 10 to the power of 5 does not become 105."""

from __future__ import annotations

import re

_RAISED = str.maketrans("0123456789+-−ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_ONE_SIGN = re.compile(r"[-+−]?[0-9]+|[0-9]*[-+−]|[ni]")
"""Signs that are easier to read in Unicode's own characters, unlike expressions such as n+1."""
_SIGNS = ("+", "-", "−")
_ORDINALS = frozenset(
    (
        "st",
        "nd",
        "rd",
        "th",
        "er",
        "re",
        "ère",
        "e",
        "è",
        "ème",
        "eme",
        "de",
        "a",
        "o",
        "os",
        "as",
        "ª",
        "º",
    )
)
"""What stands raised after a number in English, French, Spanish, Italian and Portuguese."""
_TRADE_MARKS = {"tm": "™", "sm": "℠", "r": "®", "c": "©"}
_PLAIN = re.compile(r"[-+−]?[\w.,'′*]+")
_LONGEST = 40
"""A longer raised text is a remark in small letters, not a power or an index."""


def scripted(inner: str, base: str, following: str, *, is_raised: bool) -> str:
    """A raised or lowered text as it stands in a line of Markdown.

    Args:
        inner: the text, as Markdown, not empty and without blanks around it.
        base: the character before it, "" at the start of a line.
        following: the character after it.

    Returns: Unicode's own characters where all exist, except beside a digit: programs that fold them would read one
        number. Else `^5`, `_2`, with brackets around an expression.
    """
    is_mark = inner not in _SIGNS and not any(map(str.isalnum, inner))  # such as an asterisk
    if inner[0] in "[`" or is_mark:  # of a link or a formula
        return inner
    if is_raised and base.isdigit() and inner.lower().rstrip(".") in _ORDINALS:
        return inner
    if is_raised and base.isalpha() and (trade_mark := _trade_mark(inner)):
        return trade_mark
    if _ONE_SIGN.fullmatch(inner) and not base.isdigit() and not following.isdigit():
        characters = inner.translate(_RAISED if is_raised else _LOWERED)
        if set(inner).isdisjoint(characters):
            return characters
    space = " " if following.isalnum() else ""
    if not base.strip():
        return inner + space
    if len(inner) > _LONGEST:
        return f" {inner}{space}"
    expression = inner if _PLAIN.fullmatch(inner) else f"({inner})"
    if is_raised:
        return f"^{expression}{space}"
    sign = "_" if base.isalnum() else "\\_"
    return f"{sign}{expression}{space}"


def _trade_mark(letters: str) -> str:
    """The sign of a trade mark that is written with these letters; a small letter alone is a variable."""
    is_variable = len(letters) == 1 and not letters.isupper()
    return "" if is_variable else _TRADE_MARKS.get(letters.lower(), "")
