"""The inherited style of text. A child can override it, and so can be readable inside an unreadable parent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from websearch_gateway.readers.visibility.colors import FAINT, Rgba, color, contrast, differs_in_hue, fraction
from websearch_gateway.readers.visibility.lengths import EM_PX, NUMBER, pixels

Style = Mapping[str, str]

UNREADABLE_FONT_PX = 2.0
MIN_CONTRAST = 1.1

_FONT_SIZE = re.compile(rf"(?:^|\s)({NUMBER}(?:px|em|rem|pt|%|(?=[/\s])))")
_GRADIENT = re.compile(r"(?:linear|radial|conic)-gradient\(((?:[^()]|\([^()]*+\))*+)\)")
_STOP = re.compile(r"(?<![\w#])(#[0-9a-f]{3,8}|[a-z]++\([^()]*+\)|[a-z]++)(?![\w(])")
_OF_INK = frozenset(
    {
        *("color", "text-fill-color", "font", "font-size", "position", "opacity"),
        *("background", "background-image", "background-clip"),
    }
)
_NO_PAINT = frozenset({"none", "inherit", "initial", "unset", "0", "0 0"})


@dataclass(frozen=True, slots=True)
class TextStyle:
    """A `color` or `background` of None is unknown and never makes text invisible. `size` is in pixels."""

    color: Rgba | None = None
    background: Rgba | None = None
    size: float = EM_PX
    opacity: float = 1.0

    @property
    def is_invisible(self) -> bool:
        """Whether text in this style cannot be seen or read."""
        return self.size <= UNREADABLE_FONT_PX or self.opacity <= FAINT or self._blends_in()

    def _blends_in(self) -> bool:
        if self.color is None:
            return False
        if self.color[3] <= FAINT:
            return True
        background = self.background
        if background is None or contrast(self.color, background) >= MIN_CONTRAST:
            return False
        return not differs_in_hue(self.color, background)

    def within(self, style: Style) -> TextStyle:
        """The text style of a child element with the style `style` inside a parent with this one."""
        if _OF_INK.isdisjoint(style):
            return self
        own = self._color(style)
        return TextStyle(own, self._background(style, own), self._size(style), self._opacity(style))

    def _opacity(self, style: Style) -> float:
        # A transparent element is checked as a whole elsewhere, and may be about to fade in.
        opacity = fraction(style.get("opacity", "1"))
        return self.opacity * opacity if FAINT < opacity < 1 else self.opacity

    def _size(self, style: Style) -> float:
        value = style.get("font-size")
        if value is None and "font" in style:
            shorthand = _FONT_SIZE.search(style["font"])
            value = shorthand[1] if shorthand else None
        if value is None or value == "inherit":
            return self.size
        if value.endswith("%"):
            return self.size * fraction(value)
        size = pixels(value, em=self.size)
        return EM_PX if size is None else size

    def _color(self, style: Style) -> Rgba | None:
        if "text" in style.get("background-clip", ""):
            return None
        if "text-fill-color" in style:
            return color(style["text-fill-color"])
        if style.get("color", "inherit") in ("inherit", "currentcolor"):
            return self.color
        return color(style["color"])

    def _background(self, style: Style, own: Rgba | None) -> Rgba | None:
        if style.get("background-image", "none") not in ("none", "initial", "unset"):
            return _even(style["background-image"])
        fill = style.get("background")
        if fill is None:
            return None if style.get("position") in ("absolute", "fixed") else self.background
        if fill in _NO_PAINT:
            return self.background
        if fill == "currentcolor":
            return own
        if "url(" in fill or "gradient" in fill:
            return _even(fill)
        found = color(fill) or next(filter(None, map(color, fill.split())), None)
        if found is None:
            return None
        return self.background if found[3] <= FAINT else found if found[3] >= 1 - FAINT else None


def _even(image: str) -> Rgba | None:
    """The colour of a gradient with a single colour."""
    gradient = _GRADIENT.fullmatch(image.strip())
    if gradient is None:
        return None
    stops = {color(stop) for stop in _STOP.findall(gradient[1]) if stop not in ("to", "at", "deg")} - {None}
    first = next(iter(stops), None)
    return first if len(stops) == 1 and first and first[3] >= 1 - FAINT else None
