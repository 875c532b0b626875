"""A page for the crawler: its text, links and robots directives. Pure; runs in a worker process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urldefrag, urljoin

from websearch_gateway.net.bodies import decode
from websearch_gateway.readers.extraction import page
from websearch_gateway.readers.extraction.extract import Extracted, extract_from
from websearch_gateway.readers.extraction.render import Anchors
from websearch_gateway.readers.formats.html import has_little_text, needs_scripts
from websearch_gateway.text.markdown import LINK
from websearch_gateway.text.sanitise import strip_invisible_characters, without_live_parts

T = TypeVar("T")

MOST_LINKS = 5_000
_FARTHEST = 200_000  # range in characters to search for a moved line: cleaning moves text only a little
_CRAWLERS = ("robots", "websearch-gateway")
# Within ten seconds: a page that is read for longer is a page.
_REFRESH = re.compile(r"""\s*\d?(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s]+)["']?\s*""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """`links` are absolute, without fragments, in their order; `canonical` is "" if the page names none.
    `refresh` is where the page sends its readers at once, "" if they stay.

    `noindex` and `nofollow` are the page's directives (https://www.robotstxt.org/meta.html). `needs_scripts`: the
    page is nearly empty until its scripts run.
    """

    title: str
    markdown: str
    anchors: Anchors = ()
    links: tuple[str, ...] = ()
    canonical: str = ""
    refresh: str = ""
    noindex: bool = False
    nofollow: bool = False
    needs_scripts: bool = False


def crawled(
    read: Callable[[bytes, str, str], CrawledPage],
    draft: Callable[[CrawledPage], T],
    body: bytes,
    url: str,
    charset: str,
) -> T:
    """What `draft` makes of the page that `read` reads, in one call of a worker."""
    return draft(read(body, url, charset))


def crawled_text(convert: Callable[[bytes, str, str], Extracted], body: bytes, url: str, charset: str) -> CrawledPage:
    """Read a document of another kind with its converter. The links are those in its Markdown."""
    read = convert(body, url, charset)
    targets = (_absolute(url, match[2]) for match in LINK.finditer(read.markdown))
    links = tuple(islice(dict.fromkeys(filter(None, targets)), MOST_LINKS))
    return _cleaned(CrawledPage(read.title, read.markdown, read.anchors, links), url)


def crawled_html(body: bytes, url: str, charset: str) -> CrawledPage:
    """Read an HTML page."""
    root = page.parse(decode(body, charset), plain=True)
    if root is None:
        return CrawledPage("", "")
    crawled = _directives_and_links(root, url)
    if crawled.noindex or crawled.refresh:
        return crawled
    extracted = extract_from(root, url, thorough=False)
    read = replace(crawled, title=extracted.title, markdown=extracted.markdown, anchors=extracted.anchors)
    if has_little_text(read.markdown) and needs_scripts(body, url, charset):
        read = replace(read, needs_scripts=True)
    return _cleaned(read, url)


def followed_html(body: bytes, url: str, charset: str) -> CrawledPage:
    """Read only the links of an HTML page; the result has no text."""
    root = page.parse(decode(body, charset), plain=True)
    return CrawledPage("", "") if root is None else _directives_and_links(root, url)


def _directives_and_links(root: Any, url: str) -> CrawledPage:
    """The links and directives of the markup, without text."""
    base = page.base_of(root, url)
    rules = {word.strip().lower() for content in _crawler_directives(root) for word in content.split(",")}
    return CrawledPage(
        title="",
        markdown="",
        links=tuple(_links(root, base)),
        canonical=next((_absolute(base, e.get("href")) for e in root.iter("link") if _is_canonical(e)), ""),
        refresh=next(_refreshes(root, base), ""),
        noindex=bool(rules & {"noindex", "none"}),
        nofollow=bool(rules & {"nofollow", "none"}),
    )


def _cleaned(read: CrawledPage, url: str) -> CrawledPage:
    """The page with sanitised text, and its anchors moved to the new places of their lines."""
    title, _ = strip_invisible_characters(read.title)
    markdown, _ = without_live_parts(read.markdown, url)
    anchors = read.anchors if markdown == read.markdown else tuple(_moved(read, markdown))
    return replace(read, title=title, markdown=markdown, anchors=anchors)


def _moved(read: CrawledPage, markdown: str) -> Iterator[tuple[int, str]]:
    at = 0
    for offset, anchor in read.anchors:
        end = read.markdown.find("\n", offset)
        line = read.markdown[offset : end if end >= 0 else None]
        found = markdown.find(line, at, at + _FARTHEST) if line else -1
        if found >= 0:
            at = found
            yield found, anchor


def _crawler_directives(root: Any) -> Iterator[str]:
    for element in root.iter("meta"):
        if element.get("name", "").strip().lower() in _CRAWLERS:
            yield element.get("content", "")


def _refreshes(root: Any, base: str) -> Iterator[str]:
    """The targets of `<meta http-equiv="refresh">`, which moves readers of static sites to a page's new address."""
    for element in root.iter("meta"):
        if element.get("http-equiv", "").strip().lower() != "refresh" or any(element.iterancestors("noscript")):
            continue
        if (found := _REFRESH.fullmatch(element.get("content", ""))) and (target := _absolute(base, found[1])):
            yield target


def _is_canonical(element: Any) -> bool:
    return "canonical" in element.get("rel", "").lower().split() and bool(element.get("href"))


def _links(root: Any, base: str) -> Iterator[str]:
    seen: set[str] = set()
    written: set[str] = set()
    for element in root.iter("a", "area", "frame", "iframe"):
        target = element.get("src") if element.tag in ("frame", "iframe") else element.get("href")
        if not target or "nofollow" in element.get("rel", "").lower().split():
            continue
        if (bare := target.partition("#")[0]) in written:  # most links of an index differ only in their fragments
            continue
        written.add(bare)
        if (link := _absolute(base, bare)) and link not in seen:
            seen.add(link)
            yield link
            if len(seen) == MOST_LINKS:
                return


def _absolute(base: str, target: str) -> str:
    """The absolute URL of a link; "" if invalid."""
    try:
        return urldefrag(urljoin(base, target.strip())).url
    except ValueError:
        return ""
