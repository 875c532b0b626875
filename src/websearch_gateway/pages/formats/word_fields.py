"""The fields of Word, whose results stand behind their instructions, and the ticks and lists of its forms.

https://ecma-international.org/publications-and-standards/standards/ecma-376/ (part 1, section 17.16). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.pages.formats.numbering import W
from websearch_gateway.pages.formats.office_parts import number
from websearch_gateway.pages.formats.word_styles import VAL, is_on, value

_LONGEST_INSTRUCTION = 4_000
_MOST_FIELDS = 50
"""The most fields in each other; further ones end the outer ones early."""
_LINK = re.compile(r"\s*HYPERLINK\s+\"([^\"]{1,2000})\"", re.IGNORECASE)
_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_TICKED, _UNTICKED = "☑", "☐"


@dataclass(slots=True)
class _Field:
    """A field whose result follows its instruction. `address` is where its result leads."""

    instruction: str = ""
    address: str = ""
    is_result: bool = False


@dataclass(slots=True)
class Fields:
    """The fields that are open at a place of a text, the innermost last."""

    _open: list[_Field] = field(default_factory=list)
    _unread: int = 0

    @property
    def show_text(self) -> bool:
        """Whether text here is shown, which is so in the results of all fields around it."""
        return not self._unread and all(outer.is_result for outer in self._open)

    @property
    def address(self) -> str:
        """Where the result of the innermost field leads; "" if nowhere."""
        return self._open[-1].address if self._open else ""

    def instruct(self, text: str) -> None:
        """Add a piece to the instruction of the innermost field."""
        if self._open:
            instruction = self._open[-1].instruction + text
            self._open[-1].instruction = instruction[:_LONGEST_INSTRUCTION]

    def turn(self, kind: str | None) -> None:
        """A field begins, goes on with its result (`separate`), or ends."""
        if kind == "begin":
            self._begin()
        elif self._unread:
            self._unread -= kind == "end"
        elif kind == "separate" and self._open:
            self._open[-1].address = link_of(self._open[-1].instruction)
            self._open[-1].is_result = True
        elif kind == "end" and self._open:
            self._open.pop()

    def _begin(self) -> None:
        if len(self._open) < _MOST_FIELDS:
            self._open.append(_Field())
        else:
            self._unread += 1


def link_of(instruction: str) -> str:
    """The address that an instruction links its result to; "" if it does something else."""
    link = _LINK.match(instruction)
    return link[1] if link else ""


def filled_in(element: Any) -> Iterator[str]:
    """What the beginning of a field in a form shows: the tick of a box, or the chosen entry of a list."""
    box = element.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        state = box.find(f"{W}checked")
        yield _tick(is_on(box.find(f"{W}default") if state is None else state))
    choices = element.find(f"{W}ffData/{W}ddList")
    if choices is not None:
        yield _chosen(choices)


def tick_of(control: Any) -> str:
    """The tick of a content control; "" if it is no box."""
    box = control.find(f"{W}sdtPr/{_W14}checkbox")
    if box is None:
        return ""
    checked = box.find(f"{_W14}checked")
    return _tick(checked is not None and checked.get(f"{_W14}val") in ("1", "true"))


def _tick(is_ticked: bool) -> str:
    return _TICKED if is_ticked else _UNTICKED


def _chosen(choices: Any) -> str:
    """The entry of a list in a form that is chosen; the first one if the list does not say."""
    entries = choices.findall(f"{W}listEntry")
    place = number(value(choices, "result") or value(choices, "default"), 0)
    return str(entries[place].get(VAL, "")) if place < len(entries) else ""
