"""Finds numbers in a text with their units: `5.8 million euros` and `EUR 5,800,000` are the same quantity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from websearch_gateway.text.citation.calendar import MONTHS

_DIGITS = r"\d{1,3}(?:[.,\u00a0\u202f'’ ]\d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = (
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_SMALL = {
    **{word: value for value, word in enumerate(_UNITS.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
    **{word: value for value, word in enumerate(_ORDINALS.split())},
    **{f"{word[:-1]}ieth": 10 * value for value, word in enumerate(_TENS.split(), 2)},
}
_NTH = tuple(word for word in _SMALL if word.endswith(("th", "first", "second", "third")))
_LARGE = {
    **dict.fromkeys(("hundred", "hundredth"), 100),
    **dict.fromkeys(("thousand", "thousandth"), 10**3),
    **dict.fromkeys(("million", "millionth", "mn"), 10**6),
    **dict.fromkeys(("billion", "bn"), 10**9),
    **dict.fromkeys(("trillion", "tn"), 10**12),
    "dozen": 12,
}
# Words for an amount without an exact number: the words themselves are compared.
_VAGUE = ("half", "halves", "quarter", "twice", "thrice", "double", "triple", "quadruple")
_UNIT_NAMES = """\
metre|metres|meter|meters|m
square metre|m2|m²
square kilometre|km2|km²
kilometre|kilometres|kilometer|kilometers|km
centimetre|centimetres|centimeter|centimeters|cm
millimetre|millimetres|millimeter|millimeters|mm
foot|feet|ft
inch|inches
mile|miles|mi
yard|yards|yd
gram|grams|g
kilogram|kilograms|kg|kilo|kilos
tonne|tonnes|ton|tons
pound|pounds|lb|lbs
litre|litres|liter|liters|l
hectare|hectares|ha
acre|acres
second|seconds|s|sec
minute|minutes|min|mins
hour|hours|h|hrs
day|days
week|weeks
month|months
year|years|yr|yrs
decade|decades
century|centuries
percent|per cent|%|percentage
point|points|percentage points|percentage point
basis points|bps
dollar|dollars|$|usd|us$
euro|euros|€|eur
£|gbp|pound sterling|pounds sterling
yen|¥|jpy
rupee|rupees|₹|inr
celsius|°c|c
fahrenheit|°f|f
kelvin|k
watt|watts|w
kilowatt|kilowatts|kw
megawatt|megawatts|mw
gigawatt|gigawatts|gw
volt|volts|v
hertz|hz
megahertz|mhz
gigahertz|ghz
byte|bytes
kilobyte|kilobytes|kb
megabyte|megabytes|mb
gigabyte|gigabytes|gb
terabyte|terabytes|tb
km/h|kph|kilometres per hour|kilometers per hour
mph|miles per hour
bc|bce|b.c
ad|ce|a.d
am|a.m
pm|p.m"""
_UNIT = {name: row.split("|")[0] for row in _UNIT_NAMES.splitlines() for name in row.split("|")}
_UNIT_PATTERN = "|".join(sorted((re.escape(name) for name in _UNIT), key=len, reverse=True))
_BEFORE = r"(?P<before>US\$|[$€£¥₹]|\b(?:USD|EUR|GBP|JPY|INR|AD|BC)\b)?\s?"
_NAMED = "|".join(sorted((*_SMALL, *_LARGE), key=len, reverse=True))
_QUANTITY = re.compile(
    rf"{_BEFORE}(?:(?P<sign>(?<![\w\d])[-\u2212](?=\d)|\bminus\s+))?"
    rf"(?P<value>{_DIGITS}|\b(?:{_NAMED})\b(?:(?:[\s-]+and)?[\s-]+(?:{_NAMED})\b)*)"
    r"(?P<decade>['’]?s\b)?(?P<nth>(?:st|nd|rd|th)\b)?"
    rf"(?P<large>(?:[\s-]+(?:{'|'.join(_LARGE)})s?\b)*)"
    rf"(?:[\s-]{{0,2}}(?P<unit>(?:square|cubic)\s(?=\w))?(?P<after>{_UNIT_PATTERN})(?![\w/]))?",
    re.IGNORECASE,
)
_VAGUE_WORD = re.compile(rf"\b(?:{'|'.join(_VAGUE)})\b", re.IGNORECASE)
_MULTIPLIERS = re.compile(rf"\b(?:{'|'.join(_LARGE)})s\b", re.IGNORECASE)


_MONTH_AFTER = re.compile(rf"\s*(?:of\s+)?(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_MONTH_BEFORE = re.compile(rf"\b(?:{'|'.join(MONTHS)})\.?\s*$", re.IGNORECASE)

_RATE = re.compile(r"\s{0,2}(?:per|an?|each|every|/)\s{0,2}(second|minute|hour|day|week|month|year)\b", re.IGNORECASE)

DAY, NTH = "day of a month", "nth"
"""The units of `14 May` and `the 14th`."""

_NEVER_OMITTED = ("bc", "am", "pm")
"""Units that a writer never omits: a number without one is another number."""


_DIGIT = re.compile(r"\d")
_LETTERS = re.compile(r"[a-z]+")
_COUNTING = frozenset({*_SMALL, *_LARGE, *_VAGUE, *(f"{name}s" for name in _LARGE)})


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its place in a text. `unit` is empty if no known unit is beside it; `per` is the unit of a rate."""

    value: str
    unit: str
    start: int
    end: int
    per: str = ""

    def matches(self, other: Quantity) -> bool:
        """Whether the numbers are the same and the units do not differ; only a day matches a day of a month."""
        if self.value != other.value or (self.per and other.per and self.per != other.per):
            return False
        if other.unit == DAY:
            return self.unit in (DAY, NTH)
        if self.unit in _NEVER_OMITTED:
            return self.unit == other.unit
        return not self.unit or not other.unit or self.unit == other.unit


