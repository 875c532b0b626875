"""CSS colours, and whether text in one colour is visible on another."""

from __future__ import annotations

import pytest

from websearch_gateway.readers.visibility.colors import color, contrast, differs_in_hue, fraction

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


@pytest.mark.parametrize("value", ["", "#ff", "#gggggg", "rgb(1, 2)", "color(prophoto-rgb 0 0 1)", "var(--x)", "tide"])
def test_an_invalid_colour_is_none(value: str) -> None:
    assert color(value) is None


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == 1
    assert contrast((0, 0, 0, 0), WHITE) == 1, "a transparent text"
    assert contrast((0.467, 0.467, 0.467, 1), WHITE) == pytest.approx(4.48, abs=0.02), "#777 on white"


def test_yellow_on_white_is_visible_by_its_hue_unless_it_is_faint() -> None:
    assert differs_in_hue((1, 1, 0, 1), WHITE)
    assert not differs_in_hue((1, 1, 0, 0.5), WHITE)
    assert not differs_in_hue((0.9, 0.9, 0.9, 1), WHITE)


def test_an_opacity_is_a_number_or_a_percentage() -> None:
    assert [fraction(value) for value in ("0.5", "50%", ".25 ", "", "inherit")] == [0.5, 0.5, 0.25, 1.0, 1.0]
