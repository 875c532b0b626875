from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.looks import (
    HostileStylesError,
    TextStyle,
    blends_in,
    color,
    contrast,
    fraction,
    is_buried,
    is_closed,
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


def test_letters_of_two_pixels_are_unreadable() -> None:
    assert TextStyle(size=2.0).is_invisible
    assert not TextStyle(size=2.1).is_invisible


def style_of(declarations: str) -> dict[str, str]:
    return dict(declaration.split(":") for declaration in declarations.split(";"))


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("position:absolute;left:-1000px", "position:absolute;left:-999px"),
        ("text-indent:-1000px", "text-indent:-999px"),
        ("position:absolute;left:9000px", "position:absolute;left:8999px"),
        ("transform:translatex(9000px)", "transform:translatex(8999px)"),
        ("position:absolute;left:200vw", "position:absolute;left:199vw"),
        ("position:absolute;left:-200%", "position:absolute;left:-199%"),
        ("letter-spacing:-6.4px", "letter-spacing:-6.3px"),
        ("filter:blur(20px)", "filter:blur(19px)"),
        ("transform:rotatex(90deg)", "transform:rotatex(135deg)"),
        ("transform:rotatey(270deg)", "transform:rotatey(135deg)"),
        ("scale:.05", "scale:.06"),
    ],
)
def test_what_is_buried_begins_at_a_limit(hidden: str, shown: str) -> None:
    assert is_buried(style_of(hidden))
    assert not is_buried(style_of(shown))


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("opacity:.05", "opacity:.06"),
        ("overflow:hidden;height:1px", "overflow:hidden;height:1.4px"),
        ("overflow:hidden;height:0;padding:4px", "overflow:hidden;height:0;padding:5px"),
    ],
)
def test_what_is_closed_begins_at_a_limit(hidden: str, shown: str) -> None:
    assert is_closed(style_of(hidden))
    assert not is_closed(style_of(shown))
