"""Windows: nothing lost, nothing twice, never too long."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.text.window import window


@given(st.text(alphabet="ab \n\U0001f600"), st.integers(1, 40))
def test_windows_one_after_the_other_are_the_text(text: str, most: int) -> None:
    pieces, offset = [], 0
    while True:
        piece, following = window(text, offset, most)
        pieces.append(piece)
        assert len(piece) <= most
        if following is None:
            break
        assert following == offset + len(piece) > offset
        offset = following
    assert "".join(pieces) == text


def test_a_window_ends_with_a_line_when_one_ends_near_its_end() -> None:
    text = "x" * 90 + "\n" + "y" * 100
    assert window(text, 0, 100) == ("x" * 90 + "\n", 91)
    assert window(text, 0, 180) == (text[:180], 180)


def test_beyond_the_end_there_is_nothing() -> None:
    assert window("abc", 3, 10) == ("", None)
    assert window("abc", 99, 10) == ("", None)
