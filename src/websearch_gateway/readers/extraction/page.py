"""Parses a page into a DOM with only readable content."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import urljoin

MOST_ELEMENTS = 60_000
"""The most elements of a page that are read: each costs up to 50 µs. The largest of 1,065 real pages has 13,439."""

# Never text of the page, or never visible: scripts, pictures, and the options of a form.
_UNREAD = [
    *("script", "style", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "map"),
    *("select", "datalist", "textarea", "input", "link", "meta", "base", "head", "title", "noframes", "param"),
    *("source", "track", "frame", "frameset", "progress", "meter", "area"),
]
# The elements that may be in a `<head>` (https://html.spec.whatwg.org/#metadata-content); any other begins the body.
_METADATA = frozenset(
    {"base", "basefont", "bgsound", "link", "meta", "noscript", "script", "style", "template", "title"}
)
# libxml2 takes quadratic time over the attributes of one element.
_LARGE_TAG = 20_000
_OVERLOADED_TAG = re.compile(rf"<([A-Za-z][\w:-]*)\s[^<>]{{{_LARGE_TAG},}}>")
_MANY_ATTRIBUTES = 500
# The marks of a page builder that no longer runs: `[vc_row][vc_column width="1/2"]Text[/vc_column][/vc_row]`.
_CLOSING_SHORTCODE = re.compile(r"\[/([a-z]{1,20})_[a-z]\w{0,40}\]")
_MOST_BUILDERS = 20


def parse(text: str, *, plain: bool = False) -> Any | None:
    """The root element of a page; None for an empty page. A fragment gets an `<html>` around it.

    Args:
        plain: elements without the methods of `lxml.html`, which only trafilatura and htmldate need. They are a tenth
            faster to walk.
    """
    from lxml import etree, html

    safe = text.replace("\0", "")
    if _may_have_large_tag(safe):
        safe = _OVERLOADED_TAG.sub(_without_attributes, safe)
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    if not plain:
        # One class for all: `lxml.html` calls a Python function for each element to choose among its classes.
        parser.set_element_class_lookup(etree.ElementDefaultClassLookup(element=html.HtmlElement))
    try:
        root = etree.fromstring(safe.encode("utf-8", "replace"), parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None
    if root is None or not isinstance(root.tag, str):
        return None
    _free_body(root)
    return root


def _free_body(root: Any) -> None:
    """Move body elements out of the head: libxml2 does not know that elements such as `<main>` end the head."""
    from lxml import etree

    head = root.find("head")
    children = [] if head is None else list(head)
    first = next((place for place, child in enumerate(children) if child.tag not in _METADATA), None)
    if first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    children[-1].tail = (children[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = children[first:]


def cut_elements(root: Any, most: int = MOST_ELEMENTS) -> bool:
    """Remove, in place, everything after the first `most` elements. Returns whether there was anything to remove."""
    first = next(islice(root.iter(), most, None), None)
    if first is None:
        return False
    open_element = first.getparent()
    del open_element[open_element.index(first) :]
    while (parent := open_element.getparent()) is not None:
        open_element.tail = None
        del parent[parent.index(open_element) + 1 :]
        open_element = parent
    return True


def base_of(root: Any, url: str) -> str:
    """The base URL of the page's links: its `<base>`, else its URL."""
    declared: str = next((element.get("href") for element in root.iter("base") if element.get("href")), "")
    try:
        return str(urljoin(url, declared.strip()))
    except ValueError:
        return url


def strip_unread(root: Any) -> None:
    """Remove, in place, the elements that never contain text of the page."""
    from lxml import etree

    etree.strip_elements(root, *_UNREAD, with_tail=False)


def strip_shortcodes(root: Any) -> None:
    """Remove, in place, the shortcodes of page builders from the text, but not from code."""
    from lxml import etree

    closing = (mark for text in root.xpath("//text()[contains(., '[/')]") for mark in _CLOSING_SHORTCODE.finditer(text))
    builders = sorted({mark[1] for mark in closing})[:_MOST_BUILDERS]
    if not builders:
        return
    shortcode = re.compile(rf"\[/?(?:{'|'.join(builders)})_\w[^\[\]]*\]")
    code = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        is_code = element.tag in ("pre", "code")
        if event == "start":
            code += is_code
            if not code and element.text and "]" in element.text:
                element.text = shortcode.sub(" ", element.text)
        else:
            code -= is_code
            if not code and element.tail and "]" in element.tail:
                element.tail = shortcode.sub(" ", element.tail)


def _may_have_large_tag(text: str) -> bool:
    """Whether some part of half the length of a large tag, counted from the start of the page, has no `>`."""
    part = _LARGE_TAG // 2
    return any(text.find(">", at, at + part) < 0 for at in range(0, len(text) - part, part))


def _without_attributes(tag: re.Match[str]) -> str:
    return f"<{tag[1]}>" if tag[0].count("=") > _MANY_ATTRIBUTES else tag[0]
