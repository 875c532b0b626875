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
    read = replace(
        crawled,
        title=extracted.title,
        markdown=extracted.markdown,
        anchors=extracted.anchors,
        needs_scripts=has_little_text(extracted.markdown) and needs_scripts(body, url, charset),
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
    rules = _robots_rules(root)
    canonical = next((_absolute(base, target) for target in _canonicals(root, url)), "")
    return CrawledPage(
        title="",
        markdown="",
        links=tuple(_links(root, base)),
        canonical=canonical,
        refresh=next(_refreshes(root, base), ""),
        noindex=not rules.isdisjoint(("noindex", "none")),
        nofollow=not rules.isdisjoint(("nofollow", "none")),
    )


def _robots_rules(root: Any) -> set[str]:
    """The words of the page's rules for crawlers (https://www.robotstxt.org/meta.html)."""
    rules: set[str] = set()
    for meta in root.iter("meta"):
        if meta.get("name", "").strip().lower() in _CRAWLERS:
            rules.update(word.strip().lower() for word in meta.get("content", "").split(","))
    return rules


def _canonicals(root: Any, url: str) -> Iterator[str]:
    """Where the page says that its text belongs; for the shell of docsify, the file that it shows."""
    settings = _docsify_settings(root)
    if settings and url.endswith(("/", "/index.html")):
        homepage = _HOMEPAGE.search(settings)
        yield homepage[1] if homepage else "README.md"
        return
    for link in root.iter("link"):
        if "canonical" in link.get("rel", "").lower().split() and link.get("href"):
            yield link.get("href")


def _cleaned(read: CrawledPage, url: str) -> CrawledPage:
    """The page with sanitised text, and its anchors moved to the new places of their lines."""
    title, _ = strip_invisible_characters(read.title)
    markdown, _ = without_live_parts(read.markdown, url)
    anchors = read.anchors
    if markdown != read.markdown:
        anchors = tuple(_moved(anchors, read.markdown, markdown))
    return replace(read, title=title, markdown=markdown, anchors=anchors)


def _moved(anchors: rendering.Anchors, before: str, after: str) -> Iterator[tuple[int, str]]:
    """The anchors whose lines are still in a text, at their new places."""
    place = 0
    for offset, anchor in anchors:
        end = before.find("\n", offset)
        line = before[offset : end if end >= 0 else None]
        line_place = after.find(line, place, place + _FARTHEST) if line else -1
        if line_place >= 0:
            place = line_place
            yield place, anchor


def _refreshes(root: Any, base: str) -> Iterator[str]:
    """The targets of `<meta http-equiv="refresh">`, which moves readers of static sites to a page's new address."""
    for meta in root.iter("meta"):
        if meta.get("http-equiv", "").strip().lower() != "refresh":
            continue
        if next(meta.iterancestors("noscript"), None) is not None:
            continue
        refresh = _REFRESH.fullmatch(meta.get("content", ""))
        target = _absolute(base, refresh[1]) if refresh else ""
        if target:
            yield target


def _docsify_settings(root: Any) -> str:
    """The script with the settings of a docsify site; "" on other sites."""
    for script in root.iter("script"):
        if "$docsify" in (script.text or ""):
            return str(script.text)
    return ""


def _links(root: Any, base: str) -> Iterator[str]:
    """The absolute addresses of a page's links, each once, without their fragments."""
    settings = _docsify_settings(root)
    links: set[str] = set()
    if settings:  # its scripts show Markdown files, of which these are the first
        names = ("README.md", "_sidebar.md") if "loadSidebar" in settings else ("README.md",)
        links = {_absolute(base, name) for name in names}
        yield from sorted(links)
    is_docsify = bool(settings) or _is_rendered_docsify(root)
    written: set[str] = set()
    for target in _targets(root):
        address = _docsify_file(target) if is_docsify else target
        # Most links of an index differ only in their fragments.
        bare = address.partition("#")[0]
        if bare in written:
            continue
        written.add(bare)
        link = _absolute(base, bare)
        if link and link not in links:
            links.add(link)
            yield link
            if len(links) == MOST_LINKS:
                return


def _targets(root: Any) -> Iterator[str]:
    """What the links and frames of a page lead to, but for links that crawlers are not to follow."""
    for element in root.iter("a", "area", "frame", "iframe", "link"):
        relations = element.get("rel", "").lower().split()
        if element.tag == "link" and _NEIGHBOURS.isdisjoint(relations):
            continue
        target = element.get("src" if element.tag in ("frame", "iframe") else "href")
        if target and "nofollow" not in relations:
            yield target


def _is_rendered_docsify(root: Any) -> bool:
    """Whether a browser has run the scripts of docsify."""
    return any("markdown-section" in article.get("class", "") for article in root.iter("article"))


def _docsify_file(target: str) -> str:
    """The Markdown file that a link of docsify shows: `#/guide` is `guide.md`, `#/` is `README.md`."""
    route = _DOCSIFY_LINK.match(target)
    if route is None:
        return target
    path = route[1]
    return f"{path}README.md" if not path or path.endswith("/") else f"{path}.md"


def _absolute(base: str, target: str) -> str:
    """The absolute URL of a link; "" if invalid."""
    try:
        return urldefrag(urljoin(base, target.strip())).url
    except ValueError:
        return ""
