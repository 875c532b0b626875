"""Numbers of cells as a spreadsheet shows them, by the code of their format. Pure.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 18.8.31).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    48: "0.0E+0",
    **dict.fromkeys((5, 6, 37, 38, 41, 42), "#,##0"),
    **dict.fromkeys((7, 8, 39, 40, 43, 44), "#,##0.00"),
}
"""The codes of the built-in formats, which a workbook names by number. Some show the currency of the reader's system."""
MOST_DECIMALS = 15


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a number is written.

    Attributes:
        before, after: the text around it.
        whole_digits, decimals: its least digits before the point, and its digits behind it.
        thousandths: how often it is divided by a thousand.
        exponent_digits: the digits of its exponent; 0 if it has none.
        places: the form of a number whose digits stand between other signs, such as `000-0000`.
        zero: what stands in place of 0; None for its digits.
        is_unseen: whether the cell shows nothing.
    """

    before: str = ""
    after: str = ""
    whole_digits: int = 1
    decimals: int = 0
    has_thousands: bool = False
    is_percentage: bool = False
    thousandths: int = 0
    exponent_digits: int = 0
    places: str = ""
    zero: str | None = None
    is_unseen: bool = False

    def written(self, value: float) -> str:
        """A number in this format. A negative one has its sign, even where the format puts it in brackets."""
        if self.is_unseen:
            return ""
        if value == 0 and self.zero is not None:
            return self.zero
        try:
            return self._counted(value)
        except InvalidOperation:  # not a number, or too large to be written out
            return str(value)

    def _counted(self, value: float) -> str:
        exact = abs(Decimal(repr(value))).scaleb(-3 * self.thousandths)
        if self.is_percentage:
            exact *= 100
        if self.exponent_digits:
            return self._with_exponent(exact, "-" if value < 0 else "")
        rounded = exact.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)
        sign = "-" if value < 0 and rounded else ""
        if self.places:
            return sign + self._in_places(f"{rounded:f}")
        text = f"{rounded:,f}" if self.has_thousands else f"{rounded:f}"
        whole, point, decimals = text.partition(".")
        return f"{sign}{self.before}{whole.zfill(self.whole_digits)}{point}{decimals}{self.after}"

    def _with_exponent(self, exact: Decimal, sign: str) -> str:
        digits, _, exponent = f"{exact:.{self.decimals}E}".partition("E")
        power = exponent[1:].zfill(self.exponent_digits)
        return f"{sign}{self.before}{digits}E{exponent[0]}{power}{self.after}"

    def _in_places(self, digits: str) -> str:
        """The digits from the last place to the first one, which takes all that remain."""
        backwards: list[str] = []
        open_places = self.places.count("0")
        for sign in reversed(self.places):
            if sign != "0":
                backwards.append(sign)
                continue
            open_places -= 1
            backwards.append((digits[-1:] if open_places else digits) or "0")
            digits = digits[:-1]
        return "".join(reversed(backwards)).strip()


# --- codes ---

LONGEST_CODE = 200
_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*)(?:;|\Z)')
"""The format of positive numbers, and behind it those of negative ones and of zero."""
_CONDITION = re.compile(r"\[[<>=]")
_UNSEEN = re.compile(r"(?:\[[^\]]*\])?;[;\s]*")
_DIGITS = re.compile(r"(?:[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+),*")
_EXPONENT = re.compile(r"E[+-](0{1,3})", re.IGNORECASE)
# Dates, fractions and conditions have other rules; the value itself serves there.
_OTHER_RULES = re.compile(r"[ymdhse@/]|general", re.IGNORECASE)


def number_format(code: str) -> NumberFormat | None:
    """The format of positive numbers that a code describes; None if it shows the value as it is, or by other rules."""
    if len(code) > LONGEST_CODE or _CONDITION.search(code):
        return None
    if _UNSEEN.fullmatch(code):
        return NumberFormat(is_unseen=True)
    positive, *others = [section[1] for section in _SECTION.finditer(code)]
    zero = _text_alone(others[1]) if len(others) > 1 else None
    shape = _shape(positive)
    digits = _digits(shape.signs)
    if digits is None:
        return None
    before, after = shape.signs[: digits.start], shape.signs[digits.end :]
    if _OTHER_RULES.search(before + after):
        return None
    if _DIGITS.search(after):
        return None if digits.exponent_digits else _in_places(shape, zero)
    texts_before = before.count(_TEXT)
    return NumberFormat(
        before=_filled(before, shape.texts).lstrip(" ("),
        after=_filled(after, shape.texts[texts_before:]).rstrip(" )"),
        whole_digits=max(digits.whole.count("0"), 1),
        decimals=min(len(digits.decimals), MOST_DECIMALS),
        has_thousands="," in digits.whole,
        is_percentage="%" in shape.signs,
        thousandths=digits.thousandths,
        exponent_digits=digits.exponent_digits,
        zero=zero,
    )


@dataclass(frozen=True, slots=True)
class _Digits:
    """Where the first digits of a section stand, with their exponent, and what is before and behind their point."""

    start: int
    end: int
    whole: str
    decimals: str
    thousandths: int
    exponent_digits: int


def _digits(signs: str) -> _Digits | None:
    digits = _DIGITS.search(signs)
    if digits is None:
        return None
    exponent = _EXPONENT.match(signs, digits.end())
    number = digits[0].rstrip(",")  # each comma behind it divides by a thousand
    whole, _, decimals = number.partition(".")
    return _Digits(
        start=digits.start(),
        end=exponent.end() if exponent else digits.end(),
        whole=whole,
        decimals=decimals,
        thousandths=len(digits[0]) - len(number),
        exponent_digits=len(exponent[1]) if exponent else 0,
    )


_PLACES = re.compile(r"[0#?()\s\0/-]*")
"""Digits between signs that are no points, commas or letters."""


def _in_places(shape: _Shape, zero: str | None) -> NumberFormat | None:
    """The format of numbers whose digits stand between other signs; None if these are no such signs."""
    if not _PLACES.fullmatch(shape.signs):
        return None
    places = _filled(shape.signs, shape.texts).replace("?", "0").replace("#", "0")
    return NumberFormat(places=places, zero=zero)


def _text_alone(section: str) -> str | None:
    """The text of a section without digits; None for any other."""
    shape = _shape(section)
    signs = shape.signs.replace("?", "")
    if _DIGITS.search(signs) or _OTHER_RULES.search(signs):
        return None
    return _filled(signs, shape.texts).strip()


# --- the texts in a code ---

_TEXT = "\0"
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_PADDING = re.compile(r"[_*].")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')


@dataclass(frozen=True, slots=True)
class _Shape:
    """A section of a code: its signs, with a zero byte in place of each of its texts, and these."""

    signs: str
    texts: list[str]


def _shape(section: str) -> _Shape:
    bare = _CURRENCY.sub(r'"\1"', section)
    bare = _PADDING.sub("", bare)
    bare = _BRACKETS.sub("", bare)
    texts = [quoted[1] or quoted[2] or "" for quoted in _QUOTED.finditer(bare)]
    return _Shape(_QUOTED.sub(_TEXT, bare), texts)


def _filled(signs: str, texts: Iterable[str]) -> str:
    """Signs with their texts."""
    rest = iter(texts)
    return re.sub(_TEXT, lambda _: next(rest), signs)
