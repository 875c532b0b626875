"""Finds the Markdown version of a page, without extra requests.

Nothing is guessed, so an ordinary page costs no further request. A page's Markdown is known if

- the page says so, in a `Link` header (RFC 8288) or its head: `<link rel="alternate" type="text/markdown" href=...>`;
- or the `llms.txt` of its site was read before and lists the address that https://llmstxt.org gives it: the page's
  address with `.md` appended, or with `index.html.md` if it names no file.

Only addresses of the same origin count, since a page cannot speak for another site. Only a text with the words of the
page counts: some sites name their `llms.txt` as the Markdown of every page.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Callable, Iterator
from urllib.parse import urldefrag, urljoin, urlsplit

from cachetools import TTLCache

from websearch_gateway.net.fetch import Fetched

HEAD_BYTES = 65_536
LIST_BYTES = 1_000_000
KEPT_SECONDS = 86_400.0
MOST_LISTED = 2_000
MOST_COMPARED = 20_000
_SITES = 32
_SHARE_OF_WORDS = 0.6
_WORD = re.compile(r"\w{4,}")
_TYPE = "text/markdown"
# Each of these patterns is linear in its input.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINK_TAG = re.compile(r"<link\s([^<>]{1,2000})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w-])([\w-]++)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_LINK_HEADER = re.compile(r"<([^<>]{1,2000})>([^<>]*)")
_LISTED = re.compile(r"\]\(\s*<?([^\s()<>]{1,1000}\.md)>?\s*[)\s]")


class MarkdownSiblings:
    """Finds the Markdown of pages. Remembers the latest sites whose `llms.txt` it saw.

    Args:
        clock: seconds on a monotonic clock.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._listed: TTLCache[str, frozenset[str]] = TTLCache(_SITES, KEPT_SECONDS, clock)

    def learn(self, page: Fetched) -> None:
        """Remember the links of `page`, if it is an `llms.txt`."""
        if not urlsplit(page.final_url).path.endswith("/llms.txt"):
            return
        text = page.body[:LIST_BYTES].decode("utf-8", "replace")
        found = {_absolute(page.final_url, link[1]) for link in _LISTED.finditer(text)}
        origin = _origin(page.final_url)
        listed = {url for url in found if url and _origin(url) == origin} | self._listed.get(origin, frozenset())
        self._listed[origin] = frozenset(sorted(listed)[:MOST_LISTED])

    def of(self, page: Fetched) -> str | None:
        """The address of the Markdown of `page`, an HTML page; None if unknown."""
        own, origin = urldefrag(page.final_url).url, _origin(page.final_url)
        for url in (*_from_headers(page), *_from_head(page), *self._from_list(own, origin)):
            if url and url != own and _origin(url) == origin:
                return url
        return None

    def _from_list(self, own: str, origin: str) -> Iterator[str]:
        listed = self._listed.get(origin, frozenset())
        path = urlsplit(own).path
        names = ("index.html.md", "index.md") if path.endswith("/") else (".md",)
        candidates = [own + name for name in names] + [re.sub(r"\.html?$", ".md", own)]
        yield from (url for url in candidates if url in listed)


def is_same_text(page: str, sibling: str) -> bool:
    """Whether `sibling` has most of the words of `page`. Compares only the beginning of long texts."""
    words = set(_WORD.findall(page[:MOST_COMPARED].lower()))
    return len(words & set(_WORD.findall(sibling[: 2 * MOST_COMPARED].lower()))) >= _SHARE_OF_WORDS * len(words)


def _from_headers(page: Fetched) -> Iterator[str]:
    for target, parameters in _LINK_HEADER.findall(page.headers.get("link", "")):
        if _TYPE in parameters and "alternate" in parameters:
            yield _absolute(page.final_url, target)


def _from_head(page: Fetched) -> Iterator[str]:
    if _TYPE.encode() not in (head := page.body[:HEAD_BYTES]):
        return
    text = _COMMENT.sub("", head.decode("utf-8", "replace"))
    for tag in _LINK_TAG.findall(re.split("<body", text, maxsplit=1, flags=re.IGNORECASE)[0]):
        values = {name.lower(): html.unescape("".join(value)) for name, *value in _ATTRIBUTE.findall(tag)}
        if values.get("type", "").lower() == _TYPE and "alternate" in values.get("rel", "").lower().split():
            yield _absolute(page.final_url, values.get("href", ""))


def _absolute(base: str, link: str) -> str:
    """The absolute URL of a link; empty if invalid."""
    try:
        return urldefrag(urljoin(base, link.strip())).url
    except ValueError:
        return ""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
