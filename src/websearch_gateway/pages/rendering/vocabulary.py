"""The elements that stand inside of a line, and the attributes with which builders of trees say what HTML cannot."""

from __future__ import annotations

import re
from typing import Any

TEX = "tex"
"""A formula: its text is LaTeX, its attribute `display` is "block" if it stands on a line of its own."""

INLINE = frozenset(
    [
        *(
            "a",
            "abbr",
            "acronym",
            "b",
            "bdi",
            "bdo",
            "big",
            "br",
            "cite",
            "code",
            "data",
            "del",
            "dfn",
            "em",
        ),
        *(
            "font",
            "i",
            "img",
            "ins",
            "kbd",
            "label",
            "mark",
            "nobr",
            "q",
            "rb",
            "rp",
            "rt",
            "ruby",
            "s",
            "samp",
        ),
        *("small", "span", "strike", "strong", "sub", "sup", TEX, "time", "tt", "u", "var", "wbr"),
    ]
)

BLOCKS = frozenset(
    [
        *(
            "address",
            "article",
            "aside",
            "blockquote",
            "body",
            "center",
            "dd",
            "details",
            "dialog",
            "div",
        ),
        *(
            "dl",
            "dt",
            "fieldset",
            "figcaption",
            "figure",
            "footer",
            "form",
            "frameset",
            "header",
            "hgroup",
        ),
        *(
            "hr",
            "html",
            "legend",
            "li",
            "listing",
            "main",
            "nav",
            "optgroup",
            "option",
            "p",
            "plaintext",
        ),
        *("pre", "search", "section", "select", "summary", "textarea", "xmp", "head"),
        *("table", "caption", "colgroup", "col", "thead", "tbody", "tfoot", "tr", "td", "th"),
        *("ul", "ol", "menu", "dir", "h1", "h2", "h3", "h4", "h5", "h6"),
    ]
)
"""What stands on lines of its own (https://html.spec.whatwg.org/#the-css-user-agent-style-sheet-and-presentational-hints)."""

CODE = frozenset(("code", "kbd", "samp", "tt"))
LISTS = frozenset(("ul", "ol", "menu", "dir"))
HEADINGS = {f"h{level}": level for level in range(1, 7)}

MARKER = "data-marker"
"""On a list item: the mark that its reader sees in place of a number, such as `(a)` or `§ 3`."""

TICK = "data-ticked"
"""On a list item: "x" if its box is ticked, "" if it is not."""

NOTE = "data-note"
"""On `<a>`: the mark of a note, written as `[^mark]`. On a block: the note itself, written as `[^mark]: text`."""

PERMALINKS = frozenset(["¶", "#", "§", "🔗", "◆", "\uf0c1", "\u200b"])
"""The texts of links of headings to themselves; the last one is Docusaurus's."""


def with_class(root: Any, pattern: re.Pattern[str]) -> list[Any]:
    """The elements whose `class` a pattern matches, in their order. Fast: pages have few different classes."""
    names = {
        name for name in set(root.xpath("//@class", smart_strings=False)) if pattern.search(name)
    }
    return [element for element in root.iter() if element.get("class") in names] if names else []


def outermost(root: Any, tag: str) -> list[Any]:
    """The elements with a tag that are in no other one."""
    from lxml import etree

    walk = etree.iterwalk(root, events=("start",), tag=tag)
    found = []
    for _, element in walk:
        found.append(element)
        walk.skip_subtree()
    return found
