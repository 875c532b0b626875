"""Finds the text of a page that shows none: in the data for its scripts, in a frame, or in a template.

Only a page that is nearly empty is searched, and the reader is told where the text was: nobody sees it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import urljoin

from websearch_gateway.base import quoted_line
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.foreign_json import MALFORMED, parse_json
from websearch_gateway.pages.extraction import page

LITTLE_TEXT = 500
"""A page with so many characters of Markdown has its text where everybody sees it."""
FROM_SCRIPTS = (
    "The text comes from data that the page holds for its scripts; nobody sees it without scripts."
)
FROM_FRAME = "The text is that of a frame in the page."
FROM_TEMPLATE = "The text comes from a template, which the page's scripts fill in; nobody sees it without scripts."
_LEAST_CHARS = 200
_MOST_CHARS = 200_000
_MOST_DATA = 3_000_000
"""The most characters of the data in one script that are parsed."""
_MOST_FRAMES = 20
_LEAST_WORDS = 6
_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*\s*\Z")
_MARKUP = re.compile(r"<(?:p|h[1-6]|ul|ol|div|br|strong|em|a)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The text of a page as HTML of its own, and what to tell its reader."""

    html: str
    warning: str


def text_elsewhere(text: str, url: str) -> Elsewhere | None:
    """The text that a nearly empty page holds where nobody sees it; None if there is none.

    Raises:
        SearchFetchError: the page only shows other pages in frames; `details["frames"]` has their URLs.
    """
    root = page.parse(text)
    if root is None:
        return None
    frames = [frame.get("srcdoc") for frame in root.iter("iframe") if frame.get("srcdoc")]
    templates = [
        "".join(_inner(template))
        for template in root.iter("template")
        if template.get("shadowrootmode") is None
    ]
    candidates = [
        Elsewhere("\n".join(frames[:_MOST_FRAMES]), FROM_FRAME),
        Elsewhere(_from_scripts(root), FROM_SCRIPTS),
        Elsewhere(max(templates, key=len, default=""), FROM_TEMPLATE),
    ]
    for candidate in candidates:
        if len(candidate.html) >= _LEAST_CHARS:
            return candidate
    _refuse_frames(root, url)
    return None


def _inner(element: Any) -> Iterator[str]:
    from lxml import etree

    yield escape(element.text or "")
    for child in element:
        yield etree.tostring(child, encoding="unicode", method="html")


def _refuse_frames(root: Any, url: str) -> None:
    base = page.base_of(root, url)
    sources = [frame.get("src") for frame in root.iter("frame") if frame.get("src")]
    if sources:
        joined = (urljoin(base, source) for source in sources[:_MOST_FRAMES])
        frames = ["%20".join(address.split()) for address in joined]
        raise SearchFetchError(
            f"The page only shows other pages in frames; read these: {quoted_line(' '.join(frames))}",
            details={"reason": "frames", "frames": frames},
        )


def _from_scripts(root: Any) -> str:
    """The prose in the data of scripts: the body of the article that JSON-LD declares, else all sentences."""
    others = []
    for script in root.iter("script"):
        kind, content = script.get("type", "").lower(), script.text or ""
        if "json" not in kind or len(content) > _MOST_DATA:
            continue
        try:
            data = parse_json(content)
        except MALFORMED:
            continue
        if "ld+json" not in kind:
            others.append(data)
            continue
        for node in _nodes(data):
            body = node.get("articleBody")
            if isinstance(body, str) and len(body) >= _LEAST_CHARS:
                return _as_html([str(node.get("headline") or ""), body])
    texts: dict[str, None] = {}
    for data in others:
        texts.update(dict.fromkeys(_sentences(data)))
    return _as_html(["", *texts])


def _nodes(data: Any) -> Iterator[dict[str, Any]]:
    """The objects of JSON, in their order."""
    open_values = [data]
    while open_values:
        value = open_values.pop()
        if isinstance(value, dict):
            yield value
            open_values += reversed(value.values())
        elif isinstance(value, list):
            open_values += reversed(value)


def _sentences(data: Any) -> Iterator[str]:
    """The texts of JSON that read like prose, in their order."""
    room = _MOST_CHARS
    open_values = [data]
    while open_values and room > 0:
        value = open_values.pop()
        if isinstance(value, dict):
            open_values += reversed(value.values())
        elif isinstance(value, list):
            open_values += reversed(value)
        elif isinstance(value, str) and _is_prose(value):
            room -= len(value)
            yield value


def _is_prose(text: str) -> bool:
    if _MARKUP.search(text[:_MOST_CHARS]):
        return len(text.split(maxsplit=_LEAST_WORDS)) > _LEAST_WORDS
    is_sentence = _SENTENCE.search(text[-20:]) is not None
    is_unspaced = not text.isascii() and len(text) > 30
    return is_sentence and (is_unspaced or len(text.split(maxsplit=_LEAST_WORDS)) > _LEAST_WORDS)


def _as_html(texts: list[str]) -> str:
    """Texts as HTML: the first one is the heading."""
    heading, *bodies = texts
    parts = [f"<h1>{escape(heading)}</h1>"] if heading.strip() else []
    for body in bodies:
        if _MARKUP.search(body):
            parts.append(f"<div>{body}</div>")
        else:
            parts += [
                f"<p>{escape(paragraph)}</p>"
                for paragraph in re.split(r"\n\s*", body)
                if paragraph.strip()
            ]
    return "".join(parts)
