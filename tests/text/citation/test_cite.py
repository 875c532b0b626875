from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.models import Span
from websearch_gateway.text.citation.cite import by_page, in_code_points, repair, without_trackers

A, B = "https://a.example/x", "https://b.example/y"
LINK_A, LINK_B = f"([a.example]({A}))", f"([b.example]({B}))"
LINKED = f"It is high. {LINK_A} It is long. {LINK_B} It is high again. {LINK_A} The end of it."


def slices(text: str, *spans: Span) -> list[str]:
    return [text[span.start : span.end] for span in repair(text, spans)]


@pytest.mark.parametrize(
    "piece", [LINK_A, f"[a.example]({A})", "a.example", A, f"It is high. {LINK_A}", f"It is high. {LINK_A} It is long."]
)
def test_a_span_that_cites_its_url_stays(piece: str) -> None:
    start = LINKED.index(piece)
    span = Span(A, "", start, start + len(piece))
    assert repair(LINKED, [span]) == [span]


@pytest.mark.parametrize("off", [-20, -5, -2, -1, 1, 2, 5, 20])
def test_a_misplaced_span_moves_to_the_nearest_link_to_its_url(off: int) -> None:
    for start in (LINKED.index(LINK_A), LINKED.rindex(LINK_A)):
        (span,) = repair(LINKED, [Span(A, "", start + off, start + len(LINK_A) + off)])
        assert (span.start, span.end) == (start, start + len(LINK_A))


@pytest.mark.parametrize(("start", "end"), [(-9, -3), (9, 3), (0, 0), (999, 1000), (0, 999)])
def test_impossible_offsets_are_repaired_from_the_url(start: int, end: int) -> None:
    assert slices(LINKED, Span(B, "", start, end)) == [LINK_B]


def test_a_url_matches_with_and_without_trackers() -> None:
    text = f"High. ([a]({A}?utm_source=openai))"
    assert slices(text, Span(A, "", 0, 3)) == [text[6:]]
    assert slices(LINKED, Span(f"{A}/?utm_source=openai", "", 0, 3)) == [LINK_A]


def test_in_a_text_with_links_a_span_whose_source_is_not_named_is_dropped() -> None:
    assert slices(LINKED, Span(A, "", 12, 20), Span("https://c.example/", "Sea", 60, 70)) == [LINK_A]


def test_in_a_text_with_links_a_source_may_be_named_by_host_or_title_or_cite_a_sentence() -> None:
    text = f"High. {LINK_A} According to c.example and The Sea Times it is deep. It is cold."
    assert slices(text, Span(A, "", 6, 9), Span("https://www.c.example/q", "", 65, 70))[1] == "c.example"
    assert slices(text, Span(A, "", 6, 9), Span("https://d.example/q", "the sea  times", 70, 75))[1] == "The Sea Times"
    assert (
        slices(text, Span(A, "", 6, 9), Span("https://d.example/q", "", len(text) - 11, len(text)))[1] == "It is cold."
    )


def test_in_a_text_without_links_a_span_is_the_claim_in_whole_words() -> None:
    text = "Paris is the capital of France. It has cafés."
    cases = {(0, 31): text[:31], (13, 30): "capital of France", (15, 28): "capital of France", (40, 43): "cafés"}
    assert {span: slices(text, Span(A, "", *span))[0] for span in cases} == cases


@pytest.mark.parametrize("span", [(0, 0), (31, 32), (500, 600)])
def test_a_span_without_words_is_dropped(span: tuple[int, int]) -> None:
    assert slices("Paris is the capital of France, so", Span(A, "", *span)) in (
        [],
        ["Paris is the capital of France, so"],
    )
    assert slices(".,;" * 20, Span(A, "", *span)) == []


def test_an_empty_span_cites_the_sentence_before_it() -> None:
    """A span that covered a raw marker is empty after the marker is removed."""
    text = "It rains. It pours."
    assert slices(text, Span(A, "", 9, 9), Span(B, "", 18, 18)) == ["It rains.", "It pours."]


def test_reference_marks_are_citations() -> None:
    text = f"It rains.[1] It pours. 【2†source】 {LINK_B}"
    assert slices(text, Span(A, "", 9, 12), Span(A, "", 23, 33), Span(B, "", 34, 40)) == ["[1]", "【2†source】", LINK_B]


def test_a_reference_mark_stays_although_its_url_is_in_the_text() -> None:
    text = f"It rains, says {A}. [1]"
    assert slices(text, Span(A, "", len(text) - 3, len(text))) == ["[1]"]


@pytest.mark.parametrize("cut", ["e\u0301", "👩\u200d🚀", "ก็", "❤\ufe0f"])
def test_composed_characters_are_never_cut(cut: str) -> None:
    text = f"say {cut}x"
    (span,) = repair(text, [Span(A, "", 0, 5)])
    assert text[span.start : span.end] in (text, f"say {cut}")


@given(st.lists(st.tuples(st.text("a 🗼é。\n", max_size=12), st.sampled_from((A, B))), min_size=2, max_size=8))
def test_spans_counted_in_utf16_units_are_recognised(claims: list[tuple[str, str]]) -> None:
    text, spans, units = _written(claims)
    assert in_code_points(text, units) == spans
    assert in_code_points(text, spans) == spans


def _written(claims: list[tuple[str, str]]) -> tuple[str, list[Span], list[Span]]:
    """A text of claims and links that begins with astral characters, with its spans in code points and in UTF-16."""
    text, spans, units = "🗼" * 9, [], []
    for claim, url in claims:
        text += claim + " "
        link = f"([h]({url}))"
        start = len(text.encode("utf-16-le")) // 2
        spans.append(Span(url, "", len(text), len(text) + len(link)))
        units.append(Span(url, "", start, start + len(link)))
        text += link
    return text, spans, units


def test_spans_that_are_valid_in_neither_unit_stay_unchanged() -> None:
    spans = [Span(A, "", 4, 5)]
    assert in_code_points("🗼🗼🗼....", spans) == spans


def test_trackers_are_removed_and_the_spans_move_with_the_text() -> None:
    text = f"High ([a]({A}?utm_source=openai)). Long ([b]({B}?id=1&utm_source=openai)). End."
    spans = [
        Span(f"{A}?utm_source=openai", "", 5, text.index(". Long")),
        Span(B, "", text.index("([b]"), text.index(". End")),
    ]
    bare, moved = without_trackers(text, spans)
    assert bare == f"High ([a]({A})). Long ([b]({B}?id=1)). End."
    assert [bare[span.start : span.end] for span in moved] == [f"([a]({A}))", f"([b]({B}?id=1))"]
    assert moved[0].url == A


def test_spans_are_grouped_by_page_in_text_order() -> None:
    spans = [Span(B, "b", 50, 60), Span(A, "late", 30, 40), Span(f"{A}/#top", "", 10, 20)]
    assert by_page(spans) == [[Span(f"{A}/#top", "late", 10, 20), Span(A, "late", 30, 40)], [Span(B, "b", 50, 60)]]


def test_many_links_and_many_spans_do_not_take_quadratic_time() -> None:
    """Each span looked at each link, and read the text between them, which took minutes."""
    count = 2_000
    text = "".join(f"[a](https://a{n}.example/) " for n in range(count)) + f"[b]({B}) " * count
    spans = [Span(url, "", 0, len(text)) for n in range(count) for url in (B, f"https://a{n}.example/")]
    placed = repair(text, spans)
    assert text[placed[0].start : placed[0].end] == f"[b]({B})"
    assert {text[span.start : span.end] for span in placed[1::2]} == {
        f"[a](https://a{n}.example/)" for n in range(count)
    }
