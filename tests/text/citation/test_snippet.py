from __future__ import annotations

import pytest

from websearch_gateway.text.citation.snippet import MAX_CHARS, snippets

A = "([a.example](https://a.example/x?y=1.2))"
B = "([b.example](https://b.example/z))"


def snippet(text: str, start: int, end: int) -> str:
    (words,) = snippets(text, [(start, end)])
    return words


@pytest.mark.parametrize(
    ("text", "piece", "sentence"),
    [
        (f"One is it. Two is it. {A} Three.", A, "Two is it."),
        (f"One is it. Two is it {A}. Three.", A, "Two is it."),
        (
            f"One. Two is 3.5 m by Dr. No in the U.S. border. {A}{B} Three.",
            B,
            "Two is 3.5 m by Dr. No in the U.S. border.",
        ),
        (f"Two is it. (It was three.) {A}", A, "Two is it. (It was three.)"),
        (f"One.\n\nTwo is it.\n{A}", A, "Two is it."),
        (f"One.\n\nTwo is it.\n\n{A}", A, "Two is it."),
        (f"- One is it. {A}\n- Two is it. {B}", B, "Two is it."),
        (f"1. One is it {A}\n2. Two is it. {B}", A, "One is it"),
        (f"## Two is it {A}\n\nText.", A, "Two is it"),
        (f"一つ目。二つ目です。{A}三つ目。", A, "二つ目です。"),
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
        ("שלום עולם. מה נשמע? " + A, A, "מה נשמע?"),
        (A, A, ""),
    ],
)
def test_the_snippet_is_the_supported_sentence_without_markup(text: str, piece: str, sentence: str) -> None:
    start = text.index(piece)
    assert snippet(text, start, start + len(piece)) == sentence


def test_a_long_sentence_is_cut_between_words() -> None:
    words = "word " * 200
    text = f"{words}end {A}."
    assert snippet(text, 0, 4) == ("word " * 59).strip() + " …".strip()
    late = snippet(text, text.index(A), text.index(A) + len(A))
    assert late.startswith("…word ")
    assert late.endswith(" end…")
    assert len(late) <= MAX_CHARS


def test_a_citation_outside_any_sentence_supports_nothing() -> None:
    assert snippet("A.\n\n\n", 4, 5) == ""
    assert snippet("", 0, 0) == ""
