"""Text formats: plain text, Markdown, JSON, tables with a separator such as a comma, notebooks, mail and feeds.

Notebooks: https://nbformat.readthedocs.io. Mail: RFC 5322. Feeds: https://www.rssboard.org/rss-specification,
https://www.rfc-editor.org/rfc/rfc4287.
"""

from __future__ import annotations

import csv
import html
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Any

from websearch_gateway.base import as_user_text, charset_of, decode, without_comments
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Extracted
from websearch_gateway.pages.extraction.render import as_paragraph, escaped
from websearch_gateway.pages.formats.rendering import to_markdown, until_too_long

if TYPE_CHECKING:
    from email.message import EmailMessage


_HEADING = re.compile(r"^# +(.{1,300}?)[ #]*$", re.MULTILINE)
_QUOTED = re.compile(r'"[^"]*"')
_MOST_CELLS = 2_000_000
_DELIMITERS = ",;\t|"


def text(body: bytes, url: str, charset: str) -> Extracted:
    """Plain text, unchanged."""
    return Extracted("", decode(body, charset).strip(), None)


def markdown(body: bytes, url: str, charset: str) -> Extracted:
    """Markdown without its comments. Its first heading of the first level is its title."""
    words = without_comments(decode(body, charset)).strip()
    heading = _HEADING.search(words)
    return Extracted(heading[1] if heading else "", words, None)


def json_text(body: bytes, url: str, charset: str) -> Extracted:
    """JSON as indented code. Invalid JSON becomes plain text."""
    try:
        value = json.loads(decode(body, charset))
        indented = "".join(until_too_long(json.JSONEncoder(indent=2, ensure_ascii=False).iterencode(value)))
    except (ValueError, RecursionError):
        return text(body, url, charset)
    names = (value.get(key) for key in ("title", "name")) if isinstance(value, dict) else ()
    title = next((" ".join(name.split()) for name in names if isinstance(name, str)), "")
    return Extracted(title, f"```json\n{indented}\n```", None)


