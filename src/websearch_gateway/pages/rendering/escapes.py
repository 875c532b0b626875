"""Text and addresses of a page as Markdown: escapes, paragraphs, inline code, absolute links."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

BLANKS = re.compile(r"[ \t\r\n\f]+")

_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"
    r"|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)"
)
# Most text has none, and to look for them is faster than `_SPECIAL`.
_MAYBE_SPECIAL = re.compile(r"[\\`*_\]<&~]")
_LINE_STARTS = "#-+>=~|"
_LINE_START = re.compile(
    r"^(?:(\||(?:#{1,6}|[-+>]|={3,}|-{3,}|~{3,})(?=\s|$))|(\d{1,9})([.)])(?=\s|$))", re.MULTILINE
)


def escaped(text: str) -> str:
    """Text of the page with Markdown markup escaped and white space collapsed."""
    text = _collapsed(text)
    return _SPECIAL.sub(lambda mark: "\\" + mark[0], text) if _MAYBE_SPECIAL.search(text) else text


def _collapsed(text: str) -> str:
    return text if text.isprintable() and "  " not in text else BLANKS.sub(" ", text)


def as_paragraph(text: str) -> str:
    """Rendered text, escaped so that no line begins a block by accident."""
    if not text or text.isspace():
        return ""
    if "\n" in text:
        lines = (BLANKS.sub(" ", line).strip() for line in text.split("\n"))
        joined = "\n".join(line for line in lines if line)
    else:
        joined = _collapsed(text).strip()
        if joined[0] not in _LINE_STARTS and not joined[0].isdigit():
            return joined
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", joined)


def code_span(text: str) -> str:
    """Inline code, fenced by more backticks than it holds."""
    inner = _collapsed(text).strip()
    if not inner:
        return " " if text else ""
    longest = max((len(run) for run in re.findall(r"`+", inner)), default=0) if "`" in inner else 0
    mark, pad = "`" * (longest + 1), " " if "`" in inner else ""
    before, after = " " * (text[0].isspace()), " " * (text[-1].isspace())
    return f"{before}{mark}{pad}{inner}{pad}{mark}{after}"


_PLAIN_FRAGMENT = re.compile(r"[\w.~-]+", re.ASCII)
_LINKED_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))


def absolute(href: str | None, base: str) -> str:
    """The absolute URL of a link target, safe inside parentheses; "" if it is not a web address.

    Between files of this machine it is relative, so that no text names a folder.
    """
    if not href or href.strip() in ("", "#"):
        return ""
    place, mark, fragment = href.partition("#")
    # Many links differ in their fragments only.
    if mark and place and _PLAIN_FRAGMENT.fullmatch(fragment):
        return f"{target}#{fragment}" if (target := _absolute(place, base)) else ""
    return _absolute(href, base)


@lru_cache(maxsize=2_000)
def _absolute(href: str, base: str) -> str:
    try:
        url = urljoin(base, re.sub(r"[\t\r\n]", "", href.strip()))
        if (
            url.startswith("file:")
            and base.startswith("file:")
            and not urlsplit(href.strip()).scheme
        ):
            url = href.strip()
        elif urlsplit(url).scheme.lower() not in _LINKED_SCHEMES:
            return ""
    except ValueError:
        return ""
    return quote(url, safe="!#$%&'*+,-./:;=?@[]_~|^{}", encoding="utf-8", errors="replace")
