"""Text as Markdown: plain text and source code, Markdown itself, JSON, tables, and any of them compressed."""

from __future__ import annotations

import csv
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import StringIO
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urljoin, urlsplit

from websearch_gateway.base import (
    LINK,
    Fetched,
    charset_of,
    code_pieces,
    decode,
    plain,
    without_comments,
)
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.foreign_json import parse_strict_json
from websearch_gateway.models import Extracted
from websearch_gateway.pages.formats import kinds as formats
from websearch_gateway.pages.formats.rendering import until_too_long
from websearch_gateway.pages.rendering import as_cell, row_line, rule_line


def text(body: bytes, url: str, charset: str) -> Extracted:
    """Plain text, unchanged."""
    return Extracted("", decode(body, charset).strip(), None)


_LANGUAGE = re.compile(r"[a-z][a-z0-9+#]{0,11}")
_FENCES = re.compile(r"`{3,}")


def code(body: bytes, url: str, charset: str) -> Extracted:
    """Source code, markup and other text whose signs mean something, unchanged in a fence with the file's ending."""
    ending = PurePosixPath(urlsplit(url).path).suffix.removeprefix(".").lower()
    language = ending if _LANGUAGE.fullmatch(ending) else ""
    return Extracted("", fenced(decode(body, charset).removeprefix("\ufeff"), language), None)


def fenced(text: str, language: str) -> str:
    """Text as a code block; "" if it is blank."""
    text = text.strip("\n").rstrip()
    if not text.strip():
        return ""
    longest = max(map(len, _FENCES.findall(text)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{text}\n{mark}"


MAX_INFLATED = 20_000_000
_GZIP = zlib.MAX_WBITS + 16  # as zlib names the format


def gzipped(body: bytes, url: str, charset: str) -> Extracted:
    """What a gzip file holds, by its own kind and the name of the file without `.gz`.

    Raises:
        SearchFetchError: it is damaged, too large, or no text, such as an archive (`details["reason"]`).
    """
    inflater = zlib.decompressobj(_GZIP)
    try:
        inside = inflater.decompress(body, MAX_INFLATED)
    except zlib.error:
        raise SearchFetchError("The gzip file is damaged.", details={"reason": "damaged"}) from None
    if inflater.unconsumed_tail:
        message = f"The gzip file holds more than {MAX_INFLATED:,} bytes."
        raise SearchFetchError(message, details={"reason": "too_large"})
    if inside.startswith(b"\x1f\x8b"):
        raise formats.unreadable("application/gzip")
    name = re.sub(r"\.t?gz$", "", urlsplit(url).path, flags=re.IGNORECASE)
    file = Fetched(url, urljoin(url, name), 200, {}, inside, "", charset_of(inside, ""))
    return formats.CONVERTERS[formats.kind_of(file)](inside, file.final_url, file.charset)


# --- Markdown ---

_HEADING = re.compile(
    r"^# +(.{1,300}?)[ #]*$|^(?! {4})([^\s#>|*-][^\n]{0,300})\n=+[ \t]*$", re.MULTILINE
)
# The front matter of Jekyll, Hugo and Pandoc: YAML between lines of hyphens, TOML between plus signs.
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\n((?:[^\n]*\n){1,200}?)(?:\1|\.\.\.)[ \t]*(?:\n|\Z)"
)
_FIELD = re.compile(
    r"""^(title|date)[ \t]*[:=][ \t]*(["']?)(.{1,300}?)\2[ \t]*$""", re.MULTILINE | re.IGNORECASE
)
_DEFINITION = re.compile(r"^( {0,3}\[[^\]\n^]{1,200}\]:[ \t]+<?)([^\s<>]{1,2000})", re.MULTILINE)


def markdown(body: bytes, url: str, charset: str) -> Extracted:
    """Markdown without its comments and front matter, with absolute links. The title is that of the front matter, or
    the first heading of the first level."""
    words = without_comments(decode(body, charset).removeprefix("\ufeff")).strip()
    fields: dict[str, str] = {}
    if matter := _FRONT_MATTER.match(words):
        for field in _FIELD.finditer(matter[2]):
            name, _, value = field.groups()
            fields[name.lower()] = value.strip()
        if fields:
            words = words[matter.end() :].strip()
    title = fields.get("title") or _first_heading(words)
    day = day_of(fields.get("date", ""))
    return Extracted(title, _with_absolute_links(words, url), day or None)


def _first_heading(words: str) -> str:
    heading = _HEADING.search(words)
    return plain(heading[1] or heading[2]) if heading else ""


def _with_absolute_links(words: str, url: str) -> str:
    """Markdown whose relative links lead where they do on the site. Those in code are no links."""
    if not url:
        return words

    def absolute(link: re.Match[str]) -> str:
        return _absolute(link, url)

    pieces = []
    done = 0
    end_of_text = (len(words), len(words))
    for start, end in (*code_pieces(words), end_of_text):
        prose = LINK.sub(absolute, words[done:start])
        pieces.append(_DEFINITION.sub(absolute, prose))
        pieces.append(words[start:end])
        done = end
    return "".join(pieces)


def _absolute(link: re.Match[str], url: str) -> str:
    """A link or a definition of one, whose second group is the target, with an absolute target."""
    target = link[2]
    has_scheme = ":" in target.partition("/")[0]
    if has_scheme or target.startswith(("#", "<")):
        return link[0]
    start, end = (place - link.start() for place in link.span(2))
    try:
        return f"{link[0][:start]}{urljoin(url, target)}{link[0][end:]}"
    except ValueError:
        return link[0]


def day_of(text: str) -> str:
    """The day of a date in ISO 8601 or RFC 5322, in ISO 8601; "" if it is neither."""
    from email.utils import parsedate_to_datetime

    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).date().isoformat()
        except (ValueError, OverflowError):  # of a zone that is years away
            continue
    return ""


