"""Numbers are written as a spreadsheet shows them; what a format says in other ways leaves the value as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.pages.formats.number_formats import BUILT_IN, number_format


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
        "0" * 201,
        "0.0-00",
    ],
)
def test_a_format_of_other_rules_leaves_the_value_as_it_is(code: str) -> None:
    assert number_format(code) is None


def test_a_code_of_two_hundred_signs_is_read() -> None:
    written = number_format("0" * 200)
    assert written is not None
    assert written.written(7) == f"{7:0200}"


def test_a_number_has_at_most_fifteen_decimals() -> None:
    exact, longer = (number_format("0." + "0" * decimals) for decimals in (15, 16))
    assert exact is not None
    assert longer is not None
    assert exact.written(0.5) == longer.written(0.5) == "0.500000000000000"


WHOLE, CENTS = "1,235", "1,234.57"


def test_the_formats_that_a_workbook_names_by_number_are_those_of_the_standard() -> None:
    """ECMA-376, part 1, 18.8.30. Dates and fractions are left as they are."""
    forms = {number: number_format(code) for number, code in BUILT_IN.items()}
    assert {number: form and form.written(1234.567) for number, form in forms.items()} == {
        1: "1235",
        2: "1234.57",
        3: WHOLE,
        4: CENTS,
        5: WHOLE,
        6: WHOLE,
        7: CENTS,
        8: CENTS,
        9: "123457%",
        10: "123456.70%",
        11: "1.23E+03",
        37: WHOLE,
        38: WHOLE,
        39: CENTS,
        40: CENTS,
        41: WHOLE,
        42: WHOLE,
        43: CENTS,
        44: CENTS,
        48: "1.2E+3",
    }


@given(st.text(alphabet='0#?,.%"\\[]$-;_* ()€E+', max_size=30), st.floats(allow_nan=True))
def test_any_code_is_read(code: str, value: float) -> None:
    found = number_format(code)
    assert found is None or isinstance(found.written(value), str)
