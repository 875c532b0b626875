"""Numbers of cells as a spreadsheet shows them, by the code of their format. Pure.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 18.8.31).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((37, 38), "#,##0"),
    **dict.fromkeys((39, 40), "#,##0.00"),
}
"""The codes of the formats that a workbook names by their number alone."""
LONGEST_CODE = 200
MOST_DECIMALS = 15

_SECTION = re.compile(r'((?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*)(?:;|\Z)')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_BRACKETS = re.compile(r"\[[^\]]*\]")
_PADDING = re.compile(r"[_*].")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_DIGITS = re.compile(r"[0#?][0#?,]*(?:\.[0#?]*)?|\.[0#?]+")
# Dates, exponents, fractions and conditions have other rules; the value itself serves there.
_OTHER_RULES = re.compile(r"[ymdhse@/]|general", re.IGNORECASE)
_CONDITION = re.compile(r"\[[<>=]")


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """The text around a number, its least digits before the point, its decimals, and what is done to it."""

    before: str
    after: str
    whole_digits: int
    decimals: int
    has_thousands: bool
    is_percentage: bool

    def written(self, value: float) -> str:
        """A number in this format. A negative one has its sign, even where the format puts it in brackets."""
        try:
            exact = abs(Decimal(repr(value))) * (100 if self.is_percentage else 1)
            rounded = exact.quantize(Decimal(1).scaleb(-self.decimals), ROUND_HALF_UP)
        except InvalidOperation:  # not a number, or too large to be written out
            return str(value)
        text = f"{rounded:,f}" if self.has_thousands else f"{rounded:f}"
        whole, point, decimals = text.partition(".")
        sign = "-" if value < 0 and rounded else ""
        return f"{sign}{self.before}{whole.zfill(self.whole_digits)}{point}{decimals}{self.after}"


def number_format(code: str) -> NumberFormat | None:
    """The format of positive numbers that a code describes; None if it shows the value as it is, or by other rules."""
    if len(code) > LONGEST_CODE or _CONDITION.search(code):
        return None
    first = _SECTION.match(code)
    bare = _PADDING.sub("", _CURRENCY.sub(r'"\1"', first[1] if first else ""))
    bare = _BRACKETS.sub("", bare)
    held = [quoted[1] or quoted[2] or "" for quoted in _QUOTED.finditer(bare)]
    shape = _QUOTED.sub("\0", bare)
    digits = _DIGITS.search(shape)
    if digits is None or _OTHER_RULES.search(shape) or _DIGITS.search(shape, digits.end()):
        return None
    before, after = shape[: digits.start()], shape[digits.end() :]
    texts = iter(held)
    before, after = (re.sub("\0", lambda _: next(texts), part) for part in (before, after))
    whole, _, decimals = digits[0].partition(".")
    if whole.endswith(","):  # a comma behind the digits divides by a thousand
        return None
    return NumberFormat(
        before=before.lstrip(" ("),
        after=after.rstrip(" )"),
        whole_digits=max(whole.replace(",", "").count("0"), 1),
        decimals=min(len(decimals), MOST_DECIMALS),
        has_thousands="," in whole,
        is_percentage="%" in shape,
    )
