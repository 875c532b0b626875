"""Formulas of Office (OMML) and OpenDocument as MathML, which the renderer writes as LaTeX.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 22.1). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from websearch_gateway.pages.rendering import mathml

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VAL = f"{M}val"
_DEEPEST = 60
"""Formulas in each other beyond this depth are written as their text."""


def of_office(formula: Any) -> str:
    """The LaTeX of an `m:oMath` or `m:oMathPara`."""
    return _latex(mathml.row(_children(formula, 0)))


def of_open_document(formula: Any) -> str:
    """The LaTeX of the `math` of a formula object, which is MathML in a namespace."""
    from lxml import etree

    for element in formula.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return _latex(formula)


def _latex(formula: Any) -> str:
    from websearch_gateway.pages.rendering.formulas import latex

    return latex(formula if formula.tag == "math" else mathml.element("math", formula))


# --- what an element holds ---

_DELETED = ("}del", "}moveFrom")
"""Of tracked changes, in the namespace of the document."""
_ON = ("on", "1", "true")
_OFF = ("off", "0", "false")


def _children(parent: Any, depth: int) -> Iterator[Any]:
    """What an element holds. Properties, which say how it looks, hold nothing."""
    if parent is None:
        return
    for child in parent:
        is_element = isinstance(child.tag, str)
        if is_element and not child.tag.endswith("Pr"):
            yield from _written(child, depth + 1)


def _part(element: Any, name: str, depth: int) -> Any:
    return mathml.row(_children(element.find(M + name), depth))


def _property(element: Any, name: str, otherwise: str = "") -> str:
    """The value of a property; one that is there without a value is "on"."""
    properties = next((child for child in element if child.tag.endswith("Pr")), None)
    if properties is None:
        return otherwise
    declared = properties.find(M + name)
    return otherwise if declared is None else str(declared.get(_VAL, "on"))


def _written(element: Any, depth: int) -> Iterator[Any]:
    name = element.tag.removeprefix(M)
    if depth > _DEEPEST:
        yield mathml.token("mtext", "".join(element.itertext(f"{M}t")))
    elif name.endswith(_DELETED) or _is_phantom(element):
        return
    elif name == "r":
        yield from _tokens(element)
    elif name in _WRITERS:
        yield _WRITERS[name](element, depth)
    else:
        yield from _children(element, depth)


def _is_phantom(element: Any) -> bool:
    """Whether an element only keeps the place that its formula would take."""
    return element.tag == f"{M}phant" and _property(element, "show") in _OFF


# Numbers, names of functions, single letters and signs, each of which is an element of MathML.
_TOKEN = re.compile(
    r"(?P<mn>\d+(?:[.,]\d+)*)"
    r"|(?P<mi>(?<![^\W\d_])(?:lim|max|min|sup|inf|log|ln|exp|sin|cos|tan|det)(?![^\W\d_])|[^\W\d_])"
    r"|(?P<blank>\s+)|(?P<mo>.)",
    re.DOTALL,
)


def _tokens(run: Any) -> Iterator[Any]:
    text = "".join(run.itertext(f"{M}t"))
    if run.find(f"{M}rPr/{M}nor") is not None:
        yield mathml.token("mtext", text)
        return
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or "mo"
        if kind != "blank":
            yield mathml.token(kind, token[0])


# --- structures ---


def _fraction(element: Any, depth: int) -> Any:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    kind = _property(element, "type")
    if kind == "lin":
        return mathml.element("mrow", above, mathml.token("mo", "/"), below)
    fraction = mathml.element("mfrac", above, below)
    if kind == "noBar":
        fraction.set("linethickness", "0")
    return fraction


def _scripted(tag: str, *scripts: str) -> Callable[[Any, int], Any]:
    """Write a base with these parts around it."""

    def write(element: Any, depth: int) -> Any:
        parts = [_part(element, name, depth) for name in ("e", *scripts)]
        return mathml.element(tag, *parts)

    return write


def _before(element: Any, depth: int) -> Any:
    """A base with what stands below and above on its left."""
    base = _part(element, "e", depth)
    lower, upper = _part(element, "sub", depth), _part(element, "sup", depth)
    return mathml.element("mmultiscripts", base, mathml.element("mprescripts"), lower, upper)


def _root(element: Any, depth: int) -> Any:
    inside = _part(element, "e", depth)
    degree = element.find(f"{M}deg")
    is_shown = _property(element, "degHide") not in _ON
    if degree is not None and len(degree) and is_shown:
        return mathml.element("mroot", inside, mathml.row(_children(degree, depth)))
    return mathml.element("msqrt", inside)


def _sum(element: Any, depth: int) -> Any:
    """An operator with limits, such as a sum or an integral, and what it is of."""
    sign = mathml.token("mo", _property(element, "chr", "∫"))
    lower, upper = _part(element, "sub", depth), _part(element, "sup", depth)
    is_around = _property(element, "limLoc") == "undOvr"
    operator = _with_limits(sign, lower, upper, is_around=is_around)
    return mathml.element("mrow", operator, _part(element, "e", depth))


def _with_limits(sign: Any, lower: Any, upper: Any, *, is_around: bool) -> Any:
    """An operator with those of its limits that say something, below and above it or beside it."""
    if _is_blank(lower) and _is_blank(upper):
        return sign
    if _is_blank(upper):
        return mathml.element("munder" if is_around else "msub", sign, lower)
    if _is_blank(lower):
        return mathml.element("mover" if is_around else "msup", sign, upper)
    return mathml.element("munderover" if is_around else "msubsup", sign, lower, upper)


def _is_blank(part: Any) -> bool:
    return not len(part) and not part.text


def _delimited(element: Any, depth: int) -> Any:
    row = mathml.element("mrow")
    if opening := _property(element, "begChr", "("):
        row.append(mathml.token("mo", opening))
    for number, inside in enumerate(element.iterchildren(f"{M}e")):
        if number:
            row.append(mathml.token("mo", _property(element, "sepChr", "|")))
        row.extend(_children(inside, depth))
    if closing := _property(element, "endChr", ")"):
        row.append(mathml.token("mo", closing))
    return row


def _function(element: Any, depth: int) -> Any:
    name = _name_of_function(element)
    if name is None:
        name = _part(element, "fName", depth)
    return mathml.element("mrow", name, _part(element, "e", depth))


def _name_of_function(element: Any) -> Any:
    """The name of a function as one identifier; None if it is not one word of plain runs."""
    name = element.find(f"{M}fName")
    if name is None:
        return None
    words = "".join(name.itertext(f"{M}t")).strip()
    is_plain = all(child.tag in (f"{M}r", f"{M}fNamePr") for child in name)
    return mathml.token("mi", words) if is_plain and words.isalpha() else None


def _accented(element: Any, depth: int) -> Any:
    sign = mathml.token("mo", _property(element, "chr", "\u0302"))
    accent = mathml.element("mover", _part(element, "e", depth), sign)
    accent.set("accent", "true")
    return accent


def _barred(element: Any, depth: int) -> Any:
    inside = _part(element, "e", depth)
    if _property(element, "pos") == "top":
        return mathml.element("mover", inside, mathml.token("mo", "¯"))
    return mathml.element("munder", inside, mathml.token("mo", "_"))


def _grouped(element: Any, depth: int) -> Any:
    tag = "mover" if _property(element, "pos") == "top" else "munder"
    brace = mathml.token("mo", _property(element, "chr", "⏟"))
    return mathml.element(tag, _part(element, "e", depth), brace)


def _matrix(element: Any, depth: int) -> Any:
    return mathml.table(_cells(row, depth) for row in element.iterchildren(f"{M}mr"))


def _equations(element: Any, depth: int) -> Any:
    """Equations below each other: each is a row of one cell."""
    return mathml.table([equation] for equation in _cells(element, depth))


def _cells(row: Any, depth: int) -> Iterator[Iterator[Any]]:
    return (_children(cell, depth) for cell in row.iterchildren(f"{M}e"))


_WRITERS: Mapping[str, Callable[[Any, int], Any]] = {
    "f": _fraction,
    "sSup": _scripted("msup", "sup"),
    "sSub": _scripted("msub", "sub"),
    "sSubSup": _scripted("msubsup", "sub", "sup"),
    "sPre": _before,
    "limLow": _scripted("munder", "lim"),
    "limUpp": _scripted("mover", "lim"),
    "rad": _root,
    "nary": _sum,
    "d": _delimited,
    "func": _function,
    "acc": _accented,
    "bar": _barred,
    "groupChr": _grouped,
    "m": _matrix,
    "eqArr": _equations,
}
