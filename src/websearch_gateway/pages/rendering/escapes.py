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
    r"^(?:(?P<sign>\||(?:#{1,6}|[-+>]|={3,}|-{3,}|~{3,})(?=\s|$))|(?P<number>\d{1,9})(?P<dot>[.)])(?=\s|$))",
    re.MULTILINE,
)


def escaped(text: str) -> str:
    """Text of the page with Markdown markup escaped and white space collapsed."""
    text = _collapsed(text)
    if not _MAYBE_SPECIAL.search(text):
        return text
    return _SPECIAL.sub(lambda mark: "\\" + mark[0], text)


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
    return _LINE_START.sub(_as_text, joined)


def _as_text(start: re.Match[str]) -> str:
    """The beginning of a line with a backslash before the sign that would begin a block."""
    if sign := start["sign"]:
        return f"\\{sign}"
    return f"{start['number']}\\{start['dot']}"


def code_span(text: str) -> str:
    """Inline code, fenced by more backticks than it holds."""
    inner = _collapsed(text).strip()
    if not inner:
        return " " if text else ""
    before = " " if text[0].isspace() else ""
    after = " " if text[-1].isspace() else ""
    if "`" not in inner:
        return f"{before}`{inner}`{after}"
    mark = "`" * (max(map(len, _TICKS.findall(inner))) + 1)
    return f"{before}{mark} {inner} {mark}{after}"


_TICKS = re.compile("`+")
_PLAIN_FRAGMENT = re.compile(r"[\w.~-]+", re.ASCII)
_LINKED_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))


def absolute(href: str | None, base: str) -> str:
    """The absolute URL of a link target, safe inside parentheses; "" if it is not a web address.

    Between files of this machine it is relative, so that no text names a folder.
    """
    if not href or href.strip() in ("", "#"):
        return ""
    place, _, fragment = href.partition("#")
    # Many links differ in their fragments only.
    if place and _PLAIN_FRAGMENT.fullmatch(fragment):
        target = _absolute(place, base)
        return f"{target}#{fragment}" if target else ""
    return _absolute(href, base)


_LINE_FEEDS = re.compile(r"[\t\r\n]")


@lru_cache(maxsize=2_000)
def _absolute(href: str, base: str) -> str:
    href = href.strip()
    try:
        url = urljoin(base, _LINE_FEEDS.sub("", href))
        is_local = base.startswith("file:") and url.startswith("file:")
        if is_local and not urlsplit(href).scheme:
            url = href
        elif urlsplit(url).scheme.lower() not in _LINKED_SCHEMES:
            return ""
    except ValueError:
        return ""
    return quote(url, safe=_UNQUOTED, encoding="utf-8", errors="replace")


_UNQUOTED = "!#$%&'*+,-./:;=?@[]_~|^{}"
"""What stays as it is in an address; brackets and blanks would end a link."""
