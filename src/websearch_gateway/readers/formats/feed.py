"""RSS and Atom: https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.net.bodies import decode
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.readers.extraction.render import as_paragraph, escaped
from websearch_gateway.readers.formats.rendering import to_markdown
from websearch_gateway.text.markdown import as_user_text

MOST_ENTRIES = 3_000
"""The most entries of a feed that are read: each costs 60 µs. The feed of a podcast may have two thousand."""

TOO_LONG = "The feed has more than {:,} entries; the rest is left out."

_DECLARED_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}\sencoding\s*=")
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,200}\?>")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed. `date` is an ISO 8601 date; `body` is HTML."""

    title: str
    link: str
    author: str
    date: str
    body: str


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
    found = parse_feed(body, charset)
    entries = (_markdown(entry, url) for entry in found.entries if entry.title or entry.link or entry.body)
    parts = (part for part in (found.description, *entries) if part)
    cut = (TOO_LONG.format(MOST_ENTRIES),) if found.is_cut else ()
    return Extracted(found.title, "\n\n".join(parts) or "The feed is empty.", None, cut)


def parse_feed(body: bytes, charset: str = "utf-8") -> Feed:
    """Read RSS 0.9 to 2.0, RDF or Atom.

    Raises:
        SearchFetchError: the body is not a feed.
    """
    from lxml import etree

    if not _DECLARED_ENCODING.match(body):
        body = _DECLARATION.sub("", decode(body, charset), count=1).lstrip().encode()
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    root = etree.fromstring(body, parser) if body else None
    if root is None or _name(root) not in ("rss", "feed", "rdf"):
        raise SearchFetchError("The feed is neither RSS nor Atom.")
    about = next((child for child in root if _name(child) == "channel"), root)
    found = (element for element in root.iter() if _name(element) in ("item", "entry"))
    entries = tuple(map(_entry, islice(found, MOST_ENTRIES)))
    return Feed(_words(about, "title"), _words(about, "description", "subtitle"), entries, any(True for _ in found))


def _entry(element: Any) -> Entry:
    return Entry(
        title=_words(element, "title"),
        link=_link(element),
        author=", ".join(_each(element, "creator", "author")),
        date=_date(_words(element, "pubdate", "published", "date", "updated")),
        body=_html(element, "encoded", "content", "description", "summary"),
    )


def _name(element: Any) -> str:
    """The name of a tag in lower case without its namespace."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else ""


def _children(element: Any, names: tuple[str, ...]) -> Iterator[Any]:
    """The children with these names: all of the first name, then all of the second, and so on."""
    for name in names:
        yield from (child for child in element if _name(child) == name)


def _html(element: Any, *names: str) -> str:
    """The first of these children that is not empty, as HTML."""
    from lxml import etree

    for child in _children(element, names):
        kind = child.get("type", "html")
        inside = "".join(etree.tostring(inner, encoding="unicode") for inner in child)
        text = html.escape(child.text or "") if kind in ("text", "text/plain") or inside else child.text or ""
        if (text + inside).strip():
            return text + inside
    return ""


def _words(element: Any, *names: str) -> str:
    """The first of these children that is not empty, on one line without markup."""
    return next(_each(element, *names), "")


def _each(element: Any, *names: str) -> Iterator[str]:
    for child in _children(element, names):
        name = next(_children(child, ("name",)), child)  # of an author in Atom
        if text := " ".join("".join(name.itertext()).split()):
            yield " ".join(re.sub(r"<[^<>]{1,500}>", " ", html.unescape(text)).split())


def _link(element: Any) -> str:
    for link in _children(element, ("link",)):
        if link.get("rel", "alternate") == "alternate" and (address := link.get("href") or link.text):
            return address.strip() if address.strip().startswith(("http://", "https://")) else ""
    return ""


def _date(text: str) -> str:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).date().isoformat()
        except ValueError:
            continue
    return ""


def _markdown(entry: Entry, url: str) -> str:
    """An entry under its title. Nothing in it can look like the heading of another entry."""
    title = escaped(entry.title) or "Untitled"
    heading = f"## [{title}]({entry.link})" if entry.link else f"## {title}"
    about = as_paragraph(escaped(", ".join(part for part in (entry.date, entry.author) if part)))
    body = as_user_text(to_markdown(entry.body, entry.link or url))
    return "\n\n".join(part for part in (heading, about, body) if part)
