"""Numbers in small Roman numerals."""

from __future__ import annotations

import pytest

from websearch_gateway.pages.rendering.numerals import roman


@pytest.mark.parametrize(
    ("number", "numeral"),
    [
        (1, "i"),
        (4, "iv"),
        (9, "ix"),
        (40, "xl"),
        (95, "xcv"),
        (444, "cdxliv"),
        (1_666, "mdclxvi"),
        (2_888, "mmdccclxxxviii"),
        (3_999, "mmmcmxcix"),
    ],
)
def test_each_number_up_to_3999_has_a_numeral(number: int, numeral: str) -> None:
    assert roman(number) == numeral


@pytest.mark.parametrize("number", [4_000, 0, -1])
def test_a_number_without_a_numeral_is_written_with_digits(number: int) -> None:
    assert roman(number) == str(number)
