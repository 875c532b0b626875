"""CSS: the style sheets of a page, their rules and declarations, and media queries."""

from __future__ import annotations

import base64
import binascii
import operator
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from websearch_gateway.pages.visibility.hostile import HostileStylesError, cached_if_short
from websearch_gateway.pages.visibility.lengths import SCREEN, pixels
from websearch_gateway.pages.visibility.looks import Declaration

if TYPE_CHECKING:
    from lxml.html import HtmlElement


MAX_NESTED_CHARS = 4_000
UNJUDGED = ":unjudged"
"""Stands for a selector that is too much work; like every unknown condition, it is taken to be met if that hides."""

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Each alternative begins with one character, so that the search skips all others in C.
_CSS_TOKEN = re.compile(
    r""""(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?|\\."""
    r"""|u[rR][lL]\([^)"']*+\)?|U[rR][lL]\([^)"']*+\)?|\{|\}|;""",
    re.DOTALL,
)
_DECLARATION = re.compile(
    r"""(?<![\w-])([a-z-][\w-]*+)\s*+:((?:[^;"'(]++|"[^"]*+"?|'[^']*+'?|\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)?)*+)"""
)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_IMPORTANT = re.compile(r"!\s*+important\s*+$")

_SELECTOR_TOKEN = re.compile(
    r""""(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|\\.|[()\[\],]""", re.DOTALL
)
_AT_NAME = re.compile(r"([\w-]++)\s*+")
_SCOPE = re.compile(r"\(([^()]*+)\)")
_CONTAINER_NAME = re.compile(r"\s*+(?!not\b|and\b|or\b)[\w-]++\s++(?=not\b|\()")

_GROUP = ""
_SKIPPED = None

_SAME_AS = {
    "background-color": "background",
    "block-size": "height",
    "inline-size": "width",
    **dict.fromkeys(("overflow-x", "overflow-y", "overflow-block", "overflow-inline"), "overflow"),
    **dict.fromkeys(("inset-inline", "inset-inline-start"), "left"),
    **dict.fromkeys(("inset-block", "inset-block-start"), "top"),
    **dict.fromkeys(("margin-inline", "margin-inline-start"), "margin-left"),
    **dict.fromkeys(("margin-block", "margin-block-start"), "margin-top"),
    "inset-inline-end": "right",
    "inset-block-end": "bottom",
    "padding-block": "padding-top",
    "mask": "mask-image",
}
_PROPERTIES = frozenset(
    {
        *(
            "display",
            "visibility",
            "content-visibility",
            "opacity",
            "filter",
            "zoom",
            "scale",
            "transform",
        ),
        *(
            "position",
            "left",
            "right",
            "top",
            "bottom",
            "inset",
            "margin",
            "margin-left",
            "margin-top",
            "text-indent",
        ),
        *(
            "height",
            "width",
            "overflow",
            "padding",
            "padding-top",
            "padding-bottom",
            "clip",
            "clip-path",
        ),
        *(
            "font",
            "font-size",
            "color",
            "text-fill-color",
            "background",
            "background-image",
            "background-clip",
        ),
        *(
            "transition",
            "animation",
            "will-change",
            "translate",
            "rotate",
            "backface-visibility",
            "mask-image",
        ),
        *("contain", "letter-spacing", "line-height"),
    }
)


# A rule outside of others without strings and escapes, as most are.
_WHOLE_RULE = re.compile(r"""([^{}"'\\@;]*+)\{([^{}"'\\]*+)\}""")


def split_selectors(text: str) -> list[str]:
    """The selectors of a list, without the blanks around them. Commas in brackets and strings do not separate."""
    if "(" not in text and "[" not in text and "\\" not in text:
        return [selector.strip() for selector in text.split(",")]
    found = []
    depth = start = 0
    for token in _SELECTOR_TOKEN.finditer(text):
        if token[0] in "([":
            depth += 1
        elif token[0] in ")]":
            depth = max(0, depth - 1)
        elif token[0] == "," and not depth:
            found.append(text[start : token.start()].strip())
            start = token.end()
    found.append(text[start:].strip())
    return found


def closing_bracket(text: str, at: int) -> int:
    """The position of the bracket that closes the one before `at`; the end of the text if none does."""
    depth = 1
    for token in _SELECTOR_TOKEN.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if not depth:
            return token.start()
    return len(text)


