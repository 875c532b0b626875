"""The conditions that hold on a laptop's screen; an unknown one never holds, negated or not."""

from __future__ import annotations

import pytest

from websearch_gateway.readers.visibility.media import MAX_DEPTH, on_screen


@pytest.mark.parametrize(
    "media",
    [
        "",
        "screen",
        "print, screen",
        "not print",
        "only screen and (min-width: 600px)",
        "(width >= 600px)",
        "(400px <= width < 2000px)",
        "(color)",
        "(hover) and (pointer: fine)",
        "(orientation: landscape)",
        "not (max-width: 600px)",
        "(min-resolution: 96dpi)",
        "(min-aspect-ratio: 4/3)",
        "(max-width: 10px) or (scripting: enabled)",
        "not ((monochrome) or (max-width: 10px))",
    ],
)
def test_conditions_that_hold_on_a_laptop(media: str) -> None:
    assert on_screen(media)


@pytest.mark.parametrize(
    "media",
    [
        "print",
        "not screen",
        "screen and (max-width: 600px)",
        "(width < 600px)",
        "(prefers-color-scheme: dark)",
        "(prefers-reduced-motion)",
        "(monochrome)",
        "(min-resolution: 2dppx)",
    ],
)
def test_conditions_that_do_not_hold_on_a_laptop(media: str) -> None:
    assert not on_screen(media)


@pytest.mark.parametrize("media", ["(tides: high)", "(min-width: some)", "screen and screen and not print", "((("])
def test_neither_an_unknown_condition_nor_its_negation_holds(media: str) -> None:
    assert not on_screen(media)
    assert not on_screen(f"not {media}")


def test_an_unknown_part_does_not_matter_if_the_others_decide() -> None:
    assert on_screen("(tides: high) or (color)")
    assert not on_screen("(tides: high) and (monochrome)")


def test_a_condition_of_hostile_depth_is_unknown() -> None:
    assert not on_screen("(" * (MAX_DEPTH + 1) + "color" + ")" * (MAX_DEPTH + 1))
