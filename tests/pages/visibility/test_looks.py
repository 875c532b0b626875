from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.colors import Rgba, color
from websearch_gateway.pages.visibility.looks import (
    Style,
    TextStyle,
    is_buried,
    is_closed,
    is_entering,
)

WHITE, BLACK = Rgba(1.0, 1.0, 1.0, 1.0), Rgba(0.0, 0.0, 0.0, 1.0)
PLAIN = TextStyle(BLACK, WHITE)


@pytest.mark.parametrize(
    ("style", "is_invisible"),
    [
        ({}, False),
        ({"color": "white"}, True),
        ({"color": "white", "background": "black"}, False),
        ({"color": "white", "background": "url(dark.png)"}, False),
        ({"color": "white", "background": "none"}, True),
        ({"color": "white", "position": "absolute"}, False),
        ({"background": "currentcolor"}, True),
        ({"background-image": "linear-gradient(to right, #000, black)"}, True),
        ({"background-image": "linear-gradient(#000, #fff)"}, False),
        ({"background": "transparent", "color": "#ffffff"}, True),
        ({"background": "black no-repeat"}, True),
        ({"color": "white", "background-clip": "text"}, False),
        ({"font-size": "1px"}, True),
        ({"font": "italic 1px serif"}, True),
        ({"font-size": "10%"}, True),
        ({"font-size": "inherit"}, False),
        ({"opacity": "0.04"}, False),
        ({"opacity": "0.5", "text-fill-color": "transparent"}, True),
    ],
)
def test_text_is_invisible_by_its_colour_or_its_size(style: Style, is_invisible: bool) -> None:
    assert PLAIN.within(style).is_invisible is is_invisible


def test_opacities_multiply() -> None:
    half = PLAIN.within({"opacity": "50%"})
    assert half.within({"opacity": "0.5"}).opacity == 0.25
    assert PLAIN.within({"color": "red"}).color == color("red")


@pytest.mark.parametrize(
    "style",
    [
        {"display": "none"},
        {"visibility": "hidden"},
        {"content-visibility": "hidden"},
        {"opacity": "calc(1 - 1)"},
        {"overflow": "hidden", "height": "0"},
        {"overflow": "auto", "width": "0%"},
        {"contain": "strict"},
    ],
    ids=str,
)
def test_an_element_is_closed(style: Style) -> None:
    assert is_closed(style)


@pytest.mark.parametrize(
    "style",
    [
        {"display": "block", "visibility": "visible", "opacity": "0.1"},
        {"height": "0"},
        {"overflow": "hidden", "height": "20px"},
        {"overflow": "hidden", "height": "0", "padding-top": "56.25%"},
        {"overflow": "hidden", "height": "0", "padding": "0 5px"},
        {"contain": "strict", "height": "9px"},
    ],
    ids=str,
)
def test_an_element_is_not_closed(style: Style) -> None:
    assert not is_closed(style)


@pytest.mark.parametrize(
    "style",
    [
        {"zoom": "0"},
        {"transform": "scale(0)"},
        {"transform": "rotateX(90deg)".lower()},
        {"rotate": "y 270deg"},
        {"transform": "rotatey(180deg)", "backface-visibility": "hidden"},
        {"transform": "skew(90deg)"},
        {"transform": "matrix(0, 0, 0, 0, 0, 0)"},
        {"transform": "matrix(0, 1, 1, 0, 1, 1)"},
        {"transform": f"matrix3d(0, 1, 1, 1, 1, 0{', 1' * 10})"},
        {"filter": "blur(20px)"},
        {"filter": "opacity(0)"},
        {"mask-image": "linear-gradient(transparent, transparent)"},
        {"position": "absolute", "left": "-1000px"},
        {"position": "fixed", "top": "200vh"},
        {"margin": "0 0 0 -9999px"},
        {"margin-left": "-200%"},
        {"text-indent": "-9999px"},
        {"text-indent": "100%", "overflow": "hidden"},
        {"transform": "translatex(-9999px)"},
        {"translate": "-100vw"},
        {"position": "absolute", "clip": "rect(0, 1px, 1px, 0)"},
        {"clip-path": "inset(50%)"},
        {"clip-path": "inset(0 50%)"},
        {"clip-path": "inset(10% 0 90%)"},
        {"clip-path": "circle(0)"},
        {"clip-path": "polygon(0 0, 0 0, 0 0)"},
        {"clip-path": "rect(1px 9px 1px 0)"},
        {"clip-path": "xywh(0 0 0 9px)"},
        {"clip-path": "path('m0 0l0 0')"},
        {"letter-spacing": "-10px"},
        {"line-height": "0", "overflow": "hidden"},
    ],
    ids=str,
)
def test_an_element_is_buried(style: Style) -> None:
    assert is_buried(style)


@pytest.mark.parametrize(
    "style",
    [
        {"zoom": "0.5", "transform": "scale(2)"},
        {"transform": "rotatey(180deg)"},
        {"transform": "matrix(1, 0, 0, 0, 0, 0)"},
        {"filter": "blur(19px)"},
        {"mask-image": "linear-gradient(transparent, black)"},
        {"mask-image": "url(mask.png), linear-gradient(transparent, transparent)"},
        {"left": "-1000px"},
        {"position": "absolute", "left": "1000px"},
        {"margin": "-999px"},
        {"text-indent": "100%"},
        {"transform": "translatex(-1000px)"},
        {"transform": "translatex(-100%)"},
        {"clip": "rect(0, 1px, 1px, 0)"},
        {"clip-path": "inset(49%)"},
        {"clip-path": "circle(1px)"},
        {"clip-path": "polygon(0 0, 9px 9px, 0 9px)"},
        {"letter-spacing": "-6px"},
        {"line-height": "0"},
    ],
    ids=str,
)
def test_an_element_is_not_buried(style: Style) -> None:
    assert not is_buried(style)


def test_a_transparent_element_with_a_transition_is_about_to_enter() -> None:
    assert is_entering({"opacity": "0", "transition": "opacity 1s"})
    assert not is_entering({"opacity": "0"})
    assert not is_entering({"opacity": "0", "transform": "scale(0)"})
    assert not is_entering({"opacity": "1", "transition": "opacity 1s"})


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
