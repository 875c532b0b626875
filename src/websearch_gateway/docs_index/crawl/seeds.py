"""Parses the lists that a site publishes of its own pages: llms.txt, objects.inv, sitemaps, search indexes.

Pure. The lists are untrusted, so these functions run in a worker process.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from codecs import BOM_UTF8
from functools import cache, partial
from urllib.parse import urljoin

from websearch_gateway.text.markdown import LINK

MOST_URLS = 50_000
"""The most addresses that a sitemap may have (https://www.sitemaps.org/protocol.html)."""
MAX_INFLATED = 50_000_000
MAX_NAMES = 200_000

_GZIP = zlib.MAX_WBITS | 16  # as zlib names the format
_ENTRY = re.compile(r"(.+?)\s+(\S+:\S+)\s+-?\d+\s+(\S*)\s+.*")
_LOCATION = re.compile(rb"<(?:\w{1,20}:)?loc\b[^>]{0,200}>\s*+(?:<!\[CDATA\[)?([^<\]]{1,2000}+)")
_SITEMAP_INDEX = re.compile(rb"<(?:\w{1,20}:)?sitemapindex\b")
_DOCUMENT_NAMES = re.compile(r"""["']?docnames["']?\s{0,5}:\s{0,5}\[([^\]]*+)\]""")
_QUOTED = re.compile(r"""["']([^"'\\]{1,500}+)["']""")
_SITEMAP_LINE = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)


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
    places = _LOCATION.findall(body)[:MOST_URLS]
    return [(html.unescape(place.decode("utf-8", "replace").strip()), is_index) for place in places]


def llms_urls(text: str, base: str) -> list[str]:
    """The links of an llms.txt (https://llmstxt.org)."""
    return [urljoin(base, match[2]) for match in LINK.finditer(text)][:MOST_URLS]


def search_index_urls(body: bytes, base: str) -> list[str]:
    """The pages in the search index of a generator: Sphinx's `searchindex.js` or MkDocs' `search_index.json`.

    Both are what the site's own search page loads; neither has a published format.
    """
    text = body.decode("utf-8", "replace")
    if names := _DOCUMENT_NAMES.search(text[:MAX_INFLATED]):
        return [urljoin(base, f"{name}.html") for name in _QUOTED.findall(names[1])][:MOST_URLS]
    try:
        listed = json.loads(text)["docs"]
        places = [entry["location"].partition("#")[0] for entry in listed]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []
    return list(dict.fromkeys(urljoin(base, place) for place in places))[:MOST_URLS]


def inventory(body: bytes, base: str) -> list[tuple[str, str, str]]:
    """The names that a Sphinx inventory defines: name, address of the page, anchor. Documents and labels are left out.

    Version 2 (https://sphobjinv.readthedocs.io/en/stable/syntax.html); other versions give no names.
    """
    if not body.startswith(b"# Sphinx inventory version 2"):
        return []
    text = zlib.decompressobj().decompress(body.split(b"\n", 4)[4], MAX_INFLATED).decode("utf-8", "replace")
    found = []
    absolute = cache(partial(urljoin, base))  # a page has hundreds of names
    for line in text.splitlines()[:MAX_NAMES]:
        entry = _ENTRY.fullmatch(line)
        if entry is None or entry[2].startswith(("std:doc", "std:label", "std:term", "std:token")):
            continue
        name, role, place = entry[1], entry[2], entry[3]
        page, _, anchor = (place[:-1] + name if place.endswith("$") else place).partition("#")
        found.append((name.rpartition(" ")[2] if role.startswith("std:cmdoption") else name, absolute(page), anchor))
    return found
