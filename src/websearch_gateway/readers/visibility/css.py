"""The parts of CSS that decide whether text is visible: rules, media conditions and declarations.

Style sheets are untrusted: every pattern is linear, nothing recurses, and unknown constructs are skipped, as the
standard requires (https://www.w3.org/TR/css-syntax-3/#error-handling).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from websearch_gateway.readers.visibility.media import on_screen

MAX_NESTED_CHARS = 4_000

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\.|url\([^)"']*+\)?|[{};]""", re.DOTALL | re.IGNORECASE
)
_DECLARATION = re.compile(
    r"""(?<![\w-])([a-z-][\w-]*+)\s*+:((?:[^;"'(]++|"[^"]*+"?|'[^']*+'?|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?)*+)"""
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT = re.compile(r"!\s*+important\s*+$")

BETWEEN_COMMAS = re.compile(r"(?:[^,(\[]|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?|\[[^\[\]]*+\]?)++")
_AT_NAME = re.compile(r"([\w-]++)\s*+")
_SCOPE = re.compile(r"\(([^()]*+)\)")
_CONTAINER_NAME = re.compile(r"\s*+(?!not\b|and\b|or\b)[\w-]++\s++(?=not\b|\()")

_GROUP = ""
_SKIPPED = None

_SAME_AS = {
    "background-color": "background",
    **dict.fromkeys(("overflow-x", "overflow-y", "overflow-block", "overflow-inline"), "overflow"),
    **dict.fromkeys(("max-height", "block-size", "max-block-size"), "height"),
    **dict.fromkeys(("max-width", "inline-size", "max-inline-size"), "width"),
    **dict.fromkeys(("inset-inline", "inset-inline-start"), "left"),
    **dict.fromkeys(("inset-block", "inset-block-start"), "top"),
    **dict.fromkeys(("margin-inline", "margin-inline-start"), "margin-left"),
    **dict.fromkeys(("margin-block", "margin-block-start"), "margin-top"),
    "inset-inline-end": "right",
    "inset-block-end": "bottom",
    "padding-block": "padding-top",
    "-webkit-mask": "mask-image",
    "-webkit-mask-image": "mask-image",
    "mask": "mask-image",
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
        *("transition", "animation", "will-change", "translate", "rotate", "backface-visibility", "mask-image"),
        *("contain", "letter-spacing", "line-height"),
    }
)


def rules(css: str) -> Iterator[tuple[str, str]]:
    """The style rules that apply to a screen at load, as (selectors, declarations), with the full selectors of nested
    rules.

    Leaves out key frames and rules for other media and containers.
    """
    text = _COMMENT.sub(" ", css)
    open_blocks: list[str | None] = []
    start = 0
    for token in _TOKEN.finditer(text):
        inside = open_blocks[-1] if open_blocks else _GROUP
        if token[0] == "{":
            body, _, prelude = text[start : token.start()].rpartition(";")
            if inside and body:
                yield inside, body
            open_blocks.append(_opened(prelude.strip(), inside))
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
    """The selectors of a block that begins, _GROUP for a group of rules, or _SKIPPED."""
    if inside is _SKIPPED:
        return _SKIPPED
    if not prelude.startswith("@"):
        return _nested(prelude, inside) or _SKIPPED
    name = _AT_NAME.match(prelude, 1)
    condition = prelude[name.end() :] if name else ""
    match name[1].lower() if name else "":
        case "media":
            return inside if on_screen(condition) else _SKIPPED
        case "container":
            return inside if on_screen(_CONTAINER_NAME.sub("", condition, count=1)) else _SKIPPED
        case "supports" | "layer":
            return _SKIPPED if condition.lower().startswith("not") else inside
        case "scope":
            scope = _SCOPE.match(condition)
            return _nested(scope[1], inside) if scope else inside
        case _:
            return _SKIPPED


def _nested(prelude: str, inside: str) -> str:
    """The selectors of a block in a block (https://www.w3.org/TR/css-nesting-1/); "" if they get too long."""
    if not inside:
        return prelude
    outers, inners = (
        [part.strip() for part in BETWEEN_COMMAS.findall(text)] for text in (inside, prelude.replace(":scope", "&"))
    )
    if len(inside) * len(inners) + len(prelude) * len(outers) > MAX_NESTED_CHARS:
        return ""
    return ",".join(
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}" for outer in outers for inner in inners
    )


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
    """The relevant declarations as (property, value, important), in lower case; some longhands share one name."""
    text = unescape(_COMMENT.sub(" ", body)).lower()
    found = []
    for name, value in _DECLARATION.findall(text):
        name = _SAME_AS.get(name, name)
        if name in _PROPERTIES or name.startswith("--"):
            bare = _IMPORTANT.sub("", value.strip())
            found.append((name, bare.strip(), bare != value.strip()))
    return tuple(found)
