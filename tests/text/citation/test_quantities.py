from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.citation.quantities import quantities


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("330 metres (1,083 ft)", [("330", "metre"), ("1083", "foot")]),
        ("5.8 million people, 5,800,000 people", [("5800000", ""), ("5800000", "")]),
        ("two hundred and fifty-six thousand", [("256000", "")]),
        ("$5, €5, 5 USD", [("5", "dollar"), ("5", "euro"), ("5", "dollar")]),
        ("5% and 5 percentage points", [("5", "percent"), ("5", "point")]),
        ("31 March 1889, the 1890s", [("31", "day of a month"), ("1889", ""), ("1890s", "")]),
        ("the 19th and the nineteenth century", [("19", "nth"), ("19", "century")]),
        ("-5 °C, 5 °C, 5-10", [("-5", "celsius"), ("5", "celsius"), ("5", ""), ("10", "")]),
        ("one of them, one million", [("1000000", "")]),
        ("3.125 m, 3,125 m, 1 234 567", [("3.125", "metre"), ("3125", "metre"), ("1234567", "")]),
        ("in 1889 100 people", [("1889", ""), ("100", "")]),
        ("高330米", [("330", "")]),
        ("100 m² and 100 square metres", [("100", "square metre"), ("100", "square metre")]),
        ("5 p.m. in 44 BC", [("5", "pm"), ("44", "bc")]),
    ],
)
def test_a_number_has_its_unit(text: str, told: list[tuple[str, str]]) -> None:
    assert [(one.value, one.unit) for one in quantities(text)] == told


@given(st.text(st.sampled_from("0123456789,. one'-$€ million"), max_size=60))
def test_every_digit_is_in_a_quantity(text: str) -> None:
    seen = {place for one in quantities(text) for place in range(one.start, one.end)}
    assert {place for place, character in enumerate(text) if character.isdecimal()} <= seen
