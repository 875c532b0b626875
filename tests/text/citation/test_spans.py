from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.models import Span
from websearch_gateway.text.citation.spans import cut, from_utf16, moved


def test_spans_move_with_the_text_after_a_cut() -> None:
    text, move = cut("one two three", [(0, 4), (7, 13)])
    assert text == "two"
    spans = moved([Span("u", "", 4, 7), Span("u", "", 2, 5), Span("u", "", 8, 9)], move)
    assert [(span.start, span.end) for span in spans] == [(0, 3), (0, 1), (3, 3)]


@given(st.text(min_size=1), st.data())
def test_move_gives_the_new_offset_of_text_that_is_not_cut(text: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = list(zip(edges[::2], edges[1::2], strict=False))
    short, move = cut(text, pieces)
    kept = [i for i in range(len(text)) if not any(start <= i < end for start, end in pieces)]
    assert short == "".join(text[i] for i in kept)
    assert [move(i) for i in kept] == list(range(len(short)))
    assert move(len(text)) == len(short)


@given(st.text(), st.text())
def test_utf16_offsets_become_python_offsets(before: str, after: str) -> None:
    units = len(before.encode("utf-16-le", "surrogatepass")) // 2
    assert from_utf16(before + after)(units) == len(before)


def test_an_offset_inside_a_character_or_beyond_the_end_moves_back() -> None:
    move = from_utf16("a🗼b")
    assert [move(units) for units in (0, 1, 2, 3, 4, 99)] == [0, 1, 1, 2, 3, 3]
