"""A formula that is only drawn is read as what it shows: no power, index or fraction touches another number."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from tests.documents import book
from tests.pages.rendering.containers import CONTAINERS, as_fragment
from websearch_gateway.pages.formats.containers import zipped
from websearch_gateway.pages.formats.mail import mail

URL = "https://example.com/a"


def as_book(body: str) -> str:
    return zipped(book([body]), URL, "").markdown


def as_mail(body: str) -> str:
    head = "From: a@example.com\nSubject: Tides\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n"
    return mail(f"{head}<html><body>{body}</body></html>".encode(), URL, "").markdown


EVERYWHERE: Mapping[str, Callable[[str], str]] = {
    **CONTAINERS,
    "book": as_book,
    "mail": as_mail,
}


def span(kinds: str, *inside: str) -> str:
    return f'<span class="{kinds}">{"".join(inside)}</span>'


def level(rise: float, inside: str, kinds: str = "") -> str:
    """A part of a stack whose line is `rise` above that of the formula."""
    return (
        f'<span class="{kinds}" style="top:{-3 - rise}em;"><span class="pstrut" style="height:3em;"></span>'
        f"{inside}</span>"
    )


def stack(*levels: str) -> str:
    bottom = '<span class="vlist-r"><span class="vlist" style="height:0.1em;"><span></span></span></span>'
    rows = f'<span class="vlist" style="height:1em;">{"".join(levels)}</span><span class="vlist-s">\u200b</span>'
    return span("vlist-t vlist-t2", span("vlist-r", rows), bottom)


def small(inside: str) -> str:
    return span("sizing reset-size6 size3 mtight", span("mord mtight", inside))


def mord(inside: str) -> str:
    return span("mord", inside)


def scripted(base: str, *levels: str) -> str:
    return mord(base + span("msupsub", stack(*levels)))


def raised(inside: str) -> str:
    return level(0.36, small(inside))


def lowered(inside: str) -> str:
    return level(-0.15, small(inside))


def drawn(*parts: str) -> str:
    base = span("base", '<span class="strut" style="height:0.8em;"></span>', *parts)
    return f'<span class="katex"><span class="katex-html" aria-hidden="true">{base}</span></span>'


GAP = '<span class="mspace" style="margin-right:0.2222em;"></span>'
LINE = level(0.23, span("frac-line"))
HALF = span("mfrac", stack(level(-0.35, small("2")), LINE, level(0.39, small("1"))))
BAR = level(0.8, span("overline-line"))
RADICAL = level(0.1, span("hide-tail", "<svg><path d='M95,702'/></svg>"))
COLUMN = [stack(level(0.6, mord(above)), level(-0.6, mord(below))) for above, below in ("12", "34")]
NOT = span("mrel", span("rlap", span("inner", mord(span("mrel", "\ue020")))))

FORMULAS = {
    "power": (drawn(mord("1"), scripted(mord("0"), raised("5"))), "10^{5}"),
    "negative power": (
        drawn(mord("1"), scripted(mord("0"), raised(mord("−") + mord("5")))),
        "10^{-5}",
    ),
    "index": (drawn(scripted(mord("x"), lowered("2"))), "x_{2}"),
    "index of a number": (drawn(scripted(mord("7"), lowered("2"))), "7_{2}"),
    "both": (drawn(scripted(mord("x"), lowered("1"), raised("2"))), "x_{1}^{2}"),
    "both in the other order": (
        drawn(scripted(mord("x"), raised("2"), lowered("1"))),
        "x_{1}^{2}",
    ),
    "no base": (drawn(scripted(mord(""), raised("14")), mord("C")), "{}^{14}C"),
    "power of a power": (
        drawn(scripted(mord("x"), raised(scripted(mord("2"), raised("3"))))),
        "x^{2^{3}}",
    ),
    "prime": (drawn(scripted(mord("f"), raised("′"))), "f'"),
    "fraction": (drawn(mord("3"), mord(HALF)), r"3\frac{1}{2}"),
    "fraction without a line": (
        drawn(span("mfrac", stack(level(-0.4, mord("k")), level(0.4, mord("n"))))),
        r"{n \atop k}",
    ),
    "fraction of a fraction": (
        drawn(span("mfrac", stack(level(-0.7, mord("3")), LINE, level(0.7, mord(HALF))))),
        r"\frac{\frac{1}{2}}{3}",
    ),
    "square root": (
        drawn(span("mord sqrt", stack(level(0, mord("2"), "svg-align"), RADICAL))),
        r"\sqrt{2}",
    ),
    "cube root": (
        drawn(
            span(
                "mord sqrt",
                span("root", stack(level(0.4, small("3")))),
                stack(level(0, mord("2")), RADICAL),
            )
        ),
        r"\sqrt[3]{2}",
    ),
    "sum": (
        drawn(
            span(
                "mop op-limits",
                stack(level(-1.2, small("1")), level(0, span("mop", "∑")), level(1.2, small("9"))),
            )
        ),
        r"\sum_{1}^{9}",
    ),
    "name of a function": (
        drawn(span("mop", 'lo<span style="margin-right:0.01389em;">g</span>'), GAP, mord("8")),
        r"\log 8",
    ),
    "periodic decimal": (
        drawn(mord("0."), span("mord overline", stack(level(0, mord("3")), BAR))),
        r"0.\overline{3}",
    ),
    "hat": (
        drawn(span("mord accent", stack(level(0, mord("x")), level(0, span("accent-body", "^"))))),
        r"\hat{x}",
    ),
    "arrow": (
        drawn(
            span(
                "mord accent",
                stack(level(0, mord("v")), level(0, span("accent-body", "<svg></svg>"))),
            )
        ),
        r"\vec{v}",
    ),
    "struck relation": (drawn(mord("a"), NOT, span("mrel", "="), mord("5")), r"a\not=5"),
    "matrix": (
        drawn(span("mtable", *(span("col-align-c", column) for column in COLUMN))),
        r"\begin{matrix}1 & 3 \\ 2 & 4\end{matrix}",
    ),
    "words": (drawn(span("mord text", mord("if so")), mord("3")), r"\text{if so}3"),
    "bold": (drawn(span("mord mathbf", "v")), r"\mathbf{v}"),
    "parts with a gap": (drawn(mord("1"), GAP, mord("000")), "1 000"),
    "tall bracket": (drawn(span("delimsizing mult", stack(level(0, "⎝"), level(1, "⎛")))), "("),
    "new names of classes": (
        drawn(span("mord katex-overline", stack(level(0, mord("3")), BAR))),
        r"\overline{3}",
    ),
    "number of an equation": (
        drawn(mord("5"))[:-14] + span("tag", mord("(1)")) + "</span></span>",
        "5 (1)",
    ),
}


@pytest.mark.parametrize("container", EVERYWHERE)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_drawn_formula_is_the_latex_that_it_shows(formula: str, container: str) -> None:
    html, tex = FORMULAS[formula]
    written = EVERYWHERE[container](f"<p>We take {html} of it.</p>")
    assert f"We take `${tex}$` of it." in written


LOOKS = (
    ".katex .vlist-t{display:inline-table}.katex .vlist-r{display:table-row}.katex .vlist{display:table-cell}"
    ".katex .pstrut{overflow:hidden;width:0}.katex .hide-tail{overflow:hidden;width:0}.katex-html{display:block}"
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_style_sheet_of_drawings_hides_no_level(formula: str) -> None:
    html, tex = FORMULAS[formula]
    assert f"`${tex}$`" in as_fragment(f"<style>{LOOKS}</style><p>We take {html} of it.</p>")


UNPLACED = '<span class="vlist-t"><span class="vlist"><span>5</span></span></span>'
UNKNOWN = {
    "power without a place": mord("10") + span("msupsub", UNPLACED),
    "power behind a comment": mord("10") + f"<!--7-->{span('msupsub', '5')}",
    "one of two without a place": mord("10")
    + span("msupsub", stack(raised("5"), "<span>6</span>")),
    "power without a stack": mord("10") + span("msupsub", "5"),
    "powers of three levels": scripted(mord("10"), raised("5"), raised("6"), lowered("7")),
    "fraction of three levels": mord("10")
    + span("mfrac", stack(level(1, "5"), level(0, "6"), level(-1, "7"))),
    "root without a stack": mord("10") + span("sqrt", span("root", "5"), mord("6")),
    "empty root": mord("10") + span("sqrt") + GAP + mord("5"),
    "struck number": mord("10") + mord(stack(level(0, mord("5")))) + mord("6"),
    "limits of four levels": mord("10")
    + span("op-limits", stack(*(level(rise, mord("5")) for rise in (2, 1, 0, -1)))),
    "matrix without columns": mord("10") + span("mtable", stack(level(0, "5"), level(-1, "6"))),
    "column without places": mord("10") + span("mtable", span("col-align-c", UNPLACED)),
    "a length that is none": mord("10")
    + span("msupsub", stack('<span style="top:-em"><span class="pstrut"></span>5</span>')),
}


@pytest.mark.parametrize("container", EVERYWHERE)
@pytest.mark.parametrize("layout", UNKNOWN)
def test_parts_of_an_unknown_layout_stay_apart(layout: str, container: str) -> None:
    written = EVERYWHERE[container](f"<p>We take {drawn(UNKNOWN[layout])} of it.</p>")
    formula = written.partition("We take ")[2].partition(" of it.")[0]
    shown = {number for number in ("10", "5", "6", "7") if f">{number}<" in UNKNOWN[layout]}
    assert set(re.findall(r"\d+", formula)) == shown


@pytest.mark.parametrize(
    "kind", ["mord", "mfrac", "msupsub", "sqrt", "accent", "mtable", "katex-html"]
)
def test_no_size_or_depth_of_a_drawing_breaks_it(kind: str) -> None:
    power = scripted(mord("10"), raised("5"))
    deep = f'<span class="{kind}">' * 150 + power
    assert "105" not in as_fragment(f"<p>{drawn(deep)}")
    many = as_fragment(f"<p>{drawn(span(kind, power) * 2_000)}")
    assert "10" in many
    assert "105" not in many


def test_what_a_drawing_hides_is_not_read() -> None:
    hidden = '<span class="mord" style="display:none">500</span>'
    assert "500" not in as_fragment(f"<p>Here {drawn(mord('x'), hidden)} stands.</p>")