def quantities(text: str) -> Iterator[Quantity]:
    """Every number of a text in order, in digits or in English words; `one` alone does not count."""
    if not _DIGIT.search(text) and _COUNTING.isdisjoint(_LETTERS.findall(text.lower())):
        return
    for match in _QUANTITY.finditer(text):
        if match["value"].lower() == "one" and not match["large"].strip() and not match["after"]:
            continue
        rate = _RATE.match(text, match.end())
        per = rate[1].lower() if rate else ""
        yield Quantity(_value(match), _unit(match, text), match.start("value"), match.end(), per)
    for pattern in (_VAGUE_WORD, _MULTIPLIERS):
        for match in pattern.finditer(text):
            yield Quantity(match[0].lower(), "", match.start(), match.end())


def _value(match: re.Match[str]) -> str:
    written = match["value"]
    number = _of_digits(written) if written[0].isdecimal() else Decimal(_of_words(written))
    if number is None:
        return written
    for word in re.findall("[a-z]+", match["large"].lower()):
        number *= _LARGE[word.removesuffix("s")]
    sign = "-" if match["sign"] else ""
    return f"{sign}{_shown(number)}{'s' if match['decade'] else ''}"


def _of_words(written: str) -> int:
    """The value of a number in words: `two hundred and fifty-six thousand` is 256000."""
    total = part = 0
    for word in re.findall("[a-z]+", written.lower()):
        if (large := _LARGE.get(word)) is None:
            part += _SMALL.get(word, 0)
        elif large == 100:
            part = (part or 1) * large
        else:
            total, part = total + (part or 1) * large, 0
    return total + part


def _of_digits(number: str) -> Decimal | None:
    """The value of a number in digits: `1,234.50` and `1 234,5` are 1234.5; None if it is too long.

    A single comma before three digits separates thousands, a single dot never does.
    """
    digits = re.sub(r"[\u00a0\u202f'’ ]", "", number)
    parts = re.split(r"[.,]", digits)
    grouped = len(parts) > 1 and len(parts[-1]) == 3 and parts[0] != "0"
    if len(parts) == 1:
        whole, fraction = digits, ""
    elif grouped and (len(parts) > 2 or "," in digits):
        whole, fraction = "".join(parts), ""
    else:
        whole, fraction = "".join(parts[:-1]), parts[-1]
    return Decimal(f"{whole}.{fraction or 0}") if len(whole) + len(fraction) < 30 else None


def _shown(number: Decimal) -> str:
    shown = f"{number:f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _unit(match: re.Match[str], text: str) -> str:
    before, after = (match["before"] or "").lower(), (match["after"] or "").lower()
    if named := _UNIT.get(after) or _UNIT.get(before):
        return (match["unit"] or "").lower() + named
    if len(match["value"]) <= 2 and (
        _MONTH_AFTER.match(text, match.end()) or _MONTH_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
    ):
        return DAY
    return NTH if match["nth"] or match["value"].lower().endswith(_NTH) else ""
