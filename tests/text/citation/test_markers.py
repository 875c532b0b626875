from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.models import Span
from websearch_gateway.text.citation.markers import strip_markers

WHOLE = "\ue200cite\ue202turn0search0\ue201"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (f"It rains {WHOLE}. It pours.", "It rains. It pours."),
        (f"It rains. {WHOLE} It pours.", "It rains. It pours."),
        (f"It rains.{WHOLE}{WHOLE}\nIt pours {WHOLE} {WHOLE}", "It rains.\nIt pours"),
        (f"rain{WHOLE}bow", "rainbow"),
        ("A \ue200cite\ue202turn0search0\ue202turn12view3\ue201, b", "A, b"),
        ("A \ue200cite\ue202turn0search0 b", "A b"),
        ("A citeturn0search0turn1news2. B", "A. B"),
        ("A \ue203marked\ue204 word \ue206.", "A marked word."),
        ("I cite turn 1 of the Citadel", "I cite turn 1 of the Citadel"),
    ],
)
def test_markers_are_removed_with_the_blank_before_them(text: str, bare: str) -> None:
    assert strip_markers(text, ())[0] == bare


def test_spans_on_other_words_move_and_those_on_a_marker_become_empty() -> None:
    text = f"It rains {WHOLE}. It pours."
    at = text.index(WHOLE)
    pours = text.index("It pours")
    bare, spans = strip_markers(text, [Span("u", "", at, at + len(WHOLE)), Span("u", "", pours, pours + 8)])
    assert [bare[span.start : span.end] for span in spans] == ["", "It pours"]
    assert bare[: spans[0].start] == "It rains"


@given(st.text(alphabet="ab. \n\ue200\ue201\ue202citeturn0search", max_size=60))
def test_no_private_use_character_of_a_marker_remains(text: str) -> None:
    bare, _ = strip_markers(text, ())
    assert not any("\ue200" <= character <= "\ue20f" for character in bare)


def test_a_truncated_marker_at_the_end_is_removed_completely() -> None:
    assert strip_markers("They spit.\ue200cite\ue202turn1sea", []) == ("They spit.", [])
