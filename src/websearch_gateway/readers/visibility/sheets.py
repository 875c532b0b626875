"""The style sheets inside a page, and its declarative shadow trees."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from websearch_gateway.readers.visibility.media import on_screen

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_IMPORTED = re.compile(r"""@import\s++(?:url\(\s*+)?["']?(data:[^"')\s]++)""", re.IGNORECASE)
_DATA = re.compile(r"data:text/css[^,]*?(;base64)?,(.*+)", re.IGNORECASE | re.DOTALL)


def style_sheets(tree: HtmlElement) -> Iterator[str]:
    """The sheets of a page that apply to a screen, in order, without external ones."""
    for sheet in tree.iter("style", "link"):
        if (
            not on_screen(sheet.get("media") or "")
            or next(sheet.iterancestors("noscript", "template"), None) is not None
        ):
            continue
        if sheet.tag == "link":
            if "stylesheet" in (sheet.get("rel") or "").lower():
                yield _in_address(sheet.get("href") or "")
        elif sheet.text:
            yield from map(_in_address, _IMPORTED.findall(sheet.text))
            yield sheet.text


def _in_address(address: str) -> str:
    """The sheet in a `data:` address; "" for any other address."""
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
