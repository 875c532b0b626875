"""Reads pages for the crawler: their text, links and directives. Pure; runs in a worker process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import urldefrag, urljoin

from websearch_gateway.base import LINK, decode, strip_invisible_characters, without_live_parts
from websearch_gateway.models import Extracted
from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import page
from websearch_gateway.pages.extraction.extract import extract_from

T = TypeVar("T")

MOST_LINKS = 5_000
_FARTHEST = (
    200_000  # range in characters to search for a moved line: cleaning moves text only a little
)
_CRAWLERS = ("robots", "websearch-gateway")
_HOMEPAGE = re.compile(r"""\bhomepage:\s{0,9}["']([\w./-]{1,200}\.md)["']""")
_NEIGHBOURS = frozenset(("next", "prev"))
"""The relations of `<link>` that lead to further pages."""
_DOCSIFY_LINK = re.compile(r"#/([^?#]*)")
# Within ten seconds: a page that is read for longer is a page.
_REFRESH = re.compile(
    r"""\s*\d?(?:\.\d*)?\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s]+)["']?\s*""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """`links` are absolute, without fragments, in their order; `canonical` is "" if the page names none.
    `refresh` is where the page sends its readers at once, "" if they stay.

    `noindex` and `nofollow` are the page's directives (https://www.robotstxt.org/meta.html). `needs_scripts`: the
    page is nearly empty until its scripts run.
    """

    title: str
    markdown: str
    anchors: rendering.Anchors = ()
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


def crawled_text(
    convert: Callable[[bytes, str, str], Extracted], body: bytes, url: str, charset: str
) -> CrawledPage:
    """Read a document of another kind with its converter. The links are those in its Markdown."""
    read = convert(body, url, charset)
    targets = (_absolute(url, match[2]) for match in LINK.finditer(read.markdown))
    links = tuple(islice(dict.fromkeys(filter(None, targets)), MOST_LINKS))
    return _cleaned(CrawledPage(read.title, read.markdown, read.anchors, links), url)


def crawled_html(body: bytes, url: str, charset: str) -> CrawledPage:
    """Read an HTML page."""
    from websearch_gateway.pages.needs_scripts import has_little_text, needs_scripts

    root = page.parse(decode(body, charset), plain=True)
    if root is None:
        return CrawledPage("", "")
    crawled = _directives_and_links(root, url)
    if crawled.noindex or crawled.refresh:
        return crawled
    extracted = extract_from(root, url, thorough=False)
    markdown, waits = (
        extracted.markdown,
        has_little_text(extracted.markdown) and needs_scripts(body, url, charset),
    )
    read = replace(
        crawled,
        title=extracted.title,
        markdown=markdown,
        anchors=extracted.anchors,
        needs_scripts=waits,
    )
    return _cleaned(read, url)


def followed_html(body: bytes, url: str, charset: str) -> CrawledPage:
    """Read only the links of an HTML page; the result has no text."""
    root = page.parse(decode(body, charset), plain=True)
    return CrawledPage("", "") if root is None else _directives_and_links(root, url)


def refresh_of(body: bytes, url: str, charset: str) -> str:
    """Where an HTML page sends its readers at once; "" if they stay."""
    root = page.parse(decode(body, charset), plain=True)
    return "" if root is None else next(_refreshes(root, page.base_of(root, url)), "")


def _directives_and_links(root: Any, url: str) -> CrawledPage:
    """The links and directives of the markup, without text."""
    base = page.base_of(root, url)
    crawlers = (
        one for one in root.iter("meta") if one.get("name", "").strip().lower() in _CRAWLERS
    )
    rules = {word.strip().lower() for one in crawlers for word in one.get("content", "").split(",")}
    canonical = [
        one.get("href")
        for one in root.iter("link")
        if "canonical" in one.get("rel", "").lower().split()
    ]
    # A shell that shows this file.
    if (docsify := _docsify(root)) and url.endswith(("/", "/index.html")):
        canonical = [_HOMEPAGE.findall(docsify)[0] if _HOMEPAGE.search(docsify) else "README.md"]
    return CrawledPage(
        title="",
        markdown="",
        links=tuple(_links(root, base)),
        canonical=next((_absolute(base, href) for href in canonical if href), ""),
        refresh=next(_refreshes(root, base), ""),
        noindex=bool(rules & {"noindex", "none"}),
        nofollow=bool(rules & {"nofollow", "none"}),
    )


def _cleaned(read: CrawledPage, url: str) -> CrawledPage:
    """The page with sanitised text, and its anchors moved to the new places of their lines."""
    title, _ = strip_invisible_characters(read.title)
    markdown, _ = without_live_parts(read.markdown, url)
    anchors, at = list(read.anchors) if markdown == read.markdown else [], 0
    for offset, anchor in read.anchors if markdown != read.markdown else ():
        end = read.markdown.find("\n", offset)
        line = read.markdown[offset : end if end >= 0 else None]
        found = markdown.find(line, at, at + _FARTHEST) if line else -1
        if found >= 0:
            at = found
            anchors.append((found, anchor))
    return replace(read, title=title, markdown=markdown, anchors=tuple(anchors))


def _refreshes(root: Any, base: str) -> Iterator[str]:
    """The targets of `<meta http-equiv="refresh">`, which moves readers of static sites to a page's new address."""
    for element in root.iter("meta"):
        if (
            element.get("http-equiv", "").strip().lower() != "refresh"
            or next(element.iterancestors("noscript"), None) is not None
        ):
            continue
        if (found := _REFRESH.fullmatch(element.get("content", ""))) and (
            target := _absolute(base, found[1])
        ):
            yield target


def _docsify(root: Any) -> str:
    """The script with the settings of a docsify site; "" on other sites."""
    return next((one.text for one in root.iter("script") if "$docsify" in (one.text or "")), "")


def _links(root: Any, base: str) -> Iterator[str]:
    seen: set[str] = set()
    written: set[str] = set()
    if docsify := _docsify(root):  # its scripts show Markdown files, of which these are the first
        names = ("README.md", "_sidebar.md")[: 1 + ("loadSidebar" in docsify)]
        seen = {_absolute(base, name) for name in names}
        yield from sorted(seen)
    # Rendered.
    is_docsify = docsify or any(
        "markdown-section" in one.get("class", "") for one in root.iter("article")
    )
    for element in root.iter("a", "area", "frame", "iframe", "link"):
        if element.tag == "link" and not _NEIGHBOURS.intersection(
            element.get("rel", "").lower().split()
        ):
            continue
        target = element.get("src") if element.tag in ("frame", "iframe") else element.get("href")
        if is_docsify and (place := _DOCSIFY_LINK.match(target or "")):
            target = (
                f"{place[1]}README.md"
                if place[1].endswith("/") or not place[1]
                else f"{place[1]}.md"
            )
        if not target or "nofollow" in element.get("rel", "").lower().split():
            continue
        # Most links of an index differ only in their fragments.
        if (bare := target.partition("#")[0]) in written:
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
