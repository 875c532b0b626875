from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.hostile import HostileStylesError
from websearch_gateway.pages.visibility.lengths import (
    MAX_CALCULATED_CHARS,
    fraction,
    lengths_of,
    pixels,
)


def test_an_opacity_is_a_number_or_a_percentage() -> None:
    assert [fraction(value) for value in ("0.5", "50%", ".25 ", "", "inherit")] == [
        0.5,
        0.5,
        0.25,
        1.0,
        1.0,
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("0", 0),
        ("12px", 12),
        (" -9999px ", -9999),
        ("1e3px", 1000),
        (".5in", 48),
        ("2em", 40),
        ("2rem", 32),
        ("50vw", 640),
        ("100vh", 800),
        ("calc(100% - 1280px)", 0),
        ("calc(2 * (3px + 1px) / 4)", 2),
        ("min(1px, 10px, 2em)", 1),
        ("max(1px, calc(-2px))", 1),
        ("clamp(1px, 9px, 4px)", 4),
    ],
)
def test_a_length_is_converted_to_pixels(value: str, expected: float) -> None:
    assert pixels(value, em=20.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "px",
        "50%",
        "1furlong",
        "calc(1px",
        "calc(1px 2px)",
        "calc(1px / 0)",
        "calc(var(--x))",
        "min()",
    ],
)
def test_an_invalid_length_is_none(value: str) -> None:
    assert pixels(value) is None


@pytest.mark.parametrize(
    "value",
    [
        "(" * 61 + "1px" + ")" * 61,
        f"calc(1px{' ' * 1992})",
    ],
)
def test_a_calculation_of_hostile_depth_or_length_is_not_evaluated(value: str) -> None:
    with pytest.raises(HostileStylesError):
        pixels(value)


@pytest.mark.parametrize("value", ["(" * 60 + "1px" + ")" * 60, f"calc(1px{' ' * 1991})"])
def test_a_deep_or_long_calculation_is_evaluated(value: str) -> None:
    assert pixels(value) == 1


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        *(("pt", 4 / 3), ("pc", 16), ("in", 96), ("cm", 37.795), ("mm", 3.7795), ("q", 0.94488)),
        *(("em", 20), ("rem", 16), ("ex", 8), ("ch", 8), ("cap", 11), ("ic", 16)),
        *(("lh", 20), ("rlh", 20), ("vw", 12.8), ("vi", 12.8), ("vh", 8), ("vb", 8)),
    ],
)
def test_each_unit_has_its_length_on_a_screen_of_1280_by_800(unit: str, expected: float) -> None:
    assert pixels(f"1{unit}", em=20.0) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("value", "lengths"),
    [
        ("1px 2px", ["1px", "2px"]),
        ("1px, calc(2px + 3px)  4px", ["1px", "calc(2px + 3px)", "4px"]),
        ("", [""]),
    ],
)
def test_a_list_of_lengths_is_split_outside_brackets(value: str, lengths: list[str]) -> None:
    assert lengths_of(value) == lengths


def test_a_list_of_hostile_length_is_not_split() -> None:
    with pytest.raises(HostileStylesError):
        lengths_of("1" * (MAX_CALCULATED_CHARS + 1))
