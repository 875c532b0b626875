"""Formulas of Office (OMML) and OpenDocument as MathML, which the renderer writes as LaTeX.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 22.1). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VAL = f"{M}val"
_DEEPEST = 60
"""Formulas in each other beyond this depth are written as their text."""
# Numbers, names of functions, single letters and signs, each of which is an element of MathML.
_TOKEN = re.compile(
    r"(\d+(?:[.,]\d+)*)|((?<![^\W\d_])(?:lim|max|min|sup|inf|log|ln|exp|sin|cos|tan|det)(?![^\W\d_])|[^\W\d_])"
    r"|(\s+)|(.)",
    re.DOTALL,
)
_DELETED = ("}del", "}moveFrom")
"""Of tracked changes, in the namespace of the document."""
_OFF = ("0", "off", "false")
_LIMIT_LOCATIONS = {"undOvr": "munderover", "subSup": "msubsup"}


def of_office(formula: Any) -> str:
    """The LaTeX of an `m:oMath` or `m:oMathPara`."""
    return _latex(_row(_children(formula, 0)))


def of_open_document(formula: Any) -> str:
    """The LaTeX of the `math` of a formula object, which is MathML in a namespace."""
    from lxml import etree

    for element in formula.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return _latex(formula)


def _latex(row: Any) -> str:
    from websearch_gateway.pages.rendering.formulas import latex

    return latex(row if row.tag == "math" else _made("math", row))


def _made(tag: str, *inside: Any) -> Any:
    from lxml import etree

    element = etree.Element(tag)
    element.extend(inside)
    return element


def _leaf(tag: str, text: str) -> Any:
    element = _made(tag)
    element.text = text
    return element


def _row(inside: Iterable[Any]) -> Any:
    elements = list(inside)
    return elements[0] if len(elements) == 1 else _made("mrow", *elements)


def _children(parent: Any, depth: int) -> Iterator[Any]:
    """What an element holds. Properties, which say how it looks, hold nothing."""
    for child in () if parent is None else parent:
        if isinstance(child.tag, str) and not child.tag.endswith("Pr"):
            yield from _written(child, depth + 1)


def _part(element: Any, name: str, depth: int) -> Any:
    return _row(_children(element.find(M + name), depth))


def _property(element: Any, name: str, otherwise: str = "") -> str:
    """The value of a property; one that is there without a value is "on"."""
    holder = next((child for child in element if child.tag.endswith("Pr")), None)
    found = None if holder is None else holder.find(M + name)
    return otherwise if found is None else str(found.get(_VAL, "on"))


def _written(element: Any, depth: int) -> Iterator[Any]:
    if depth > _DEEPEST:
        yield _leaf("mtext", "".join(element.itertext(f"{M}t")))
        return
    name = element.tag.removeprefix(M)
    if name.endswith(_DELETED) or (name == "phant" and _property(element, "show") in _OFF):
        return
    if name == "r":
        yield from _tokens(element)
    elif write := _WRITERS.get(name):
        yield write(element, depth)
    else:
        yield from _children(element, depth)


def _tokens(run: Any) -> Iterator[Any]:
    text = "".join(run.itertext(f"{M}t"))
    if run.find(f"{M}rPr/{M}nor") is not None:
        yield _leaf("mtext", text)
        return
    for number, letter, blank, sign in _TOKEN.findall(text):
        if number:
            yield _leaf("mn", number)
        elif letter:
            yield _leaf("mi", letter)
        elif not blank:
            yield _leaf("mo", sign)


def _fraction(element: Any, depth: int) -> Any:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    kind = _property(element, "type")
    if kind == "lin":
        return _made("mrow", above, _leaf("mo", "/"), below)
    fraction = _made("mfrac", above, below)
    if kind == "noBar":
        fraction.set("linethickness", "0")
    return fraction


def _scripted(tag: str, *names: str) -> Any:
    return lambda element, depth: _made(
        tag, *(_part(element, name, depth) for name in ("e", *names))
    )


def _before(element: Any, depth: int) -> Any:
    lower, upper = _part(element, "sub", depth), _part(element, "sup", depth)
    return _made("mmultiscripts", _part(element, "e", depth), _made("mprescripts"), lower, upper)


def _root(element: Any, depth: int) -> Any:
    degree = element.find(f"{M}deg")
    has_degree = (
        degree is not None
        and len(degree)
        and _property(element, "degHide") not in ("on", "1", "true")
    )
    inside = _part(element, "e", depth)
    return (
        _made("mroot", inside, _row(_children(degree, depth)))
        if has_degree
        else _made("msqrt", inside)
    )


def _sum(element: Any, depth: int) -> Any:
    """An operator with limits, such as a sum or an integral, and what it is of."""
    sign = _leaf("mo", _property(element, "chr", "∫"))
    where = _LIMIT_LOCATIONS.get(_property(element, "limLoc"), "msubsup")
    limits = {name: _part(element, name, depth) for name in ("sub", "sup")}
    has = {name: len(part) > 0 or bool(part.text) for name, part in limits.items()}
    if all(has.values()):
        sign = _made(where, sign, limits["sub"], limits["sup"])
    elif has["sub"]:
        sign = _made("munder" if where == "munderover" else "msub", sign, limits["sub"])
    elif has["sup"]:
        sign = _made("mover" if where == "munderover" else "msup", sign, limits["sup"])
    return _made("mrow", sign, _part(element, "e", depth))


def _delimited(element: Any, depth: int) -> Any:
    row = _made("mrow")
    if opening := _property(element, "begChr", "("):
        row.append(_leaf("mo", opening))
    for number, inside in enumerate(element.iterchildren(f"{M}e")):
        if number:
            row.append(_leaf("mo", _property(element, "sepChr", "|")))
        row.extend(_children(inside, depth))
    if closing := _property(element, "endChr", ")"):
        row.append(_leaf("mo", closing))
    return row


def _function(element: Any, depth: int) -> Any:
    name = element.find(f"{M}fName")
    words = "".join(name.itertext(f"{M}t")).strip() if name is not None else ""
    is_word = (
        words.isalpha()
        and name is not None
        and all(child.tag in (f"{M}r", f"{M}fNamePr") for child in name)
    )
    written = _leaf("mi", words) if is_word else _part(element, "fName", depth)
    return _made("mrow", written, _part(element, "e", depth))


def _accented(element: Any, depth: int) -> Any:
    accent = _made(
        "mover", _part(element, "e", depth), _leaf("mo", _property(element, "chr", "\u0302"))
    )
    accent.set("accent", "true")
    return accent


def _barred(element: Any, depth: int) -> Any:
    tag = "mover" if _property(element, "pos") == "top" else "munder"
    return _made(tag, _part(element, "e", depth), _leaf("mo", "¯" if tag == "mover" else "_"))


def _grouped(element: Any, depth: int) -> Any:
    tag = "mover" if _property(element, "pos") == "top" else "munder"
    return _made(tag, _part(element, "e", depth), _leaf("mo", _property(element, "chr", "⏟")))


def _matrix(element: Any, depth: int) -> Any:
    rows = (row.iterchildren(f"{M}e") for row in element.iterchildren(f"{M}mr"))
    return _table(rows, depth)


def _equations(element: Any, depth: int) -> Any:
    return _table(([row] for row in element.iterchildren(f"{M}e")), depth)


def _table(rows: Iterable[Iterable[Any]], depth: int) -> Any:
    table = _made("mtable")
    for row in rows:
        table.append(_made("mtr", *(_made("mtd", *_children(cell, depth)) for cell in row)))
    return table


_WRITERS = {
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
