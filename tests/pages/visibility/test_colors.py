from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.colors import Rgba, blends_in, color, contrast

WHITE, BLACK = Rgba(1.0, 1.0, 1.0, 1.0), Rgba(0.0, 0.0, 0.0, 1.0)


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
    assert contrast(Rgba(0, 0, 0, 0), WHITE) == 1, "a transparent text"
    assert contrast(Rgba(0.467, 0.467, 0.467, 1), WHITE) == pytest.approx(4.48, abs=0.02), (
        "#777 on white"
    )


def test_yellow_on_white_is_visible_by_its_hue_unless_it_is_faint() -> None:
    assert not blends_in(Rgba(1, 1, 0, 1), WHITE)
    assert blends_in(Rgba(1, 1, 0, 0.5), WHITE)
    assert blends_in(Rgba(0.97, 0.97, 0.97, 1), WHITE)


def test_lab_is_as_light_as_it_says() -> None:
    assert color("lab(50% 0 0)") == pytest.approx((0.466, 0.466, 0.466, 1), abs=0.002)


@pytest.mark.parametrize(
    ("ink", "paper", "blends"),
    [
        ("#f4f4f4", "#fff", True),
        ("#f3f3f3", "#fff", False),
        ("#ffff67", "#fff", True),
        ("#ffff66", "#fff", False),
    ],
)
def test_ink_blends_in_up_to_a_contrast_and_a_difference(
    ink: str, paper: str, blends: bool
) -> None:
    """A contrast of 1.1; 60% of a channel, such as the blue of yellow on white."""
    colors = color(ink), color(paper)
    assert colors[0] is not None
    assert colors[1] is not None
    assert blends_in(colors[0], colors[1]) is blends
