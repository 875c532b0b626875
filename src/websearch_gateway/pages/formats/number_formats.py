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
LONGEST_CODE = 200
MOST_DECIMALS = 15

_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*)(?:;|\Z)')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_PADDING = re.compile(r"[_*].")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_DIGITS = re.compile(r"(?:[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+),*")
_EXPONENT = re.compile(r"E[+-](0{1,3})", re.IGNORECASE)
# Dates, fractions and conditions have other rules; the value itself serves there.
_OTHER_RULES = re.compile(r"[ymdhse@/]|general", re.IGNORECASE)
_UNSEEN = re.compile(r"(?:\[[^\]]*\])?;[;\s]*")
_CONDITION = re.compile(r"\[[<>=]")


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
            exact = abs(Decimal(repr(value))) * (100 if self.is_percentage else 1)
            exact = exact.scaleb(-3 * self.thousandths)
            if self.exponent_digits:
                return self._with_exponent(exact, "-" if value < 0 else "")
            rounded = exact.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)
        except InvalidOperation:  # not a number, or too large to be written out
            return str(value)
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
        """The digits from the last place to the first one, which takes all that are left."""
        written: list[str] = []
        left = self.places.count("0")
        for sign in reversed(self.places):
            if sign != "0":
                written.append(sign)
                continue
            left -= 1
            written.append((digits[-1:] or "0") if left else digits or "0")
            digits = digits[:-1]
        return "".join(reversed(written)).strip()


def number_format(code: str) -> NumberFormat | None:
    """The format of positive numbers that a code describes; None if it shows the value as it is, or by other rules."""
    if len(code) > LONGEST_CODE or _CONDITION.search(code):
        return None
    if _UNSEEN.fullmatch(code):
        return NumberFormat(is_unseen=True)
    sections = [section[1] for section in _SECTION.finditer(code)]
    shape, held = _shape(sections[0])
    digits = _DIGITS.search(shape)
    if digits is None:
        return None
    exponent = _EXPONENT.match(shape, digits.end())
    end = exponent.end() if exponent else digits.end()
    before, after = shape[: digits.start()], shape[end:]
    if _OTHER_RULES.search(before + after):
        return None
    zero = _text_alone(sections[2]) if len(sections) > 2 else None
    if _DIGITS.search(after):
        places = _filled(shape, held).replace("?", "0").replace("#", "0")
        is_plain = _PLACES.fullmatch(shape) is not None and not exponent
        return NumberFormat(places=places, zero=zero) if is_plain else None
    numbers = digits[0].rstrip(",")
    whole, _, decimals = numbers.partition(".")
    texts = iter(held)
    return NumberFormat(
        before=_filled(before, texts).lstrip(" ("),
        after=_filled(after, texts).rstrip(" )"),
        whole_digits=max(whole.replace(",", "").count("0"), 1),
        decimals=min(len(decimals), MOST_DECIMALS),
        has_thousands="," in whole,
        is_percentage="%" in shape,
        thousandths=len(digits[0]) - len(numbers),
        exponent_digits=len(exponent[1]) if exponent else 0,
        zero=zero,
    )


_PLACES = re.compile(r"[0#?()\s\0/-]*")
"""Digits between signs that are no points, commas or letters."""


def _shape(section: str) -> tuple[str, list[str]]:
    """A section of a code with a zero byte in place of each of its texts, and these."""
    bare = _PADDING.sub("", _CURRENCY.sub(r'"\1"', section))
    bare = _BRACKETS.sub("", bare)
    held = [quoted[1] or quoted[2] or "" for quoted in _QUOTED.finditer(bare)]
    return _QUOTED.sub("\0", bare), held


def _filled(shape: str, texts: Iterable[str]) -> str:
    """A shape with its texts."""
    rest = iter(texts)
    return re.sub("\0", lambda _: next(rest), shape)


def _text_alone(section: str) -> str | None:
    """The text of a section without digits; None for any other."""
    shape, held = _shape(section)
    bare = shape.replace("?", "")
    if _DIGITS.search(bare) or _OTHER_RULES.search(bare):
        return None
    return _filled(bare, held).strip()
