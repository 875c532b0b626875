"""Parses the lists that a site publishes of its own pages: llms.txt, objects.inv, sitemaps, search indexes.

Pure. The lists are untrusted, so these functions run in a worker process, and so does the check of their addresses.
"""

from __future__ import annotations

import html
import io
import json
import re
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import islice
from urllib.parse import quote, urljoin, urlsplit

from websearch_gateway.docs_index.crawl.scope import Scope, canonical
from websearch_gateway.text.markdown import LINK

MOST_URLS = 50_000
"""The most addresses that a sitemap may have (https://www.sitemaps.org/protocol.html)."""
MAX_INFLATED = 50_000_000
MAX_NAMES = 200_000
MAX_LINE_CHARS = 2_000
"""The most characters of a line of an inventory; longer lines are skipped."""

Defined = dict[str, list[tuple[str, str]]]
"""The definitions of an inventory: names and anchors by the address of their page."""

FULL_TEXT = "llms-full.txt"
MAX_HEAD_CHARS = 600
"""How far from the start of a page of a llms-full.txt its address may stand."""
_HEADING = re.compile(r"(#{1,2})[ \t]+(\S[^\n]{0,300})")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")
_CLOSING = re.compile(r"[ ]{0,3}(`{3,}+|~{3,}+)\s*$")
_FRONT = re.compile(r"---[ \t]*\n(?:[\w-]{1,40}:[^\n]{0,500}\n){1,20}---")
_NAMED_URL = re.compile(
    r"^(?:[>*_ \t]{0,6})(?:source|url|canonical|page url|link)(?: url)?[*_]{0,2}:[*_]{0,2}[ \t]*[\"'<]?((?:https?://|/)[^\s\"'>]+)",
    re.IGNORECASE | re.MULTILINE,
)
_URL_IN_TITLE = re.compile(r"\(((?:https?://|/)[^\s()]+)\)\s*$")
_NO_SLUG = re.compile(r"[\W_]+")

_GZIP = zlib.MAX_WBITS | 16  # as zlib names the format
# Linear: each word begins one attempt, which ends within the next two words.
_ENTRY = re.compile(r"(\S.*?)(?<!\s)\s++([^\s:]++:\S++)\s++-?\d++\s++(\S*+)\s")
_PROGRAM = re.compile(r".*(?:\s|\.(?=-))")  # before an option: `git commit --amend`, `migrate.--fake`
_LOCATION = re.compile(rb"<(?:\w{1,20}:)?loc\b[^<>]{0,200}+>\s*+(?:<!\[CDATA\[)?([^<\]]{1,2000}+)")
_SITEMAP_INDEX = re.compile(rb"<(?:\w{1,20}:)?sitemapindex\b")
_DOCUMENT_NAMES = re.compile(r"""["']?docnames["']?\s{0,5}:\s{0,5}\[""")
_QUOTED = re.compile(r"""["']([^"'\\]{1,500}+)["']""")
_SITEMAP_LINE = re.compile(r"^[^\S\n]*+sitemap[^\S\n]*+:[^\S\n]*+(\S++)", re.IGNORECASE | re.MULTILINE)


def pages_in(scope: Scope, base: str, urls: Callable[..., Iterable[str]], *arguments: object) -> list[str]:
    """The canonical addresses, each once, of the pages in scope that `urls(*arguments)` gives relative to `base`."""
    return list(dict.fromkeys(page for url in urls(*arguments) if (page := scope.link(base, url))))


def sitemap_in(scope: Scope, body: bytes) -> tuple[list[str], list[str]]:
    """The pages of a sitemap as in `pages_in`, and the further sitemaps on the same origin that it names."""
    listed = sitemap_urls(body)
    further = [url for url, is_sitemap in listed if is_sitemap and origin(url) == scope.origin]
    return pages_in(scope, scope.origin, lambda: [url for url, is_sitemap in listed if not is_sitemap]), further


def definitions_in(scope: Scope, body: bytes, folder: str) -> Defined:
    """The definitions of the inventory of `folder`, by the canonical addresses of the pages in scope."""
    page_of = cache(partial(scope.link, folder))  # a page has hundreds of names
    found: Defined = {}
    for name, url, anchor in inventory(body, folder):
        if page := page_of(url):
            found.setdefault(page, []).append((name, anchor))
    return found


def robots_sitemaps(robots: str) -> list[str]:
    """The sitemaps that a robots.txt names (RFC 9309, section 2.2.4)."""
    return _SITEMAP_LINE.findall(robots)[:50]


def sitemap_urls(body: bytes) -> list[tuple[str, bool]]:
    """The addresses in a sitemap, XML or text, each with whether it is a further sitemap. It may be compressed."""
    if body.startswith(b"\x1f\x8b"):
        body = zlib.decompressobj(_GZIP).decompress(body, MAX_INFLATED)
    if body.removeprefix(BOM_UTF8).startswith((b"http://", b"https://")):
        lines = body.decode("utf-8-sig", "replace").split()
        return [(line, False) for line in lines[:MOST_URLS]]
    is_index = bool(_SITEMAP_INDEX.search(body[:2_000]))
    places = islice(_LOCATION.finditer(body), MOST_URLS)
    return [(html.unescape(place[1].decode("utf-8", "replace").strip()), is_index) for place in places]


def llms_urls(text: str, base: str) -> list[str]:
    """The links of an llms.txt (https://llmstxt.org)."""
    return [_joined(base, match[2]) for match in islice(LINK.finditer(text), MOST_URLS)]


