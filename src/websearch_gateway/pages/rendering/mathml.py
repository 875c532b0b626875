"""Builds formulas as MathML (https://www.w3.org/TR/mathml-core/), which `formulas` writes as LaTeX. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def element(tag: str, *parts: Any) -> Any:
    """An element of these parts, such as the two of a `mfrac`."""
    from lxml import etree

    holder = etree.Element(tag)
    holder.extend(parts)
    return holder


def token(tag: str, text: str) -> Any:
    """An element of text: a number (`mn`), a letter or name (`mi`), a sign (`mo`), or words (`mtext`)."""
    leaf = element(tag)
    leaf.text = text
    return leaf


def row(parts: Iterable[Any]) -> Any:
    """One element for these parts, as a place such as that above a fraction needs it."""
    several = list(parts)
    return several[0] if len(several) == 1 else element("mrow", *several)


def table(rows: Iterable[Iterable[Iterable[Any]]]) -> Any:
    """A matrix: each of its rows is a sequence of cells, and each cell one of parts."""
    matrix = element("mtable")
    for cells in rows:
        matrix.append(element("mtr", *(element("mtd", *parts) for parts in cells)))
    return matrix
