"""Roman numerals, for items of lists that are counted with them."""

from __future__ import annotations

LARGEST_ROMAN = 3_999

_SIGNS = {
    "m": 1000,
    "cm": 900,
    "d": 500,
    "cd": 400,
    "c": 100,
    "xc": 90,
    "l": 50,
    "xl": 40,
    "x": 10,
    "ix": 9,
    "v": 5,
    "iv": 4,
    "i": 1,
}


def roman(number: int) -> str:
    """A number in small Roman numerals; in digits if these have no sign for it."""
    if not 0 < number <= LARGEST_ROMAN:
        return str(number)
    numeral = ""
    for sign, value in _SIGNS.items():
        times, number = divmod(number, value)
        numeral += sign * times
    return numeral
