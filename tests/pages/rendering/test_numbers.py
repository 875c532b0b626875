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
    "raised by a rule of a list": (
        "<style>/* raised */ em.no, p .up{vertical-align:super}</style>10<span class=up>5</span> boats",
        "10^5 boats",
    ),
    "smaller and shifted up": (
        "10<span style='position:relative;top:-.5em;font-size:70%'>5</span> boats",
        "10^5 boats",
    ),
    "smaller and raised by a length": (
        "10<span style='vertical-align:5px;font-size:8px'>5</span> boats",
        "10^5 boats",
    ),
    "smaller and lowered by a length": (
        "x<span style='vertical-align:-.3em;font-size:.7em'>5</span> boats",
        "x₅ boats",
    ),
    "a charge": ("Fe<sup>3+</sup> and Cl<sup>−</sup>", "Fe³⁺ and Cl⁻"),
    "a power in code": ("<code>-10<sup>9</sup> &lt; n</code>", "`-10^9 < n`"),
    "an index in code": ("<code>log<sub>2</sub>8</code>", "`log_2 8`"),
    "a whole number and a fraction": ("1<sup>1</sup>&frasl;<sub>2</sub> cups", "1 ¹⁄₂ cups"),
    "a fraction of spans": ("5<span>1</span>&frasl;<span>2</span> inches", "5 1⁄2 inches"),
    "struck by its style": (
        "<span style='text-decoration:line-through'>48</span>36 €",
        "~~48~~36 €",
    ),
    "boxes beside each other": (
        "<span style='display:inline-block;width:4em'>48</span><span>36</span>",
        "48 36",
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
    "the largest Roman number": (
        "<ol type=i start=3999><li>a<li>b</ol>",
        "- mmmcmxcix. a\n4000. b",
    ),
    "all digits of Roman numbers": (
        "<ol type=i><li value=444>a<li value=1666>b</ol>",
        "- cdxliv. a\n- mdclxvi. b",
    ),
    "Roman numbers": ("<ol type=I start=4><li>a<li>b</ol>", "- IV. a\n- V. b"),
    "below zero": ("<ol start=-1><li>a<li>b</ol>", "- -1. a\n0. b"),
    "letters by style": (
        "<ol style='list-style-type:lower-alpha'><li>a<li>b</ol>",
        "- a. a\n- b. b",
    ),
    "no marks but those of the items": (
        "<style>.n{list-style:none}</style><ol class=n><li>1.1 rope<li>1.2 knot</ol>",
        "- 1.1 rope\n- 1.2 knot",
    ),
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
def test_a_power_in_a_listing_does_not_touch_its_base(container: str) -> None:
    listing = "<pre>n = 10<sup>4</sup>\nm = a<sub>1</sub>2</pre>"
    assert "```\nn = 10^4\nm = a_1 2\n```" in CONTAINERS[container](listing)


INSIDE_OF_A_LINE = {
    "a script": "So <script>var a</script>it is here.",
    "an icon": "So <svg><path d=''/></svg>it is here.",
    "a field": "So <input type=hidden>it is here.",
    "an element of the site": "So <x-word>it</x-word> is here.",
    "a value": "So it <output>is</output> here.",
    "a script beside text": "</p><div>So it <script>var a</script>is here.</div><p>",
    "an element of the site beside text": "</p><div>So it <x-word>is</x-word> here.</div><p>",
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("case", INSIDE_OF_A_LINE)
def test_what_stands_inside_of_a_line_does_not_part_it(case: str, container: str) -> None:
    html = f"<p>{INSIDE_OF_A_LINE[case]}</p>"
    assert "So it is here." in CONTAINERS[container](html)


def test_elements_of_a_site_that_hold_no_words_of_a_line_stay_apart() -> None:
    assert as_fragment("<x-card>48</x-card><x-card>36</x-card>") == "48\n\n36"


@pytest.mark.parametrize("style", ["white-space:pre-wrap", "white-space: pre-line"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_lines_that_a_style_keeps_stay_lines(style: str, container: str) -> None:
    html = f"<div style='{style}'>Mole 12\n34 boats lie\nin <b>the</b> basin</div>"
    lines = CONTAINERS[container](html).split("\n")
    assert [
        line.strip() for line in lines if "12" in line or "34" in line or "**the**" in line
    ] == [
        "Mole 12",
        "34 boats lie",
        "in **the** basin",
    ]


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


@pytest.mark.parametrize(("letters", "sign"), [(40, "x^"), (41, "x ")])
def test_a_raised_text_of_up_to_forty_letters_is_a_power(letters: int, sign: str) -> None:
    assert as_fragment(f"<p>x<sup>{'n' * letters}</sup> ends").startswith(sign)
