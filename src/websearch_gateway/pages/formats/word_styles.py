"""What the styles of Word say about the outline, lists, hidden text, and text that stands apart from its neighbours.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, sections 17.3 and 17.7). Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from websearch_gateway.pages.formats.numbering import W
from websearch_gateway.pages.formats.office_parts import number, signed

VAL = f"{W}val"
BODY_TEXT = 9
"""The outline level of what is no heading."""
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_STRUCK = ("strike", "dstrike")
_HEIGHTS = {"superscript": "sup", "subscript": "sub"}
_SMALL = 4
"""Text of at most this size (half points) is not read by people."""
_LEAST_POSITION = 4
"""So far above or below its line (half points) text is raised or lowered, and not only fitted to a picture."""


@dataclass(frozen=True, slots=True)
class Style:
    """What a style, or a paragraph with its style, says about the outline, lists and hidden text. `name` is that of the
    style.

    `marks` are those that keep its text from touching what stands beside it: raised, lowered and struck text.
    `list_level` is None if only the list itself says which level is that of the style.
    """

    name: str = ""
    outline: int | None = None
    list_id: str = ""
    list_level: int | None = None
    is_hidden: bool = False
    marks: tuple[str, ...] = ()


class Styles(dict[str, Style]):
    """The styles by id, read when they are asked for: most documents define hundreds and use ten."""

    def __init__(self, root: Any) -> None:
        super().__init__()
        elements = root.iterchildren(f"{W}style") if root is not None else ()
        self._elements = {element.get(f"{W}styleId", ""): element for element in elements}

    def __missing__(self, style_id: str) -> Style:
        chain: dict[str, Any] = {}
        # A loop, since a document chooses how long the chain is; it may also lead back to itself.
        while style_id in self._elements and style_id not in self and style_id not in chain:
            chain[style_id] = self._elements[style_id]
            style_id = value(chain[style_id], "basedOn")
        style = self.get(style_id, Style())
        for based_id, element in reversed(chain.items()):
            style = _based_on(style, element)
            self[based_id] = style
        return style


def _based_on(style: Style, element: Any) -> Style:
    """The style of an element that is based on another one."""
    style = replace(style, name=value(element, "name"))
    if heading := _HEADING.fullmatch(style.name):
        style = replace(style, outline=int(heading[1]) - 1)
    of_paragraph = element.find(f"{W}pPr")
    if of_paragraph is not None:
        style = styled(of_paragraph, style)
    of_text = element.find(f"{W}rPr")
    if of_text is not None:
        is_hidden = is_unseen(of_text, is_hidden=style.is_hidden)
        style = replace(style, is_hidden=is_hidden, marks=apart(of_text, style.marks))
    return style


def styled(properties: Any, style: Style) -> Style:
    """`style` with what the properties of a paragraph change."""
    if outline := value(properties, "outlineLvl"):
        style = replace(style, outline=number(outline, BODY_TEXT))
    numbering = properties.find(f"{W}numPr")
    if numbering is None:
        return style
    list_id = value(numbering, "numId") or style.list_id
    level = value(numbering, "ilvl")
    list_level = number(level, 0) if level else style.list_level
    return replace(style, list_id=list_id, list_level=list_level)


def is_unseen(properties: Any, *, is_hidden: bool) -> bool:
    """Whether the properties of a run or style hide its text; `is_hidden`: what they inherit does."""
    size = value(properties, "sz")
    if size and number(size, _SMALL + 1) <= _SMALL:
        return True
    vanishes = properties.find(f"{W}vanish")
    return is_hidden if vanishes is None else is_on(vanishes)


def apart(properties: Any, inherited: tuple[str, ...]) -> tuple[str, ...]:
    """The marks of raised, lowered and struck text, of the properties of a run or those it inherits."""
    marks = list(inherited)
    switches = [properties.find(W + name) for name in _STRUCK]
    strikes = [is_on(switch) for switch in switches if switch is not None]
    if strikes:
        marks = [mark for mark in marks if mark != "del"]
    if any(strikes):
        marks.append("del")
    aligned = value(properties, "vertAlign")
    height = _HEIGHTS.get(aligned) or _height(signed(value(properties, "position")))
    if aligned or height:  # it may be "baseline"
        marks = [mark for mark in marks if mark not in ("sup", "sub")]
    if height:
        marks.append(height)
    return tuple(marks)


def _height(position: int) -> str:
    """The mark for text so far above its line; "" if it is fitted to the line."""
    if abs(position) < _LEAST_POSITION:
        return ""
    return "sup" if position > 0 else "sub"


def is_on(switch: Any) -> bool:
    """Whether an element such as `<w:b/>` is there and does not say that it is off."""
    return switch is not None and switch.get(VAL, "1") not in ("0", "false", "off", "none")


def value(parent: Any, name: str) -> str:
    """What a child says; "" if it is missing."""
    element = parent.find(W + name)
    return "" if element is None else str(element.get(VAL, ""))