def rules(css: str) -> Iterator[tuple[str, str]]:
    """The style rules that apply to a screen at load, as (selectors, declarations), with the full selectors of nested
    rules.

    Leaves out key frames and rules for other media and containers.
    """
    text = _COMMENT.sub(" ", css)
    open_blocks: list[str | None] = []
    start = at = 0
    while True:
        inside = open_blocks[-1] if open_blocks else _GROUP
        rule = _WHOLE_RULE.match(text, start) if inside == _GROUP and at == start else None
        if rule and ("(" not in rule[0] or "url(" not in rule[0].lower()):
            if selectors := rule[1].strip():
                yield selectors, rule[2]
            start = at = rule.end()
            continue
        if (token := _CSS_TOKEN.search(text, at)) is None:
            break
        at = token.end()
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
        start = at
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
        case "supports" if condition.lower().startswith("not"):
            return _nested(f"{UNJUDGED} &", inside) if inside else UNJUDGED
        case "supports" | "layer":
            return inside
        case "scope":
            scope = _SCOPE.match(condition)
            return _nested(scope[1], inside) if scope else inside
        case _:
            return _SKIPPED


def _nested(prelude: str, inside: str) -> str:
    """The selectors of a block in a block (https://www.w3.org/TR/css-nesting-1/). If they get too long, those of the
    inner block below something that is not judged."""
    if not inside:
        return prelude
    outers, inners = (split_selectors(text) for text in (inside, prelude.replace(":scope", "&")))
    if len(inside) * len(inners) + len(prelude) * len(outers) > MAX_NESTED_CHARS:
        outers = [UNJUDGED]
    return ",".join(
        inner.replace("&", outer) if "&" in inner else f"{outer} {inner}"
        for outer in outers
        for inner in inners
    )


def unescape(text: str) -> str:
    """`text` with CSS escapes resolved: `n\\6fne` is `none`."""

    def character(escape: re.Match[str]) -> str:
        code = int(escape[1] or "0", 16)
        return escape[2] or (
            chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
        )

    return _ESCAPE.sub(character, text) if "\\" in text else text


@cached_if_short(2_000)
def declarations(body: str) -> tuple[Declaration, ...]:
    """The relevant declarations, in lower case; some longhands share one name."""
    text = unescape(_COMMENT.sub(" ", body)).lower()
    found = []
    for name, value in _DECLARATION.findall(text):
        name = name.removeprefix("-webkit-").removeprefix("max-")
        name = _SAME_AS.get(name, name)
        if name in _PROPERTIES or name.startswith("--"):
            bare = _IMPORTANT.sub("", value.strip())
            found.append(Declaration(name, bare.strip(), bare != value.strip()))
    return tuple(found)


_IMPORTED = re.compile(r"""@import\s++(?:url\(\s*+)?["']?(data:[^"')\s]++)""", re.IGNORECASE)
_DATA = re.compile(r"data:text/css[^,]*?(;base64)?,(.*+)", re.IGNORECASE | re.DOTALL)


def style_sheets(tree: HtmlElement) -> Iterator[str]:
    """The sheets of a page that apply to a screen, in order, without external ones."""
    for sheet in tree.iter("style", "link"):
        if not on_screen(sheet.get("media") or "") or any(
            True for _ in sheet.iterancestors("noscript", "template")
        ):
            continue
        if sheet.tag == "link":
            if "stylesheet" in (sheet.get("rel") or "").lower():
                yield _in_address(sheet.get("href") or "")
        elif sheet.text:
            yield from map(_in_address, _IMPORTED.findall(sheet.text))
            yield sheet.text


def _in_address(address: str) -> str:
    """The sheet in a `data:` address, else ""."""
    data = _DATA.fullmatch(address.strip())
    if data is None:
        return ""
    sheet = unquote_to_bytes(data[2])
    try:
        return (base64.b64decode(sheet) if data[1] else sheet).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def unfold_shadows(tree: HtmlElement) -> None:
    """Replace the children of elements by their declared shadow trees, as a browser renders them.

    An element with a shadow tree shows its own children only in the slots of that tree
    (https://html.spec.whatwg.org/#attr-template-shadowrootmode).
    """
    for shadow in list(tree.iter("template")):
        host = shadow.getparent()
        if shadow.get("shadowrootmode") not in ("open", "closed") or host is None:
            continue
        shadow.tag = "div"
        if next(shadow.iter("slot"), None) is None:
            host.text = shadow.tail = None
            host[:] = [shadow]


MAX_DEPTH = 64
"""The deepest brackets of a media query; real ones have three."""

