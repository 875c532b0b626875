"""What the styles of OpenDocument say about a text: its marks, whether it is hidden, its block, and how lists count.

https://docs.oasis-open.org/office/OpenDocument/v1.3/ (part 3, section 16). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from websearch_gateway.pages.formats.office_parts import signed

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, TABLE, DRAW, STYLE, SVG, PRESENTATION, _FO = (
    f"{{{_ODF}{name}:1.0}}"
    for name in (
        *("office", "text", "table", "drawing", "style", "svg-compatible", "presentation"),
        "xsl-fo-compatible",
    )
)
STYLE_NAME = f"{TEXT}style-name"
_NAME = f"{STYLE}name"
_NUMBERED = f"{TEXT}list-level-style-number"
_MOST_PARENTS = 30
_LEVELS = 10
"""The levels of a list that the format knows."""
_CODE_STYLES = ("preformatted_20_text", "source_20_text", "code")


@dataclass(slots=True)
class _Look:
    """What an automatic or named style says: its marks, its parent, and how its text is displayed (`none` hides it)."""

    marks: tuple[str, ...] = ()
    parent: str = ""
    display: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """How a level of a list counts: the kind of its numbers, such as `1` or `a` ("": none), and the first one."""

    kind: str = ""
    start: str = ""


class Styles:
    """The styles of a document, whose roots are those of its parts.

    Attributes:
        hidden_slides: the names of the styles of slides that are not shown.
    """

    def __init__(self, roots: list[Any]) -> None:
        self.hidden_slides: set[str] = set()
        self._looks: dict[str, _Look] = {}
        self._levels: dict[str, list[Level]] = {}
        for root in roots:
            for style in root.iter(f"{STYLE}style"):
                self._looks.setdefault(style.get(_NAME, ""), _look(style))
                if _hides_slides(style):
                    self.hidden_slides.add(style.get(_NAME, ""))
            for style in root.iter(f"{TEXT}list-style"):
                levels = [_level(level) for level in islice(style, _LEVELS)]
                self._levels[style.get(_NAME, "")] = levels

    def level(self, name: str, depth: int) -> Level:
        """How a level of a list with this style counts."""
        levels = self._levels.get(name, [])
        return levels[depth] if depth < len(levels) else Level()

    def tag(self, paragraph: Any) -> str:
        """The HTML element for a paragraph, by its style and those that this is based on."""
        for name in self._names(paragraph):
            lower = name.lower()
            if lower == "title":
                return "h1"
            if lower.startswith(_CODE_STYLES):
                return "pre"
            if lower.startswith("quot"):
                return "blockquote"
        return "p"

    def is_hidden(self, element: Any) -> bool:
        """Whether the style of a paragraph or span, or one that it is based on, hides the text.

        So does one that is based on too many others to tell.
        """
        parent = ""
        for name in self._names(element):
            look = self._looks.get(name)
            if look is None:
                return False
            if look.display:
                return look.display == "none"
            parent = look.parent
        return bool(parent)

    def marks(self, span: Any) -> tuple[str, ...]:
        """The marks of the style of a span, or of the nearest one with marks that it is based on."""
        for name in self._names(span):
            look = self._looks.get(name, _Look())
            if look.marks:
                return look.marks
        return ()

    def _names(self, element: Any) -> Iterator[str]:
        """The names of the style of an element and of those that it is based on, the nearest ones first."""
        name = element.get(STYLE_NAME, "")
        for _ in range(_MOST_PARENTS):
            yield name
            name = self._looks.get(name, _Look()).parent


def _hides_slides(style: Any) -> bool:
    properties = style.find(f"{STYLE}drawing-page-properties")
    return properties is not None and properties.get(f"{PRESENTATION}visibility") == "hidden"


def _level(level: Any) -> Level:
    if level.tag != _NUMBERED:
        return Level()
    return Level(level.get(f"{STYLE}num-format", ""), level.get(f"{TEXT}start-value", ""))


def _look(style: Any) -> _Look:
    properties = style.find(f"{STYLE}text-properties")
    parent = style.get(f"{STYLE}parent-style-name", "")
    display = "" if properties is None else properties.get(f"{TEXT}display", "")
    if style.get(_NAME, "").lower().startswith(_CODE_STYLES):
        return _Look(("code",), parent, display)
    marks = () if properties is None else tuple(_marks(properties))
    return _Look(marks, parent, display)


def _marks(properties: Any) -> Iterator[str]:
    if properties.get(f"{_FO}font-weight") == "bold":
        yield "strong"
    if properties.get(f"{_FO}font-style") == "italic":
        yield "em"
    if properties.get(f"{STYLE}text-line-through-style", "none") != "none":
        yield "del"
    position = properties.get(f"{STYLE}text-position", "")
    height = position.partition(" ")[0]  # the size follows it
    above = signed(height) if height.endswith("%") else 0
    if height == "super" or above > 0:
        yield "sup"
    elif height == "sub" or above < 0:
        yield "sub"
