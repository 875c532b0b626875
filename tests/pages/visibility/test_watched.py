from __future__ import annotations

import pytest

from websearch_gateway.pages.visibility.colors import Rgba
from websearch_gateway.pages.visibility.looks import TextStyle
from websearch_gateway.pages.visibility.watched import _MOST_PAIRS, _MOST_VALUES, watched

PLAIN = TextStyle(Rgba(0.0, 0.0, 0.0, 1.0), Rgba(1.0, 1.0, 1.0, 1.0))


@pytest.mark.parametrize(
    "declaration",
    [
        ("display", "none"),
        ("opacity", "0.5"),
        ("font-size", "1px"),
        ("font-size", "0.5em"),
        ("left", "-9999px"),
        ("height", "0"),
        ("color", "#fff"),
        ("background", "black"),
        ("color", "currentcolor"),
    ],
    ids=str,
)
def test_a_declaration_that_may_hide_text_is_suspicious(declaration: tuple[str, str]) -> None:
    watch = watched({declaration, ("width", "50%")}, PLAIN)
    assert watch.suspicious == {declaration}
    assert declaration[0] in watch.names
    assert "width" not in watch.names


@pytest.mark.parametrize(
    "declaration",
    [
        ("display", "block"),
        ("opacity", "1"),
        ("font-size", "12px"),
        ("font-size", "2em"),
        ("left", "10px"),
        ("color", "red"),
        ("--depth", "none"),
    ],
    ids=str,
)
def test_other_declarations_need_no_look(declaration: tuple[str, str]) -> None:
    assert watched({declaration}, PLAIN) == (set(), set(), False)


def test_two_declarations_that_hide_text_together_are_both_suspicious() -> None:
    pair = {("color", "navy"), ("background", "#000080")}
    watch = watched(pair, PLAIN)
    assert watch.suspicious == pair
    assert {"background-image", "background-clip", "text-fill-color"} <= watch.names


def test_a_paper_in_the_colour_of_links_hides_links() -> None:
    assert watched({("background", "#0000ee")}, PLAIN).links
    assert not watched({("background", "black")}, PLAIN).links


@pytest.mark.parametrize(
    "value", ["var(--a)", "var(--x, none)", "var(--b)", "calc(var(--a))"], ids=str
)
def test_the_variables_of_a_suspicious_value_are_watched(value: str) -> None:
    declared = {("--a", "none"), ("--b", "var(--a)"), ("--c", "none"), ("display", value)}
    watch = watched(declared, PLAIN)
    assert ("display", value) in watch.suspicious
    assert "--c" not in watch.names
    assert ("--a" in watch.names) is (value != "var(--x, none)")


def test_a_variable_of_many_values_may_be_anything() -> None:
    many = {("--a", f"{number}px") for number in range(_MOST_VALUES + 1)}
    assert watched(many | {("width", "var(--a)")}, PLAIN).suspicious == {("width", "var(--a)")}
    few = set(sorted(many)[1:9]) | {("width", "var(--a)")}
    assert not watched(few - {("--a", "0px"), ("--a", "1px")}, PLAIN).suspicious


def test_of_too_many_colours_every_one_is_suspicious() -> None:
    inks = {("color", f"#0{number:03x}00") for number in range(0x500, 0x500 + _MOST_PAIRS)}
    watch = watched(inks, PLAIN)
    assert watch.suspicious == inks
    assert watch.links
    assert not watched({("color", "#050000")}, PLAIN).suspicious
