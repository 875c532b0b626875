"""CSS lengths as pixels of a laptop's screen."""

from __future__ import annotations

import pytest

from websearch_gateway.readers.visibility.lengths import MAX_CALCULATED_CHARS, pixels


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
    "value", ["", "px", "50%", "1furlong", "calc(1px", "calc(1px 2px)", "calc(1px / 0)", "calc(var(--x))", "min()"]
)
def test_an_invalid_length_is_none(value: str) -> None:
    assert pixels(value) is None


def test_a_calculation_of_hostile_depth_is_not_evaluated() -> None:
    assert pixels("(" * MAX_CALCULATED_CHARS + "1px" + ")" * MAX_CALCULATED_CHARS) is None
    assert pixels("((((1px))))") == 1
