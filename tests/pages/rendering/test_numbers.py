"""Raised and lowered text, readings, quotations and numbers of lists keep their meaning in every container."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pages.rendering.containers import CONTAINERS, as_fragment

CASES = {
    "a power of a number": ("10<sup>5</sup> boats", "10^5 boats"),
    "a negative power": ("3×10<sup>-4</sup> of it", "3×10^-4 of it"),
    "a power right before a word": ("10<sup>5</sup>boats", "10^5 boats"),
    "a power of a unit": ("12 m<sup>2</sup> of deck", "12 m² of deck"),
    "an expression": ("2<sup>n+1</sup> ropes", "2^(n+1) ropes"),
    "an expression after a letter": ("x<sup>n+1</sup> ropes", "x^(n+1) ropes"),
    "a raised letter": ("e<sup>x</sup> grows", "e^x grows"),
    "cents": ("$19<sup>99</sup> each", "$19^99 each"),
    "blanks inside": ("10<sup> 5 </sup>boats", "10^5 boats"),
    "a bold base": ("<b>10</b><sup>6</sup> boats", "**10**^6 boats"),
    "an ordinal": ("the 1<sup>st</sup> and 22<sup>nd</sup> pier", "the 1st and 22nd pier"),
    "a trade mark": ("Rope<sup>TM</sup> and Knot<sup>®</sup>", "Rope™ and Knot®"),
    "a formula of chemistry": ("H<sub>2</sub>O and CO<sub>2</sub>", "H₂O and CO₂"),
    "an isotope": ("<sup>14</sup>C and <sup>235</sup>U", "¹⁴C and ²³⁵U"),
    "a base of a logarithm": ("log<sub>2</sub>8 is three", "log_2 8 is three"),
    "an index before a digit": ("x<sub>1</sub>2 is no twelve", "x_1 2 is no twelve"),
    "an index of a letter": ("x<sub>n</sub> ends", "x_n ends"),
    "an index and a power": ("x<sub>1</sub><sup>2</sup> ends", "x₁^2 ends"),
    "raised by its style": ("10<span style='vertical-align: super'>5</span> boats", "10^5 boats"),
    "raised by a style sheet": (
        "<style>.up{vertical-align:super}</style>10<span class=up>5</span> boats",
        "10^5 boats",
    ),
    "a reading": ("<ruby>港<rt>みなと</rt></ruby>は", "港(みなと)は"),
    "a reading with brackets": (
        "<ruby>港<rp>(</rp><rt>みなと</rt><rp>)</rp></ruby>は",
        "港(みなと)は",
    ),
    "a quotation": ("He said <q>cast <q>off</q></q>.", "He said “cast ‘off’”."),
    "struck": ("<s>48 €</s> 36 €", "~~48 €~~ 36 €"),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("case", CASES)
def test_what_stands_higher_or_lower_never_touches_its_base(case: str, container: str) -> None:
    html, markdown = CASES[case]
    assert markdown in CONTAINERS[container](
        f"<p>Here {html} and more.</p>".replace(". and more", ".")
    )


LISTS = {
    "start": ("<ol start=7><li>a<li>b</ol>", "7. a\n8. b"),
    "a number of its own": ("<ol><li>a<li value=5>b<li>c</ol>", "1. a\n5. b\n6. c"),
    "counting down": ("<ol reversed><li>a<li>b<li>c</ol>", "3. a\n2. b\n1. c"),
    "counting down from": ("<ol reversed start=10><li>a<li>b</ol>", "10. a\n9. b"),
    "letters": ("<ol type=a start=26><li>a<li>b</ol>", "- z. a\n- aa. b"),
    "Roman numbers": ("<ol type=I start=4><li>a<li>b</ol>", "- IV. a\n- V. b"),
    "below zero": ("<ol start=-1><li>a<li>b</ol>", "- -1. a\n0. b"),
    "a mark of its own": (
        "<ul><li data-marker='(a)'>rope<li data-marker='(b)'>knot</ul>",
        "- (a) rope\n- (b) knot",
    ),
    "boxes to tick": (
        "<ul><li><input type=checkbox checked disabled> rope<li><input type=checkbox disabled> knot</ul>",
        "- [x] rope\n- [ ] knot",
    ),
    "a list right in a list": (
        "<ul><li>bow</li><ul><li>rope</li><li>knot</li></ul><li>stern</li></ul>",
        "- bow\n  - rope\n  - knot\n- stern",
    ),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("case", LISTS)
def test_a_list_has_the_numbers_that_its_readers_see(case: str, container: str) -> None:
    html, markdown = LISTS[case]
    assert markdown in CONTAINERS[container](html)


_NUMBER = re.compile(r"[0-9]+")
_APART = ("sup", "sub", "rt", "q")
_INLINE = st.sampled_from([*_APART, "b", "i", "span", "code", "a", "s"])
_WORDS = st.text(st.sampled_from("0123456789 ab+-."), min_size=1, max_size=6)


@given(st.lists(st.tuples(_INLINE, _WORDS, _WORDS), max_size=6))
def test_every_number_of_a_paragraph_is_one_of_its_source(
    pieces: list[tuple[str, str, str]],
) -> None:
    html = "".join(
        f"{text}<{tag}>{inner}</{tag}>" if tag in _APART else f"{text} <{tag}>{inner}</{tag}> "
        for tag, inner, text in pieces
    )
    apart = re.sub(r"</?(?:sup|sub|rt|q)>", " ", html)
    source = set(_NUMBER.findall(re.sub(r"<[^>]*>", "", apart)))
    assert set(_NUMBER.findall(as_fragment(f"<p>x {html}</p>"))) <= source