def csv_table(body: bytes, url: str, charset: str) -> Extracted:
    """A Markdown table with the first row as its header. Text that cannot be parsed becomes plain text."""
    words = decode(body, charset).strip()
    first = _QUOTED.sub("", words.partition("\n")[0])
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = [row for row in csv.reader(StringIO(words, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error:
        rows = []
    width = max(map(len, rows), default=0)
    if not rows or len(rows[0]) < 2 or width * len(rows) > _MOST_CELLS:
        return Extracted("", words, None)
    lines = [*until_too_long(f"| {' | '.join(map(_cell, row + [''] * (width - len(row))))} |\n" for row in rows)]
    return Extracted("", "".join([lines[0], "|" + " --- |" * width + "\n", *lines[1:]]).strip(), None)


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")


LONGEST_OUTPUT = 20_000
"""The most characters of one output: a program may print without end."""
LEFT_OUT = "[… the rest of this output is left out]"

_COLOURS = re.compile(r"\x1b\[[0-9;]{0,30}[A-Za-z]")
# Also one without an end, so that no two searches read the same text.
_INLINE_IMAGE = re.compile(r"!\[((?:[^\]\n!]|!(?!\[)){0,500}+)\]\((?:data|attachment):[^)\n]*+\)?")
_NOTEBOOK_HEADING = re.compile(r"^#{1,2} +(.{1,300}?)[ #]*$", re.MULTILINE)
_FENCES = re.compile(r"`{3,}")


def notebook(body: bytes, url: str, charset: str) -> Extracted:
    """A notebook. Pictures in outputs are named by their type.

    Raises:
        SearchFetchError: it is damaged.
    """
    try:
        value = json.loads(body)
        cells = value["cells"]
    except (KeyError, ValueError, RecursionError, AttributeError, TypeError):
        raise SearchFetchError("The notebook is damaged.", details={"reason": "damaged"}) from None
    metadata = _dict(value.get("metadata"))
    name = _dict(metadata.get("language_info")).get("name") or _dict(metadata.get("kernelspec")).get("language")
    language = name.lower() if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,20}", name) else "python"
    text = "\n\n".join(
        until_too_long(
            part for cell in _list(cells) if isinstance(cell, dict) for part in _notebook_cell(cell, language)
        )
    )
    heading = _NOTEBOOK_HEADING.search(text)
    return Extracted(heading[1] if heading else "", text, None)


def _notebook_cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source")).strip("\n")
    if cell.get("cell_type") == "code":
        if source.strip():
            yield _fenced(source, language)
        for output in _list(cell.get("outputs")):
            if text := _output(_dict(output)):
                yield text
    elif source.strip():
        yield _INLINE_IMAGE.sub(lambda match: f"[Image: {match[1]}]" if match[1] else "[Image]", source).strip()


def _output(output: dict[str, Any]) -> str:
    """The text of an output: its richest form that is text."""
    if output.get("output_type") == "error":
        return _fenced(f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}", "")
    if "text" in output and "data" not in output:
        return _fenced(_joined(output["text"]), "")
    data = _dict(output.get("data"))
    if markdown := _joined(data.get("text/markdown")).strip():
        return markdown
    if markup := _joined(data.get("text/html")):
        return to_markdown(markup[: 10 * LONGEST_OUTPUT])[:LONGEST_OUTPUT].strip()
    if image := next((name for name in data if name.startswith("image/")), None):
        return f"[Image: {image}]"
    return _fenced(_joined(data.get("text/plain", data.get("text/latex"))), "")


def _fenced(text: str, language: str) -> str:
    text = _COLOURS.sub("", text).strip("\n").rstrip()
    if not text.strip():
        return ""
    if not language and len(text) > LONGEST_OUTPUT:
        text = f"{text[:LONGEST_OUTPUT]}\n{LEFT_OUT}"
    mark = "`" * (1 + max((len(run) for run in _FENCES.findall(text)), default=2))
    return f"{mark}{language}\n{text}\n{mark}"


def _joined(value: Any) -> str:
    """A text, which the format may store as a list of its lines."""
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


MOST_PARTS, DEEPEST_PART = 200, 20
"""The most parts of a message, and how deep they may lie: each line is compared with each boundary around it."""
MOST_HEADER = 2_000
_SHOWN = ("From", "To", "Cc", "Date")
RICHER = 2
"""The HTML of a message is read in place of its plain text if that has this many times fewer words."""


def mail(body: bytes, url: str, charset: str) -> Extracted:
    """An e-mail; attached files are named, and attached texts and messages are not read."""
    parts = _parts(body)
    message = parts[0]
    lines = [f"**{name}:** {text}" for name in _SHOWN if (text := _line(message.get(name, "")))]
    plain, rich, attached = "", "", []
    for part in parts:
        if part.is_multipart():
            continue
        kind, name = part.get_content_type(), part.get_filename()
        if name or part.get_content_disposition() == "attachment" or not kind.startswith("text/"):
            attached.append(f"* {_line(name or 'unnamed')} ({kind})")
        elif kind == "text/html":
            rich = rich or to_markdown(_text(part))
        else:
            plain = plain or _text(part).strip()
    text = rich if len(rich.split()) >= RICHER * len(plain.split()) else plain
    texts = ["\n".join(f"{line}  " for line in lines).rstrip(), text]
    if attached:
        texts.append("**Attachments:**\n\n" + "\n".join(attached))
    title, day = _line(message.get("Subject", "")), _day_of(_line(message.get("Date", "")))
    return Extracted(title, "\n\n".join(filter(None, texts)), day or None)


class _EnoughPartsError(Exception):
    """Ends the work on a message with very many parts."""


def _parts(body: bytes) -> list[EmailMessage]:
    """A message and its first parts, each before those that it holds. One that lies too deep holds none."""
    from email import message_from_bytes
    from email.message import EmailMessage
    from email.policy import EmailPolicy

    parts: list[EmailMessage] = []

    class Part(EmailMessage):
        depth = 0

        def __init__(self, policy: Any = None) -> None:
            if len(parts) == MOST_PARTS:
                raise _EnoughPartsError
            super().__init__(policy)
            parts.append(self)

        def attach(self, payload: Any) -> None:
            payload.depth = self.depth + 1
            super().attach(payload)

        def get_content_type(self) -> str:
            kind = super().get_content_type()
            is_too_deep = self.depth >= DEEPEST_PART and kind.startswith(("message/", "multipart/"))
            return "application/octet-stream" if is_too_deep else kind

    class Headers(EmailPolicy):
        def header_fetch_parse(self, name: str, value: str) -> str:
            try:
                return str(super().header_fetch_parse(name, value[:MOST_HEADER]))
            # Bugs of the parser, with headers nobody sends.
            except (ValueError, IndexError, AttributeError, TypeError, RecursionError):
                return ""

    with suppress(_EnoughPartsError):
        message_from_bytes(body, policy=Headers(max_line_length=None, message_factory=Part))
    return parts


def _text(part: EmailMessage) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return decode(payload, charset_of(payload, f"charset={part.get_content_charset('')}"))


def _line(text: str) -> str:
    return " ".join(text.split())


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
    if root is None or _tag(root) not in ("rss", "feed", "rdf"):
        raise SearchFetchError("The feed is neither RSS nor Atom.")
    about = next((child for child in root if _tag(child) == "channel"), root)
    found = (element for element in root.iter() if _tag(element) in ("item", "entry"))
    entries = tuple(
        Entry(
            title=_first_of(one, "title"),
            link=_link(one),
            author=", ".join(_each(one, "creator", "author")),
            date=_day_of(_first_of(one, "pubdate", "published", "date", "updated")),
            body=_html(one, "encoded", "content", "description", "summary"),
        )
        for one in islice(found, MOST_ENTRIES)
    )
    return Feed(
        _first_of(about, "title"), _first_of(about, "description", "subtitle"), entries, any(True for _ in found)
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
        text = html.escape(child.text or "") if kind in ("text", "text/plain") or inside else child.text or ""
        if (text + inside).strip():
            return text + inside
    return ""


def _first_of(element: Any, *names: str) -> str:
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


def _day_of(text: str) -> str:
    """The day of a date in ISO 8601 or RFC 5322, in ISO 8601; "" if it is neither."""
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).date().isoformat()
        except (ValueError, OverflowError):  # of a zone that is years away
            continue
    return ""


def _markdown(entry: Entry, url: str) -> str:
    """An entry under its title. Nothing in it can look like the heading of another entry."""
    title = escaped(entry.title) or "Untitled"
    heading = f"## [{title}]({entry.link})" if entry.link else f"## {title}"
    about = as_paragraph(escaped(", ".join(part for part in (entry.date, entry.author) if part)))
    body = as_user_text(to_markdown(entry.body, entry.link or url))
    return "\n\n".join(part for part in (heading, about, body) if part)
