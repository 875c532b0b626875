"""Text formats: plain text, Markdown, JSON, and tables with a separator such as a comma."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

from websearch_gateway.net.decode import decode
from websearch_gateway.readers.cleaning import until_too_long
from websearch_gateway.readers.extraction.extract import Extracted
from websearch_gateway.text.markdown import without_comments

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
    return Extracted(_named(value), f"```json\n{indented}\n```", None)


def _named(value: Any) -> str:
    names = (value.get(key) for key in ("title", "name")) if isinstance(value, dict) else ()
    return next((" ".join(name.split()) for name in names if isinstance(name, str)), "")


def csv_table(body: bytes, url: str, charset: str) -> Extracted:
    """A Markdown table with the first row as its header. Text that cannot be parsed becomes plain text."""
    words = decode(body, charset).strip()
    first = _QUOTED.sub("", words.partition("\n")[0])
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        rows = [row for row in csv.reader(words.splitlines(keepends=True), delimiter=delimiter) if any(row)]
    except csv.Error:
        rows = []
    width = max(map(len, rows), default=0)
    if not rows or len(rows[0]) < 2 or width * len(rows) > _MOST_CELLS:
        return Extracted("", words, None)
    lines = [*until_too_long(f"| {' | '.join(map(_cell, row + [''] * (width - len(row))))} |\n" for row in rows)]
    return Extracted("", "".join([lines[0], "|" + " --- |" * width + "\n", *lines[1:]]).strip(), None)


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|")
