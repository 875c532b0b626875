"""A feed as Markdown: RSS, RDF or Atom, each entry under its linked title."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from websearch_gateway.base import as_user_text, decode
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats.plain import day_of
from websearch_gateway.pages.formats.rendering import to_markdown
from websearch_gateway.pages.rendering import as_paragraph, escaped

MOST_ENTRIES = 3_000
"""The most entries of a feed that are read: each costs 60 µs. The feed of a podcast may have two thousand."""

TOO_LONG = "The feed has more than {:,} entries; the rest is left out."

_DECLARED_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}\sencoding\s*=")
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,200}\?>")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed. `date` is an ISO 8601 date; `body` is HTML, whose links are relative to `base`."""

    title: str
    link: str
    author: str
    date: str
    body: str
    base: str = ""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed and its first MOST_ENTRIES entries, in their order. `is_cut`: it has more."""

    title: str
    description: str
    entries: tuple[Entry, ...]
    is_cut: bool = False


def feed(body: bytes, url: str, charset: str) -> Extracted:
    """A feed as Markdown: each entry under its linked title.

    Raises:
        SearchFetchError: the body is not a feed.
    """
    parsed = parse_feed(body, charset, url)
    entries = [entry for entry in parsed.entries if entry.title or entry.link or entry.body]
    parts = [parsed.description, *(_markdown(entry, url) for entry in entries)]
    text = "\n\n".join(filter(None, parts))
    warnings = (TOO_LONG.format(MOST_ENTRIES),) if parsed.is_cut else ()
    return Extracted(parsed.title, text or "The feed is empty.", None, warnings)


def parse_feed(body: bytes, charset: str = "utf-8", url: str = "") -> Feed:
    """Read RSS 0.9 to 2.0, RDF or Atom. Links are relative to the `xml:base` around them, or to `url`.

    Raises:
        SearchFetchError: the body is not a feed.
    """
    from lxml import etree

    if not _DECLARED_ENCODING.match(body):
        body = _DECLARATION.sub("", decode(body, charset), count=1).lstrip().encode()
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True
    )
    root = etree.fromstring(body, parser) if body else None
    if root is None or _tag(root) not in ("rss", "feed", "rdf"):
        raise SearchFetchError("The feed is neither RSS nor Atom.")
    channel = next((child for child in root if _tag(child) == "channel"), root)
    elements = (element for element in root.iter() if _tag(element) in ("item", "entry"))
    entries = tuple(_entry(element, url) for element in islice(elements, MOST_ENTRIES))
    return Feed(
        _first_of(channel, "title"),
        _first_of(channel, "description", "subtitle"),
        entries,
        is_cut=next(elements, None) is not None,
    )


def _entry(element: Any, url: str) -> Entry:
    return Entry(
        title=_first_of(element, "title"),
        link=_link(element, url),
        author=", ".join(_each(element, "creator", "author")),
        date=day_of(_first_of(element, "pubdate", "published", "date", "updated")),
        body=_html(element, "encoded", "content", "description", "summary"),
        base=_base(element, ""),
    )


def _tag(element: Any) -> str:
    """The name of a tag in lower case without its namespace."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _children(element: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The children with these names: all of the first name, then all of the second, and so on."""
    for name in names:
        yield from (child for child in element if _tag(child) == name)


def _html(element: Any, *names: str) -> str:
    """The first of these children that is not empty, as HTML."""
    from lxml import etree

    for child in _children(element, names):
        kind = child.get("type", "html")
        inside = "".join(etree.tostring(inner, encoding="unicode") for inner in child)
        text = child.text or ""
        is_markup = kind not in ("text", "text/plain") and not inside
        if not is_markup:
            text = html.escape(text)
        if (text + inside).strip():
            return text + inside
    return ""


def _first_of(element: Any, *names: str) -> str:
    """The first of these children that is not empty, on one line without markup."""
    return next(_each(element, *names), "")


_TAG = re.compile(r"<[^<>]{1,500}>")


def _each(element: Any, *names: str) -> Iterator[str]:
    for child in _children(element, names):
        name = next(_children(child, ("name",)), child)  # of an author in Atom
        text = "".join(name.itertext())
        # RSS does not say whether its titles are markup.
        if child.get("type") not in ("text", "xhtml"):
            text = html.unescape(_TAG.sub(" ", text))
        line = " ".join(text.split())
        if line:
            yield line


def _link(element: Any, url: str) -> str:
    """The absolute address of an entry; "" if it has none, or one that is not of the web."""
    for link in _children(element, ("link",)):
        address = (link.get("href") or link.text or "").strip()
        if link.get("rel", "alternate") != "alternate" or not address:
            continue
        try:
            absolute = urljoin(_base(link, url), address)
        except ValueError:
            return ""
        return absolute if absolute.startswith(("http://", "https://")) else ""
    return ""


_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_MOST_BASES = 20


def _base(element: Any, url: str) -> str:
    """What links in an element are relative to (https://www.w3.org/TR/xmlbase/): `url` if nothing around it says."""
    around = [
        ancestor.get(_BASE)
        for ancestor in (element, *islice(element.iterancestors(), _MOST_BASES))
        if ancestor.get(_BASE)
    ]
    base = url
    try:
        for relative in reversed(around):
            base = urljoin(base, relative)
    except ValueError:
        return url
    return base


def _markdown(entry: Entry, url: str) -> str:
    """An entry under its title. Nothing in it can look like the heading of another entry."""
    title = escaped(entry.title) or "Untitled"
    heading = f"## [{title}]({entry.link})" if entry.link else f"## {title}"
    about = as_paragraph(escaped(", ".join(part for part in (entry.date, entry.author) if part)))
    body = as_user_text(to_markdown(entry.body, entry.base or entry.link or url))
    return "\n\n".join(part for part in (heading, about, body) if part)
