from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import too_much
from websearch_gateway.evidence.citations import (
    by_page,
    in_code_points,
    repair,
    strip_markers,
    without_trackers,
)
from websearch_gateway.evidence.cited_sentences import snippets
from websearch_gateway.evidence.offsets import from_utf16, moved, without_pieces
from websearch_gateway.models import Span

A, B = "https://a.example/x", "https://b.example/y"
LINK_A, LINK_B = f"([a.example]({A}))", f"([b.example]({B}))"
LINKED = f"It is high. {LINK_A} It is long. {LINK_B} It is high again. {LINK_A} The end of it."


def slices(text: str, *spans: Span) -> list[str]:
    return [text[span.start : span.end] for span in repair(text, spans)]


@pytest.mark.parametrize(
    "piece",
    [
        LINK_A,
        f"[a.example]({A})",
        "a.example",
        A,
        f"It is high. {LINK_A}",
        f"It is high. {LINK_A} It is long.",
    ],
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
    assert slices(LINKED, Span(A, "", 12, 20), Span("https://c.example/", "Sea", 60, 70)) == [
        LINK_A
    ]


def test_in_a_text_with_links_a_source_may_be_named_by_host_or_title_or_cite_a_sentence() -> None:
    text = f"High. {LINK_A} According to c.example and The Sea Times it is deep. It is cold."
    assert (
        slices(text, Span(A, "", 6, 9), Span("https://www.c.example/q", "", 65, 70))[1]
        == "c.example"
    )
    assert (
        slices(text, Span(A, "", 6, 9), Span("https://d.example/q", "the sea  times", 70, 75))[1]
        == "The Sea Times"
    )
    assert (
        slices(text, Span(A, "", 6, 9), Span("https://d.example/q", "", len(text) - 11, len(text)))[
            1
        ]
        == "It is cold."
    )


@pytest.mark.parametrize(("length", "is_found"), [(3, False), (4, True), (300, True), (301, False)])
def test_a_source_is_known_by_a_title_of_4_to_300_characters(length: int, is_found: bool) -> None:
    title = "x" * length
    text = f"High. {LINK_A} According to {title} it is deep."
    start = text.index(title)
    span = Span("https://d.example/q", title, start, start + length)
    assert (title in slices(text, Span(A, "", 6, 9), span)) is is_found


@pytest.mark.parametrize(("characters", "is_whole"), [(2_000, True), (2_001, False)])
def test_a_claim_has_up_to_2000_characters(characters: int, is_whole: bool) -> None:
    text = f"{'high' * 500}"[: characters - len(LINK_A) - 1] + f" {LINK_A}"
    assert slices(text, Span(A, "", 0, characters)) == [text if is_whole else LINK_A]


def test_in_a_text_without_links_a_span_is_the_claim_in_whole_words() -> None:
    text = "Paris is the capital of France. It has cafés."
    cases = {
        (0, 31): text[:31],
        (13, 30): "capital of France",
        (15, 28): "capital of France",
        (40, 43): "cafés",
    }
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
    assert slices(text, Span(A, "", 9, 12), Span(A, "", 23, 33), Span(B, "", 34, 40)) == [
        "[1]",
        "【2†source】",
        LINK_B,
    ]


def test_a_reference_mark_stays_although_its_url_is_in_the_text() -> None:
    text = f"It rains, says {A}. [1]"
    assert slices(text, Span(A, "", len(text) - 3, len(text))) == ["[1]"]


@pytest.mark.parametrize("cut", ["e\u0301", "👩\u200d🚀", "ก็", "❤\ufe0f"])
def test_composed_characters_are_never_cut(cut: str) -> None:
    text = f"say {cut}x"
    (span,) = repair(text, [Span(A, "", 0, 5)])
    assert text[span.start : span.end] in (text, f"say {cut}")


@given(
    st.lists(
        st.tuples(st.text("a 🗼é。\n", max_size=12), st.sampled_from((A, B))),
        min_size=2,
        max_size=8,
    )
)
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
    assert by_page(spans) == [
        [Span(f"{A}/#top", "late", 10, 20), Span(A, "late", 30, 40)],
        [Span(B, "b", 50, 60)],
    ]


def test_many_links_and_many_spans_do_not_take_quadratic_time() -> None:
    """Each span looked at each link, and read the text between them, which took minutes."""

    def linked(count: int) -> tuple[str, list[Span]]:
        text = "".join(f"[a](https://a{n}.example/) " for n in range(count)) + f"[b]({B}) " * count
        return text, [
            Span(url, "", 0, len(text))
            for n in range(count)
            for url in (B, f"https://a{n}.example/")
        ]

    assert too_much(lambda text: repair(*linked(len(text))), "a", (100,), ()) is None
    count = 100
    text, spans = linked(count)
    placed = repair(text, spans)
    assert text[placed[0].start : placed[0].end] == f"[b]({B})"
    assert {text[span.start : span.end] for span in placed[1::2]} == {
        f"[a](https://a{n}.example/)" for n in range(count)
    }


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
    bare, spans = strip_markers(
        text, [Span("u", "", at, at + len(WHOLE)), Span("u", "", pours, pours + 8)]
    )
    assert [bare[span.start : span.end] for span in spans] == ["", "It pours"]
    assert bare[: spans[0].start] == "It rains"


@given(st.text(alphabet="ab. \n\ue200\ue201\ue202citeturn0search", max_size=60))
def test_no_private_use_character_of_a_marker_remains(text: str) -> None:
    bare, _ = strip_markers(text, ())
    assert not any("\ue200" <= character <= "\ue20f" for character in bare)


def test_a_truncated_marker_at_the_end_is_removed_completely() -> None:
    assert strip_markers("They spit.\ue200cite\ue202turn1sea", []) == ("They spit.", [])


def test_spans_move_with_the_text_after_a_cut() -> None:
    text, move = without_pieces("one two three", [(0, 4), (7, 13)])
    assert text == "two"
    spans = moved([Span("u", "", 4, 7), Span("u", "", 2, 5), Span("u", "", 8, 9)], move)
    assert [(span.start, span.end) for span in spans] == [(0, 3), (0, 1), (3, 3)]


@given(st.text(min_size=1), st.data())
def test_move_gives_the_new_offset_of_text_that_is_not_cut(text: str, data: st.DataObject) -> None:
    edges = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = list(zip(edges[::2], edges[1::2], strict=False))
    short, move = without_pieces(text, pieces)
    kept = [i for i in range(len(text)) if not any(start <= i < end for start, end in pieces)]
    assert short == "".join(text[i] for i in kept)
    assert [move(i) for i in kept] == list(range(len(short)))
    assert move(len(text)) == len(short)


@given(st.text(), st.text())
def test_utf16_offsets_become_python_offsets(before: str, after: str) -> None:
    units = len(before.encode("utf-16-le", "surrogatepass")) // 2
    assert from_utf16(before + after)(units) == len(before)


def test_an_offset_inside_a_character_moves_back_and_one_beyond_the_end_stays_beyond_it() -> None:
    move = from_utf16("a🗼b")
    assert [move(units) for units in (0, 1, 2, 3, 4, 99)] == [0, 1, 1, 2, 3, 98]


SNIPPET_A = "([a.example](https://a.example/x?y=1.2))"
SNIPPET_B = "([b.example](https://b.example/z))"


def snippet(text: str, start: int, end: int) -> str:
    (words,) = snippets(text, [(start, end)])
    return words


@pytest.mark.parametrize(
    ("text", "piece", "sentence"),
    [
        (f"One is it. Two is it. {SNIPPET_A} Three.", SNIPPET_A, "Two is it."),
        (f"One is it. Two is it {SNIPPET_A}. Three.", SNIPPET_A, "Two is it."),
        (
            f"One. Two is 3.5 m by Dr. No in the U.S. border. {SNIPPET_A}{SNIPPET_B} Three.",
            SNIPPET_B,
            "Two is 3.5 m by Dr. No in the U.S. border.",
        ),
        (f"Two is it. (It was three.) {SNIPPET_A}", SNIPPET_A, "Two is it. (It was three.)"),
        (f"One.\n\nTwo is it.\n{SNIPPET_A}", SNIPPET_A, "Two is it."),
        (f"One.\n\nTwo is it.\n\n{SNIPPET_A}", SNIPPET_A, "Two is it."),
        (f"- One is it. {SNIPPET_A}\n- Two is it. {SNIPPET_B}", SNIPPET_B, "Two is it."),
        (f"1. One is it {SNIPPET_A}\n2. Two is it. {SNIPPET_B}", SNIPPET_A, "One is it"),
        (f"## Two is it {SNIPPET_A}\n\nText.", SNIPPET_A, "Two is it"),
        (f"一つ目。二つ目です。{SNIPPET_A}三つ目。", SNIPPET_A, "二つ目です。"),
        (
            "- [The title](https://a.example/x): what it says.",
            "[The title](https://a.example/x)",
            "The title: what it says.",
        ),
        (
            "As [The title](https://a.example/x) says, two is it. Three.",
            "https://a.example/x",
            "As The title says, two is it.",
        ),
        ("Two is it. [1] Three.[2]", "[1]", "Two is it."),
        ("Two is it. Three.[2]", "[2]", "Three."),
        ("Two is it. https://a.example/x", "https://a.example/x", "Two is it."),
        ("Two is it (https://a.example/x). Three.", "https://a.example/x", "Two is it."),
        ("One is it. Two is it. Three.", "One is it. Two is it.", "One is it. Two is it."),
        ("שלום עולם. מה נשמע? " + SNIPPET_A, SNIPPET_A, "מה נשמע?"),
        (SNIPPET_A, SNIPPET_A, ""),
    ],
)
def test_the_snippet_is_the_supported_sentence_without_markup(
    text: str, piece: str, sentence: str
) -> None:
    start = text.index(piece)
    assert snippet(text, start, start + len(piece)) == sentence


def test_a_long_sentence_is_cut_between_words() -> None:
    words = "word " * 200
    text = f"{words}end {SNIPPET_A}."
    assert snippet(text, 0, 4) == ("word " * 59).strip() + " …".strip()
    late = snippet(text, text.index(SNIPPET_A), text.index(SNIPPET_A) + len(SNIPPET_A))
    assert late.startswith("…word ")
    assert late.endswith(" end…")
    assert len(late) <= 300


def test_a_citation_outside_any_sentence_supports_nothing() -> None:
    assert snippet("A.\n\n\n", 4, 5) == ""
    assert snippet("", 0, 0) == ""


@pytest.mark.parametrize(("before", "is_found"), [(80, True), (81, False)])
def test_the_word_that_a_span_cuts_is_looked_for_in_eighty_characters(
    before: int, is_found: bool
) -> None:
    text = "x" * before + " rest of it."
    assert bool(repair(text, [Span(A, "", before - 1, before + 5)])) is is_found


@pytest.mark.parametrize(("marks", "claim"), [(8, "It rains."), (9, "")])
def test_the_claim_of_a_citation_without_words_is_among_the_eight_sentences_before(
    marks: int, claim: str
) -> None:
    text = "It rains.\n\n" + "\n\n".join(["[1]"] * marks)
    assert snippets(text, [(len(text) - 3, len(text))]) == [claim]


@pytest.mark.parametrize(("length", "is_whole"), [(300, True), (302, False)])
def test_a_snippet_has_at_most_three_hundred_characters(length: int, is_whole: bool) -> None:
    text = "x " * (length // 2 - 1) + "y."
    (snippet,) = snippets(text, [(length - 1, length)])
    assert (snippet == text) is is_whole
    assert len(snippet) <= 300


@pytest.mark.parametrize(
    ("characters", "claim"), [(2_000, "Lo, it rains."), (2_001, "o, it rains.")]
)
def test_a_claim_begins_at_most_two_thousand_characters_before_its_citation(
    characters: int, claim: str
) -> None:
    """A reader sees the label of a link alone, so a claim may be long and its snippet short."""
    head, tail = "Lo, [it](https://a.example/", ") rains. "
    text = head + "x" * (characters - len(head) - len(tail)) + tail + SNIPPET_B
    assert snippet(text, characters, len(text)) == claim
