"""Numbers are written as a spreadsheet shows them; what a format says in other ways leaves the value as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.pages.formats.number_formats import LONGEST_CODE, number_format


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("0%", 0.125, "13%"),
        ("0.0%", 0.125, "12.5%"),
        ("00000", 1234, "01234"),
        ("0.00", 2, "2.00"),
        ("#,##0", 1234567.6, "1,234,568"),
        ('#,##0.00 "€"', 1234.5, "1,234.50 €"),
        ("[$€-407] #,##0.00", 3, "€ 3.00"),
        ('"$"#,##0;[Red]-"$"#,##0', -45, "-$45"),
        ("_($* #,##0.00_);_($* (#,##0.00)", -1.5, "-$1.50"),
        ("0;(0)", -12, "-12"),
        (r"0.0\°", 21.25, "21.3°"),
        ("0.0", -0.01, "0.0"),
        ('0" km"', 7, "7 km"),
        ("0%", float("inf"), "inf"),
        ('#,##0,"k"', 1234567, "1,235k"),
        ('0.0,,"M"', 1234567, "1.2M"),
        ("0.00E+00", 123456, "1.23E+05"),
        ("0.0E+0", -0.00126, "-1.3E-3"),
        ("(000) 000-0000", 5551234567, "(555) 123-4567"),
        ("00000-0000", 123456789, "12345-6789"),
        ("0-00", 12345, "123-45"),
        ('0;-0;"-"', 0, "-"),
        ('0.0;-0.0;"none"', 0.04, "0.0"),
        ('_(* #,##0_);_(* (#,##0);_(* "-"??_)', 0, "-"),
        (";;;", 5, ""),
    ],
)
def test_a_number_is_written_in_its_format(code: str, value: float, text: str) -> None:
    written = number_format(code)
    assert written is not None
    assert written.written(value) == text


@pytest.mark.parametrize(
    "code",
    [
        "General",
        "dd/mm/yyyy",
        "[h]:mm",
        "# ?/?",
        "@",
        "[>100]0",
        "",
        "x" * LONGEST_CODE + "0",
        "0.0-00",
    ],
)
def test_a_format_of_other_rules_leaves_the_value_as_it_is(code: str) -> None:
    assert number_format(code) is None


@given(st.text(alphabet='0#?,.%"\\[]$-;_* ()€E+', max_size=30), st.floats(allow_nan=True))
def test_any_code_is_read(code: str, value: float) -> None:
    found = number_format(code)
    assert found is None or isinstance(found.written(value), str)