_TRUE, _FALSE, _UNKNOWN = "1", "0", "?"
_NOT = {_TRUE: _FALSE, _FALSE: _TRUE, _UNKNOWN: _UNKNOWN}
_TYPES = {"screen": _TRUE, "all": _TRUE} | dict.fromkeys(
    ("print", "speech", "aural", "braille", "embossed", "handheld", "projection", "tty", "tv"),
    _FALSE,
)
_INNERMOST = re.compile(r"\(([^()]*+)\)")
_VERDICTS = re.compile(r"(?:[01?]|and|or|not|\s)++")
_PLAIN = re.compile(r"(?:-webkit-)?(?:(min|max)-)?([a-z-]++)\s*+:\s*+(.++)")
_COMPARISON = re.compile(r"([<>]=?|=)")
_RESOLUTION = re.compile(r"([\d.]++)(dppx|x|dpi|dpcm)")
_PER_DPPX = {"dppx": 1.0, "x": 1.0, "dpi": 96.0, "dpcm": 96 / 2.54}
_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
}
_BOUNDS = {"min": ">=", "max": "<=", None: "="}
_MEASURES = {
    **SCREEN,
    "device-width": SCREEN["width"],
    "device-height": SCREEN["height"],
    "inline-size": SCREEN["width"],
    **dict.fromkeys(("aspect-ratio", "device-aspect-ratio"), SCREEN["width"] / SCREEN["height"]),
    "resolution": 1.0,
    "device-pixel-ratio": 1.0,
    "color": 8.0,
    "monochrome": 0.0,
    "grid": 0.0,
}
_SETTINGS = {
    "orientation": "landscape",
    "scripting": "enabled",
    "update": "fast",
    "display-mode": "browser",
    **dict.fromkeys(("hover", "any-hover"), "hover"),
    **dict.fromkeys(("pointer", "any-pointer"), "fine"),
    "prefers-color-scheme": "light",
    "color-gamut": "srgb",
    "dynamic-range": "standard",
    **dict.fromkeys(
        (
            "prefers-reduced-motion",
            "prefers-contrast",
            "prefers-reduced-data",
            "prefers-reduced-transparency",
        ),
        "no-preference",
    ),
    **dict.fromkeys(("forced-colors", "inverted-colors"), "none"),
}
_OFF = frozenset({"none", "no-preference"})


@cached_if_short(1_000)
def on_screen(media: str) -> bool:
    """Whether a media query list holds. An unknown condition does not hold.

    Raises:
        HostileStylesError: its brackets are deeper than those of any honest query.
    """
    return not media.strip() or any(_query(query) == _TRUE for query in media.lower().split(","))


def _query(query: str) -> str:
    for _ in range(MAX_DEPTH):
        if "(" not in query:
            return _condition(query)
        reduced = _INNERMOST.sub(_judged, query)
        if reduced == query:  # a bracket without its other half
            return _UNKNOWN
        query = reduced
    raise HostileStylesError("brackets")


def _judged(part: re.Match[str]) -> str:
    text = part[1].strip()
    return f" {_condition(text) if _VERDICTS.fullmatch(text) else _feature(text)} "


def _condition(text: str) -> str:
    """Verdicts joined by `and` or `or`, optionally after `not`; the name of a medium counts as a verdict."""
    words = text.split()
    negated = words[:1] == ["not"]
    if "not" in words[1:]:
        return _UNKNOWN
    named = (word for word in words if word not in ("and", "or", "not", "only"))
    verdicts = [word if word in _NOT else _TYPES.get(word, _UNKNOWN) for word in named]
    decisive = _TRUE if "or" in words else _FALSE
    verdict = _UNKNOWN if _UNKNOWN in verdicts or not verdicts else _NOT[decisive]
    verdict = decisive if decisive in verdicts else verdict
    return _NOT[verdict] if negated else verdict


def _feature(text: str) -> str:
    if text in _SETTINGS:
        return _FALSE if _SETTINGS[text] in _OFF else _TRUE
    if text in _MEASURES:
        return _TRUE if _MEASURES[text] else _FALSE
    if plain := _PLAIN.fullmatch(text):
        bound, name, value = plain.groups()
        if name in _SETTINGS:
            return _TRUE if _SETTINGS[name] == value else _FALSE
        text = f"{name}{_BOUNDS[bound]}{value}"
    sides = [side.strip() for side in _COMPARISON.split(text)]  # such as `400px`, `<=`, `width`
    measures = (_MEASURES.get(side) or _measure(side) for side in sides[::2])
    values = [measure for measure in measures if measure is not None]
    if len(values) <= len(sides) // 2 or _MEASURES.keys().isdisjoint(sides):
        return _UNKNOWN
    holds = (
        _COMPARISONS[how](one, other)
        for one, how, other in zip(values, sides[1::2], values[1:], strict=False)
    )
    return _TRUE if all(holds) else _FALSE


def _measure(value: str) -> float | None:
    value = value.strip()
    if resolution := _RESOLUTION.fullmatch(value):
        return pixels(resolution[1]) and float(resolution[1]) / _PER_DPPX[resolution[2]]
    numbers = [pixels(part) for part in value.split("/")]
    if len(numbers) == 2 and numbers[0] is not None and numbers[1]:
        return numbers[0] / numbers[1]
    return numbers[0] if len(numbers) == 1 else None
