"""Reads the selectors of style sheets.

Supports tags, classes, ids, attributes, positions among siblings, `:is()`, `:where()` and `:not()`, with every
combinator. States that do not apply right after page load (`:hover`, `:target`) never match.
"""

from __future__ import annotations

import re
from functools import lru_cache

from websearch_gateway.readers.visibility.css import BETWEEN_COMMAS, unescape
from websearch_gateway.readers.visibility.selectors import Compound, Selector

MAX_STEPS = 8
MAX_DEPTH = 3

_IDENT = r"(?:[\w-]|\\[0-9a-fA-F]{1,6}+\s?|\\.)++"
_TAG = re.compile(rf"\*|{_IDENT}")
_PART = re.compile(
    rf"#(?P<id>{_IDENT})|\.(?P<cls>{_IDENT})"
    rf"|\[\s*+(?P<attr>{_IDENT})\s*+(?:(?P<op>[~|^$*]?=)\s*+(?P<value>\"[^\"]*+\"|'[^']*+'|[^\]\s]*+)\s*+(?P<loose>[is]?)\s*+)?\]"
    r"|:(?P<logic>is|where|not|matches|-webkit-any)\((?P<among>[^()]*+(?:\([^()]*+\)[^()]*+)*+)\)"
    r"|:(?P<place>nth-(?:last-)?(?:child|of-type)\([^()]*+\)|[a-z-]++)(?!\()",
    re.IGNORECASE,
)
_COMBINATOR = re.compile(r"\s*+([>+~])\s*+|\s++")
_FIRST, _LAST = "nth-child(1)", "nth-last-child(1)"
_PLACES = {
    "first-child": (_FIRST,),
    "last-child": (_LAST,),
    "only-child": (_FIRST, _LAST),
    "first-of-type": ("nth-of-type(1)",),
    "last-of-type": ("nth-last-of-type(1)",),
    "only-of-type": ("nth-of-type(1)", "nth-last-of-type(1)"),
    **{name: (name,) for name in ("root", "link", "any-link", "checked", "disabled", "enabled", "empty")},
}
_NOT_AT_LOAD = re.compile(r":(?:hover|focus|focus-within|focus-visible|active|target|visited)(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=2_000)  # pages of one site share their style sheets
def parse_selector(text: str) -> Selector | None:
    """One selector, without commas; None if it contains something unsupported."""
    compounds: list[Compound] = []
    joints: list[str] = []
    at, text = 0, text.strip()
    while len(compounds) < MAX_STEPS:
        compound, end = _compound(text, at)
        if compound is None:
            return None
        compounds.append(compound)
        if end == len(text):
            return Selector(tuple(reversed(compounds)), tuple(reversed(joints)))
        combinator = _COMBINATOR.match(text, end)
        if combinator is None:
            return None
        joints.append(combinator[1] or " ")
        at = combinator.end()
    return None


_OF_NOTHING, _OF_A_CLASS, _OF_AN_ID = (0, 0, 0), (0, 1, 0), (1, 0, 0)


def _compound(text: str, at: int, depth: int = 0) -> tuple[Compound | None, int]:
    """The compound that begins at `at`, and its end; None if it is missing or unsupported."""
    tag = _TAG.match(text, at)
    end = tag.end() if tag else at
    names: dict[str, list[str]] = {"id": [], "cls": []}
    places: list[str] = []
    attributes: list[tuple[str, str, str]] = []
    among: list[tuple[Compound, ...]] = []
    negated: list[Compound] = []
    weights: list[tuple[int, int, int]] = []
    while part := _PART.match(text, end):
        end = part.end()
        if part["attr"]:
            attributes.append(_attribute(part))
            weights.append(_OF_A_CLASS)
        elif part["logic"]:
            others = _alternatives(part["among"], depth)
            if others is None:
                return None, end
            logic = part["logic"].lower()
            negated.extend(others if logic == "not" else ())
            among.extend(() if logic == "not" else (others,))
            weights.append(max((other.weight for other in others if logic != "where"), default=_OF_NOTHING))
        elif part["place"]:
            place = part["place"].lower()
            found = (place,) if "(" in place else _PLACES.get(place)
            if found is None:
                return None, end
            places.extend(found)
            weights.append(_OF_A_CLASS)
        else:
            names[part.lastgroup or ""].append(unescape(part[part.lastgroup or ""]))
            weights.append(_OF_A_CLASS if part["cls"] else _OF_AN_ID)
    if end == at:
        return None, end
    name = unescape(tag[0]).lower() if tag and tag[0] != "*" else ""
    parts = (tuple(names["id"]), tuple(names["cls"]), tuple(attributes), tuple(places), tuple(among), tuple(negated))
    ids, classes, tags = (sum(column) for column in zip((0, 0, int(bool(name))), *weights, strict=True))
    return Compound(name, *parts, (ids, classes, tags)), end


def _attribute(part: re.Match[str]) -> tuple[str, str, str]:
    value = unescape(part["value"] or "").strip("\"'")
    loosely = part["op"] == "=" and (part["loose"] or "").lower() == "i"
    return unescape(part["attr"]).lower(), "i=" if loosely else part["op"] or "", value


def _alternatives(text: str, depth: int) -> tuple[Compound, ...] | None:
    """The compounds of a list that can match, without combinators; None if one of them is unsupported."""
    if depth >= MAX_DEPTH:
        return None
    found = []
    for alternative in map(str.strip, BETWEEN_COMMAS.findall(text)):
        if _NOT_AT_LOAD.search(alternative):
            continue
        compound, end = _compound(alternative, 0, depth + 1)
        if compound is None or end != len(alternative):
            return None
        found.append(compound)
    return tuple(found)