# --- JSON and tables ---


def json_text(body: bytes, url: str, charset: str) -> Extracted:
    """JSON as indented code. Invalid JSON becomes plain text."""
    encoder = json.JSONEncoder(indent=2, ensure_ascii=False)
    try:
        value = parse_strict_json(decode(body, charset))
        indented = "".join(until_too_long(encoder.iterencode(value)))
    except (ValueError, RecursionError):
        return text(body, url, charset)
    title = _title(value) if isinstance(value, dict) else ""
    return Extracted(title, f"```json\n{indented}\n```", None)


def _title(value: dict[str, Any]) -> str:
    for key in ("title", "name"):
        if isinstance(name := value.get(key), str):
            return " ".join(name.split())
    return ""


_QUOTED = re.compile(r'"[^"]*"')
_MOST_CELLS = 2_000_000
_DELIMITERS = ",;\t|"


def csv_table(body: bytes, url: str, charset: str) -> Extracted:
    """A Markdown table with the first row as its header. Text that cannot be parsed becomes plain text."""
    words = decode(body, charset).strip()
    first = _QUOTED.sub("", words.partition("\n")[0])
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = list(filter(any, csv.reader(StringIO(words, newline=""), delimiter=delimiter)))
    except csv.Error:
        rows = []
    width = max(map(len, rows), default=0)
    has_columns = bool(rows) and len(rows[0]) >= 2
    if not has_columns or width * len(rows) > _MOST_CELLS:
        return Extracted("", words, None)
    lines = list(until_too_long(_table_lines(rows, width)))
    lines.insert(1, f"{rule_line(width)}\n")
    return Extracted("", "".join(lines).strip(), None)


def _table_lines(rows: Iterable[Sequence[str]], width: int) -> Iterator[str]:
    for row in rows:
        missing = [""] * (width - len(row))
        cells = [*map(as_cell, row), *missing]
        yield f"{row_line(cells)}\n"