def full_text_in(scope: Scope, body: bytes, base: str) -> list[tuple[str, int, int]]:
    """The pages in a llms-full.txt: their addresses, and where their text begins and ends in the decoded body.

    A page without an address of its own in scope gets one below that of the file, `base`.
    """
    found: dict[str, tuple[int, int]] = {}
    taken: Counter[str] = Counter()
    for title, url, start, stop in full_text_pages(body.decode("utf-8-sig", "replace")):
        address = scope.link(base, url) if url else ""
        slug = quote(_NO_SLUG.sub("-", title.lower()).strip("-")[:80]) or "page"
        while not address or address in found:
            taken[slug] += 1
            address = f"{base}!/{slug}{f'-{taken[slug]}' if taken[slug] > 1 else ''}"
        if scope.contains(address):
            found[address] = start, stop
    return [(address, *place) for address, place in found.items()]


def full_text_pages(text: str) -> list[tuple[str, str, int, int]]:
    """The pages of a llms-full.txt: title, address as written ("" if none is given), start and stop.

    A page begins at a heading of the highest level in the file, or at the front matter before it. There is no standard:
    generators write the address as `Source: URL` or `URL: URL` below the heading, in front matter, or in the heading.
    """
    starts: list[tuple[int, int, int, str]] = []
    offset, fence, front = 0, "", -1
    lines = text.splitlines(keepends=True)
    openings = _openings(lines)
    for number, line in enumerate(lines):
        if fence:
            fence = "" if (closing := _CLOSING.match(line)) and closing[1].startswith(fence) else fence
        elif number in openings and (opening := _FENCE.match(line)):
            fence = opening[1]
        elif line.rstrip() == "---" and _FRONT.match(text, offset):
            front = offset
        elif heading := _HEADING.match(line):
            starts.append((len(heading[1]), front if front >= 0 else offset, offset, heading[2]))
            front = -1
        offset += len(line)
    levels = Counter(level for level, *_ in starts)
    level = 1 if levels[1] > 1 or not levels[2] else 2
    chosen = [found[1:] for found in starts if found[0] == level][:MOST_URLS]
    stops = [*(place for place, *_ in chosen[1:]), len(text)][: len(chosen)]
    pages = []
    for (place, start, title), stop in zip(chosen, stops, strict=True):
        named = _NAMED_URL.search(text, place, min(stop, start + MAX_HEAD_CHARS))
        in_title = _URL_IN_TITLE.search(title)
        url = named[1] if named else in_title[1] if in_title else ""
        pages.append((title, url.strip("<>"), start, stop))
    return pages


def _openings(lines: list[str]) -> set[int]:
    """The lines with a fence that a later line closes (https://spec.commonmark.org/0.31.2/#fenced-code-blocks)."""
    found = set()
    longest: Counter[str] = Counter()
    for number in range(len(lines) - 1, -1, -1):
        if mark := _FENCE.match(lines[number]):
            kind, length = mark[1][0], len(mark[1])
            if length <= longest[kind]:
                found.add(number)
            if _CLOSING.match(lines[number]):
                longest[kind] = max(longest[kind], length)
    return found


def search_index_urls(body: bytes, base: str) -> list[str]:
    """The pages in the search index of a generator: Sphinx's `searchindex.js` or MkDocs' `search_index.json`.

    Both are what the site's own search page loads; neither has a published format.
    """
    text = body.decode("utf-8", "replace")
    if opening := _DOCUMENT_NAMES.search(text):
        end = text.find("]", opening.end())
        names = _QUOTED.finditer(text, opening.end(), max(end, opening.end()))
        return [_joined(base, f"{name[1]}.html") for name in islice(names, MOST_URLS)]
    try:
        listed = json.loads(text)["docs"]
        places = [entry["location"].partition("#")[0] for entry in listed]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    return list(dict.fromkeys(_joined(base, place) for place in places[:MOST_URLS]))


def inventory(body: bytes, base: str) -> list[tuple[str, str, str]]:
    """The names that a Sphinx inventory defines: name, address of the page, anchor. Documents and labels are left out.

    Version 2 (https://sphobjinv.readthedocs.io/en/stable/syntax.html); other versions give no names.
    """
    if not body.startswith(b"# Sphinx inventory version 2"):
        return []
    text = zlib.decompressobj().decompress(body.split(b"\n", 4)[4], MAX_INFLATED).decode("utf-8", "replace")
    found = []
    absolute = cache(partial(_joined, base))  # a page has hundreds of names
    for line in islice(io.StringIO(text), MAX_NAMES):
        entry = _ENTRY.match(line) if len(line) <= MAX_LINE_CHARS else None
        if entry is None or entry[2].startswith(("std:doc", "std:label", "std:term", "std:token")):
            continue
        name, role, place = entry[1], entry[2], entry[3]
        page, _, anchor = (place[:-1] + name if place.endswith("$") else place).partition("#")
        if role.startswith("std:cmdoption"):
            name = _PROGRAM.sub("", name)
        found.append((name, absolute(page), anchor))
    return found


def _joined(base: str, target: str) -> str:
    """The absolute address of `target`; a malformed one stays as it is."""
    try:
        return urljoin(base, target)
    except ValueError:
        return target


def origin(url: str) -> str:
    parts = urlsplit(canonical(url))
    return f"{parts.scheme}://{parts.netloc}"
