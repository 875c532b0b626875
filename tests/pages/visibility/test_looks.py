from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.looks import (
    MAX_BRACKETS,
    MAX_CALCULATED_CHARS,
    HostileStylesError,
    blends_in,
    color,
    contrast,
    fraction,
    pixels,
)

WHITE, BLACK = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("white", (1, 1, 1, 1)),
        ("transparent", (0, 0, 0, 0)),
        ("#f00", (1, 0, 0, 1)),
        ("#ff000080", (1, 0, 0, 0.502)),
        ("rgb(255, 0, 0)", (1, 0, 0, 1)),
        ("rgb(100% 0% 0% / 50%)", (1, 0, 0, 0.5)),
        ("hsl(120, 100%, 50%)", (0, 1, 0, 1)),
        ("hwb(0 100% 0%)", (1, 1, 1, 1)),
        ("color(srgb 0 0 1)", (0, 0, 1, 1)),
        ("lab(100% 0 0)", (1, 1, 1, 1)),
        ("oklch(1 0 0)", (1, 1, 1, 1)),
    ],
)
def test_every_notation_of_a_colour_is_parsed(value: str, expected: tuple[float, ...]) -> None:
    assert color(value) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "value", ["", "#ff", "#gggggg", "rgb(1, 2)", "color(prophoto-rgb 0 0 1)", "var(--x)", "tide"]
)
def test_an_invalid_colour_is_none(value: str) -> None:
    assert color(value) is None


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == 1
    assert contrast((0, 0, 0, 0), WHITE) == 1, "a transparent text"
    assert contrast((0.467, 0.467, 0.467, 1), WHITE) == pytest.approx(4.48, abs=0.02), (
        "#777 on white"
    )


def test_yellow_on_white_is_visible_by_its_hue_unless_it_is_faint() -> None:
    assert not blends_in((1, 1, 0, 1), WHITE)
    assert blends_in((1, 1, 0, 0.5), WHITE)
    assert blends_in((0.97, 0.97, 0.97, 1), WHITE)


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
        "(" * (MAX_BRACKETS + 1) + "1px" + ")" * (MAX_BRACKETS + 1),
        f"calc(0px{'*1' * MAX_CALCULATED_CHARS})",
    ],
)
def test_a_calculation_of_hostile_depth_or_length_is_not_evaluated(value: str) -> None:
    with pytest.raises(HostileStylesError):
        pixels(value)


def test_a_deep_calculation_is_evaluated() -> None:
    assert pixels("(" * MAX_BRACKETS + "1px" + ")" * MAX_BRACKETS) == 1
