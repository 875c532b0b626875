"""As much of CSS as decides whether a reader sees a text: rules, media conditions and declarations.

Style sheets are untrusted: every pattern is linear, nothing recurses, and what is not understood is skipped, as the
standard wants it (https://www.w3.org/TR/css-syntax-3/#error-handling).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

SCREEN = {"width": 1280.0, "height": 800.0}
"""The screen, in CSS pixels, that media conditions are judged by: a laptop's."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\.|url\([^)"']*+\)?|[{};]""", re.DOTALL | re.IGNORECASE
)
_DECLARATION = re.compile(
    r"""(?<![a-z-])([a-z-]++)\s*+:((?:[^;"'(]++|"[^"]*+"?|'[^']*+'?|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?)*+)"""
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT = re.compile(r"!\s*+important\s*+$")

_MEDIA_FEATURE = re.compile(r"\(([^()]*+)\)")
_MIN_MAX = re.compile(r"\s*+(min|max)-(width|height)\s*+:\s*+([\d.]++)\s*+(px|em|rem)\s*+$")
_RANGE = re.compile(r"\s*+(width|height)\s*+([<>])=?\s*+([\d.]++)\s*+(px|em|rem)\s*+$")
_ALWAYS_TRUE = frozenset(
    {"orientation:landscape", "hover:hover", "hover", "pointer:fine", "color", "scripting:enabled"}
)

_GROUP = ""
_SKIPPED = None

_SAME_AS = {
    "background-color": "background",
    "overflow-x": "overflow",
    "overflow-y": "overflow",
    "max-height": "height",
    "max-width": "width",
    "-webkit-transform": "transform",
    "-webkit-clip-path": "clip-path",
    "-webkit-background-clip": "background-clip",
    "-webkit-text-fill-color": "text-fill-color",
}
_PROPERTIES = frozenset(
    {
        *("display", "visibility", "content-visibility", "opacity", "filter", "zoom", "scale", "transform"),
        *("position", "left", "right", "top", "bottom", "inset", "margin", "margin-left", "margin-top", "text-indent"),
        *("height", "width", "overflow", "padding", "padding-top", "padding-bottom", "clip", "clip-path"),
        *("font", "font-size", "color", "text-fill-color", "background", "background-image", "background-clip"),
        *("transition", "animation", "will-change"),
    }
)


def rules(css: str) -> Iterator[tuple[str, str]]:
    """The style rules that apply to a screen at load, as (selectors, declarations).

    Rules for other media, key frames, containers and nested selectors are left out.
    """
    text = _COMMENT.sub(" ", css)
    open_blocks: list[str | None] = []
    start = 0
    for token in _TOKEN.finditer(text):
        inside = open_blocks[-1] if open_blocks else _GROUP
        if token[0] == "{":
            if inside:
                yield inside, text[start : token.start()]
            open_blocks.append(_opened(text[start : token.start()].strip(), inside))
        elif token[0] == "}":
            if inside:
                yield inside, text[start : token.start()]
            if open_blocks:
                open_blocks.pop()
        elif token[0] != ";" or inside:
            continue
        start = token.end()
    if open_blocks and open_blocks[-1]:
        yield open_blocks[-1], text[start:]


def _opened(prelude: str, inside: str | None) -> str | None:
    """The selectors of the block that begins, _GROUP for a group of rules, or _SKIPPED."""
    if inside != _GROUP:
        return _SKIPPED
    if not prelude.startswith("@"):
        return prelude or _SKIPPED
    name, _, condition = prelude[1:].partition(" ")
    name, bracket, rest = name.lower().partition("(")
    if name == "media":
        return _GROUP if on_screen(bracket + rest + " " + condition) else _SKIPPED
    return _GROUP if name in ("supports", "layer") and not condition.startswith("not") else _SKIPPED


def on_screen(media: str) -> bool:
    """Whether a media query list holds for SCREEN. A condition that is not understood does not hold."""
    return not media.strip() or any(_holds(query.strip()) for query in media.lower().split(","))


def _holds(query: str) -> bool:
    words = _MEDIA_FEATURE.sub(" ", query).replace(" and ", " ").split()
    if set(words) - {"only", "screen", "all", "and"}:
        return False
    return all(_feature_holds(feature) for feature in _MEDIA_FEATURE.findall(query))


def _feature_holds(feature: str) -> bool:
    if limit := _MIN_MAX.match(feature):
        bound, side = _pixels(limit[3], limit[4]), SCREEN[limit[2]]
        return side >= bound if limit[1] == "min" else side <= bound
    if limit := _RANGE.match(feature):
        bound, side = _pixels(limit[3], limit[4]), SCREEN[limit[1]]
        return side >= bound if limit[2] == ">" else side <= bound
    return feature.replace(" ", "") in _ALWAYS_TRUE


def _pixels(number: str, unit: str) -> float:
    try:
        return float(number) * (1 if unit == "px" else 16)
    except ValueError:
        return float("inf")


def unescape(text: str) -> str:
    """`text` with CSS escapes resolved: `n\\6fne` is `none`."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[2]
    code = int(escape[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


@lru_cache(maxsize=2_000)
def declarations(body: str) -> tuple[tuple[str, str, bool], ...]:
    """The declarations that matter here as (property, value, important): lower case, some longhands under one name."""
    text = unescape(_COMMENT.sub(" ", body)).lower()
    found = []
    for name, value in _DECLARATION.findall(text):
        name = _SAME_AS.get(name, name)
        if name in _PROPERTIES:
            bare = _IMPORTANT.sub("", value.strip())
            found.append((name, bare.strip(), bare != value.strip()))
    return tuple(found)
