"""Extracts the title, date and main text from the HTML of a page. Pure; runs in a worker process.

The filter chooses the blocks of the main text in the original DOM; the others are blanked in place, and the rest is
rendered. So code, tables, nested lists and links survive, while other extractors simplify them. If the choice
is not clear, and on a page that declares itself an article, for which trafilatura is made, a second filter judges each
block by trafilatura's choice and by what the first one says of the blocks around it. Very large pages skip trafilatura
to stay fast.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, islice, takewhile
from typing import TYPE_CHECKING, Any

from websearch_gateway.net.bodies import charset_of, decode
from websearch_gateway.readers.extraction.blocks import Container, Outline
from websearch_gateway.readers.extraction.page import AROUND_A_POST, POST
from websearch_gateway.readers.extraction.render import Anchors, is_data

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from websearch_gateway.readers.extraction.blocks import Measures

    Floats = NDArray[np.floating]
    Ints = NDArray[np.intp]
    Mask = NDArray[np.bool_]


SECOND_OPINION_ELEMENTS = 5_000
"""Above this many elements the block filter decides alone: trafilatura would take most of the time and help little."""

SECOND_OPINION_DEPTH = 100
"""On a page with more nested elements than this the filter decides alone: trafilatura takes quadratic time over tables
in tables. The deepest of a thousand real pages has 56 levels."""

MOST_JUDGED_BLOCKS = 30_000
"""A page with more blocks is kept whole: the filter needs 6 kB and 15 µs per block."""

_AROUND_POSTS = frozenset({AROUND_A_POST, "ItemDiscussion", "Comment", "Discussion"})

TOO_LONG = "The page has more than {:,} elements; the rest is left out."

UNSURE, SURE = 0.85, 0.95
"""The expected F1 from which on the block filter decides alone about a page that does not declare itself an article: a
page that is less than half prose, and any page."""

PROSE = 0.35
"""The least share of the kept words that are in unlinked paragraphs on a page of prose. On other pages trafilatura does
more harm than good."""

FOUND, FOUND_DECLARED = 0.7, 0.1
"""The least share of the kept words that trafilatura chose as well, or else it has failed: on any page, and on one that
declares itself an article."""

LONG = 25
"""The number of words from which on a block is a paragraph, and trafilatura's omission of it more often a mistake."""

SHORTEST = 5
"""The least number of words of a block whose place says where the text ends: shorter ones also stand elsewhere."""

_WRITTEN_WHOLE = ("td", "th", "pre")
"""The tags of blocks of which trafilatura writes several in one line, or in another form."""

MOSTLY = 0.5
"""The share of a block from which on it counts as found by trafilatura, and that of the words from which on trafilatura
knows where the text ends."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """`markdown` is empty when the page has no readable text. `published` is an ISO 8601 date.

    `warnings` lists problems for the reader, such as hidden text on the page. `anchors` are the ids
    of headings and terms, each with the offset in `markdown` at which its line begins.
    """

    title: str
    markdown: str
    published: str | None
    warnings: tuple[str, ...] = ()
    anchors: Anchors = ()


def extract(html: bytes | str, url: str, charset: str | None) -> Extracted:
    """The readable part of a page, as Markdown with absolute links.

    Args:
        url: the page's URL, to make its links absolute.
        charset: the Python codec of `html` if that is bytes; detected if None.
    """
    from websearch_gateway.readers.extraction import page

    text = html if isinstance(html, str) else decode(html, charset or charset_of(html, ""))
    root = page.parse(text)
    return Extracted("", "", None) if root is None else extract_from(root, url)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: it takes a tenth of the time and finds nothing among the objects of a page."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def extract_from(root: Any, url: str, *, thorough: bool = True) -> Extracted:
    """As `extract`, for a page parsed by `page.parse`. Removes everything but the main text from `root`.

    Args:
        thorough: also use trafilatura if the choice is not clear, and look for a date; takes a third of the time.
            Without it the page is documentation, whose main element is kept as a whole.
    """
    from websearch_gateway.readers.extraction import render
    from websearch_gateway.readers.extraction.blocks import Measures
    from websearch_gateway.readers.extraction.features import likelihoods

    alive = list(root.iter())  # otherwise each walk below creates new Python objects, which takes a fifth of the time
    page = clean(root, url, thorough=thorough)
    outline = page.outline
    if 0 < len(outline.blocks) <= MOST_JUDGED_BLOCKS:
        likely = _likelihoods(root, page) if thorough else likelihoods(Measures(outline, page.title))
        write_off(outline, likely)
        blank(outline, chosen(outline, likely, is_docs=not thorough))
    markdown, anchors = render.with_anchors(root, page.base)
    del alive
    return Extracted(page.title, markdown, page.published, page.warnings, anchors)


@dataclass(frozen=True, slots=True)
class Clean:
    """What is known of a page before its blocks are judged; `root` has only text that readers see.

    `base` is the URL that its links are relative to.
    """

    title: str
    published: str | None
    is_article: bool
    is_documentation: bool
    base: str
    warnings: tuple[str, ...]
    outline: Outline


def clean(root: Any, url: str, *, thorough: bool = True) -> Clean:
    """Remove from `root`, a page as parsed, what is never its text."""
    from websearch_gateway.readers.extraction import blocks, page
    from websearch_gateway.readers.visibility import strip_invisible

    unfolded = page.unfold_topic(root, url)
    cut = (TOO_LONG.format(page.MOST_ELEMENTS),) if page.cut_elements(root) else ()
    warnings = (*unfolded, *cut, *strip_invisible(root))
    title, published = page.title_of(root), declared_date(root, url) if thorough else None
    is_article = thorough and page.declares_article(root)
    is_documentation = not thorough or page.is_documentation(root, url)
    base = page.base_of(root, url)
    page.strip_unread(root)
    page.strip_shortcodes(root)
    page.strip_furniture(root)
    return Clean(title, published, is_article, is_documentation, base, warnings, blocks.outline(root))


def declared_date(root: Any, url: str) -> str | None:
    """The publication date that the page declares, as an ISO 8601 date."""
    from htmldate import find_date

    # Not extensive: guessing a date from the prose costs 1.6 s once, for a locale library, and is often wrong.
    date: str | None = find_date(root, original_date=True, extensive_search=False, url=url)
    return date


def _likelihoods(root: Any, page: Clean) -> Floats:
    """How likely each block belongs to the main text."""
    from websearch_gateway.readers.extraction.blocks import Measures
    from websearch_gateway.readers.extraction.features import likelihoods, reconsidered

    measures = Measures(page.outline, page.title)
    alone = likelihoods(measures)
    if not may_ask(root, page) or not is_doubtful(measures, alone, is_article=page.is_article):
        return alone
    found = measures.found_in(second_opinion(root))
    likely = reconsidered(measures, alone, found, is_article=page.is_article)
    return doubted(measures, likely, found, is_article=page.is_article)


def may_ask(root: Any, page: Clean) -> bool:
    """Whether trafilatura is made for a page and would not take too long for it."""
    if page.is_documentation:
        return False
    deepest = max((container.depth for container in page.outline.containers), default=0)
    return bool(deepest <= SECOND_OPINION_DEPTH and root.xpath("count(//*)") <= SECOND_OPINION_ELEMENTS)


def is_doubtful(page: Measures, alone: Floats, *, is_article: bool) -> bool:
    """Whether trafilatura could improve the choice that the filter makes alone."""

    expected = 0.0 if is_article else expected_f1(page.outline, alone)
    if expected >= SURE:
        return False
    kept, prose = _kept_and_prose(page, alone)
    return bool(prose >= (PROSE if expected < UNSURE else MOSTLY) * kept.sum())


def _kept_and_prose(page: Measures, likely: Floats) -> tuple[Floats, float]:
    """The number of kept words of each block, and how many of them are in unlinked paragraphs."""
    from websearch_gateway.readers.extraction.blocks import TAG_NUMBER

    kept: Floats = page.words * (likely >= threshold(page.words, likely))
    return kept, float(kept[(page.tag[page.place] == TAG_NUMBER["p"]) & (page.link_share < MOSTLY)].sum())


def doubted(page: Measures, likely: Floats, found: Floats, *, is_article: bool) -> Floats:
    """The filter's choice on a page of prose, where trafilatura does not confirm it made up to half as likely.

    Their errors differ: the filter keeps teasers and boxes of unfamiliar kinds of sites, trafilatura omits parts of the
    text, so a long block becomes less unlikely. After the last block that it chose the text has probably ended.
    Comments and unlikely headings are left out unless trafilatura takes them for the text.

    Args:
        found: the share of each block that trafilatura chose.
    """
    from websearch_gateway.readers.extraction.blocks import TAG_NUMBER

    np, words = page.np, page.words
    kept, prose = _kept_and_prose(page, likely)
    confirmed, least = (kept * found).sum(), FOUND_DECLARED if is_article else FOUND
    if prose < PROSE * kept.sum() or confirmed < least * kept.sum():
        return likely
    tags = page.tag[page.place]
    whole = np.isin(tags, [TAG_NUMBER[tag] for tag in _WRITTEN_WHOLE])
    less: Floats = likely * (1 - np.where(words < LONG, 0.5, 0.25) * (1 - found) * ~whole)
    heading = np.isin(tags, [TAG_NUMBER[tag] for tag in _HEADINGS])
    less[(found < MOSTLY) & (in_comments(page.outline) | (heading & (likely < _HEADS_PROSE)))] = 0
    chosen = np.flatnonzero((found > MOSTLY) & (words >= SHORTEST))
    if len(chosen) and confirmed >= MOSTLY * kept.sum():
        after = np.arange(len(words)) > chosen[-1]
        less[after & (found <= MOSTLY) & ~whole] *= 0.5
    return less


def second_opinion(root: Any) -> str:
    """The main text that trafilatura chooses, one block per line. Does not change `root`."""
    from lxml import etree
    from trafilatura import bare_extraction
    from trafilatura.settings import Extractor

    # Fast: its fallback extractors double the time and do not change the results. Nor does its second try on a page of
    # which it finds little, which only the focus "balanced" has.
    options = Extractor(output_format="python", comments=False, fast=True)
    options.focus = "once"
    smaller = copy(root)  # it copies a page five times before it removes these
    etree.strip_elements(smaller, "nav", "footer", "aside", "button", with_tail=False)
    try:
        document = bare_extraction(smaller, options=options)
    except RecursionError:  # a hostile page: no real one nests hundreds of elements
        return ""
    return getattr(document, "text", None) or ""


def warm_up() -> None:
    """Import and prepare everything that `extract` needs, so that the first page is not slow."""
    extract("<html><body><article><p>A page.</p></article></body></html>", "https://example.com/", None)


_LOWEST, _HIGHEST = 0.15, 0.6
"""The bounds of `threshold`."""
_MOST = 0.5
"""The least share of words that are kept in an element that is kept as a whole."""
_FOLLOWS = 0.05
"""A table after kept text is kept if one of its blocks is more likely than this."""
_WHOLE = frozenset(("ul", "ol", "dl", "table", "tr"))
_MAIN_IDS = frozenset(("main-content", "page-content", "apicontent"))
_ASIDE = frozenset(("nav", "aside", "footer"))
_POSTS = (
    "boolean(//*[contains(@itemtype, 'schema.org/Question') or contains(@itemtype, 'schema.org/QAPage') "
    "or contains(@itemtype, 'schema.org/DiscussionForumPosting')])"
)
_GENERATED = (
    "boolean(//*[contains(@class, 'docutils') or @class = 'titlepage' or @class = 'sectionbody' or @class = 'memitem'])"
)
"""The elements that Sphinx, DocBook, AsciiDoc and Doxygen write, whose themes often mark no main element."""
_NEARLY_ALL = 0.9
"""The least share of the kept words that are in the main element of a generated page."""
_LEAST_CODE = 3
_MOST_MAINS = 3
_CRUMB = 0.05
"""The least likelihood of a block in the main element of a page of documentation that is kept."""
_HEADS, _HEADS_PROSE = 0.05, 0.25
"""A heading right above kept text is kept if it is more likely than this; in prose also if trafilatura keeps it."""
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def write_off(page: Outline, likely: Floats) -> None:
    """Make the blocks unlikely, in place, that are in boxes which ask for consent."""
    likely[in_consent(page)] = 0


def chosen(page: Outline, likely: Floats, *, is_docs: bool = False) -> Mask:
    """The mask of the blocks to keep, given how likely each belongs to the main text.

    Args:
        is_docs: the page is known to be documentation, so its main element and all its code are text.
    """
    words = _words(page)
    keep: Mask = likely >= threshold(words, likely)
    _keep_definitions(page, keep)
    _keep_posts(page, keep)
    tables = {
        container.element: is_data(container.element) for container in page.containers if container.tag == "table"
    }
    for container in page.containers:
        _keep_whole(container, tables, words, likely, keep)
    _keep_code_and_headings(page, likely, keep)
    _keep_reference(page, words, likely, keep, is_docs=is_docs)
    if is_docs:
        for at, block in enumerate(page.blocks):
            keep[at] |= page.containers[block.place].tag == "pre"
    return keep


def threshold(words: Floats, likely: Floats) -> float:
    """The probability above which keeping a block raises the expected F1 over the words of this page.

    With calibrated probabilities this is half the best reachable F1, so a page of uncertain blocks keeps more than a
    clear one (Lipton et al., "Optimal thresholding of classifiers to maximize F1", 2014).
    """
    import numpy as np

    order, expected = _expected_f1(words, likely)
    return float(np.clip(likely[order[np.argmax(expected)]], _LOWEST, _HIGHEST))


def expected_f1(page: Outline, likely: Floats) -> float:
    """The expected F1 of the best choice of blocks over the words of this page, from 0 to 1."""
    return float(_expected_f1(_words(page), likely)[1].max())


def _expected_f1(words: Floats, likely: Floats) -> tuple[Ints, Floats]:
    """The blocks from the most to the least likely, and the expected F1 of keeping all up to each of them."""
    import numpy as np

    order = np.argsort(-likely)
    sure = np.cumsum((words * likely)[order])
    return order, 2 * sure / np.maximum(1e-9, np.cumsum(words[order]) + sure[-1])


def _words(page: Outline) -> Floats:
    import numpy as np

    return np.array([len(block.text.split()) for block in page.blocks], dtype=np.float64)


def _keep_whole(container: Container, tables: Mapping[Any, bool], words: Floats, likely: Floats, keep: Mask) -> None:
    """Keep a table or list as a whole if most of it is kept, and a table that follows kept text.

    `tables` says for each table whether it holds data.
    """
    tag = container.tag
    if tag not in _WHOLE or container.start == container.end:
        return
    tabular = tag in ("table", "tr")
    if tabular and not tables.get(_table(container.element), False):
        return
    part = slice(container.start, container.end)
    if keep[part].all():
        return
    most = (words[part] * keep[part]).sum() >= _MOST * words[part].sum()
    follows = tag == "table" and keep[container.start - 1 : container.start].any() and likely[part].max() > _FOLLOWS
    if most or follows or (tag == "tr" and keep[part].any()):
        keep[part] = True


def _keep_definitions(page: Outline, keep: Mask) -> None:
    """Keep lists whose terms have ids, as generators of references write definitions: they look like navigation."""
    for container in page.containers:
        if container.tag != "dt" or not container.element.get("id"):
            continue
        around = page.containers[container.parent]
        part = slice(around.start, around.end)
        if around.tag == "dl" and not keep[part].all() and next(around.element.iterancestors(*_ASIDE), None) is None:
            keep[part] = True


def _keep_posts(page: Outline, keep: Mask) -> None:
    """Keep the posts of a thread in Vanilla's markup, whose names say that all but the first are comments."""
    for container in page.containers:
        if POST in _classes(container.element) and any(
            not _AROUND_POSTS.isdisjoint(_classes(one)) for one in container.element.iterancestors("div", "li")
        ):
            keep[container.start : container.end] = True


def _classes(element: Any) -> list[str]:
    names: str = element.get("class", "")
    return names.split()


def _table(element: Any) -> Any:
    return element if element.tag == "table" else next(element.iterancestors("table"), element)


def _keep_code_and_headings(page: Outline, likely: Floats, keep: Mask) -> None:
    """Keep code between kept text, and a heading right above kept text; drop a heading above nothing."""
    tags = [page.containers[block.place].tag for block in page.blocks]
    last = len(tags) - 1
    for at, tag in enumerate(tags):
        if tag == "pre" and not keep[at] and keep[max(0, at - 2) : at].any() and keep[at + 1 : at + 3].any():
            keep[at] = True
    for at in range(last, -1, -1):
        if tags[at] in _HEADINGS and at < last and likely[at] > _HEADS and keep[at + 1]:
            keep[at] = True


def _keep_reference(page: Outline, words: Floats, likely: Floats, keep: Mask, *, is_docs: bool) -> None:
    """Keep the main element of a page of documentation as a whole, without its navigation.

    The short lines of such a page (signatures, versions, histories) look like the navigation of other pages. A page is
    documentation if its author marked its main element, or a known program wrote it, and the kept text in it has code;
    the posts of a forum are also marked, and exclude it.
    """
    for main in _mains(page, words * keep):
        container = _only_article(page, main) if is_docs else main
        part = slice(container.start, container.end)
        code = sum(page.containers[block.place].tag == "pre" for block in page.blocks[part])
        if not is_docs and (code < _LEAST_CODE or (words[part] * keep[part]).sum() < _MOST * words[part].sum()):
            continue
        if container.element.getroottree().xpath(_POSTS):
            return
        whole = likely[part] >= _CRUMB
        for inner in page.containers:
            if inner.tag in _ASIDE and part.start <= inner.start and inner.end <= part.stop:
                whole[inner.start - part.start : inner.end - part.start] = False
        keep[part] |= whole
        return


def _mains(page: Outline, kept: Floats) -> list[Container]:
    """The main elements, given the number of kept words of each block."""
    marked = list(islice(filter(_is_main, page.containers), _MOST_MAINS))
    if marked or not page.containers[0].element.getroottree().xpath(_GENERATED):
        return marked
    before = [0.0, *kept.cumsum()]
    around = (c for c in reversed(page.containers) if before[c.end] - before[c.start] >= _NEARLY_ALL * before[-1])
    inner = next(around, None)  # elements that hold most of the text are in each other, the innermost last
    return [] if inner is None else [_all_sections(page, inner)]


def _all_sections(page: Outline, inner: Container) -> Container:
    """The outermost of the sections in each other around an element: a long one may hold nearly all text of a page."""
    line = [inner]
    while line[-1] is not page.containers[0]:
        line.append(page.containers[line[-1].parent])
    sections = list(takewhile(_is_section, dropwhile(lambda one: not _is_section(one), line)))
    return sections[-1] if sections else inner


def _is_section(container: Container) -> bool:
    return container.tag == "section" or "section" in container.element.get("class", "").split()


def _is_main(container: Container) -> bool:
    element = container.element
    if container.tag == "main" or element.get("role") == "main" or element.get("id") in _MAIN_IDS:
        return True
    return container.tag == "div" and element.get("class") in ("contents", "col-content")  # Doxygen's, TypeDoc's


def _only_article(page: Outline, main: Container) -> Container:
    """The article of a main element that has one: beside it stand lists of the page's sections."""
    inside = [
        one for one in page.containers if one.tag == "article" and main.start <= one.start and one.end <= main.end
    ]
    return inside[0] if len(inside) == 1 else main


def blank(page: Outline, keep: Mask) -> None:
    """Remove the text of dropped blocks from the DOM, and most elements in an element of which nothing is kept."""
    for block, kept in zip(page.blocks, keep, strict=True):
        if not kept:
            for element, where in block.slots:
                if where == "alt":
                    element.attrib.pop("alt", None)
                else:
                    setattr(element, where, None)
    below = 0  # the number of blocks up to the end of the last element that needs no further look
    for container in page.containers:
        if below < container.end and container.start < container.end:
            is_dropped = not keep[container.start : container.end].any()
            if is_dropped:
                del container.element[1:]  # one stays, so that a heading does not take it for an empty target of links
                for child in container.element:
                    child.clear()
            if is_dropped or container.tag == "table":  # the cells and tables in a table count, even without text
                below = container.end


_COMMENTS = re.compile(r"comment|disqus|respond\b|replies", re.IGNORECASE)
_CONSENT = re.compile(
    r"(?<![\w-])(?:cookie(?!s?(?:\s|$))|onetrust|cybot|didomi|gdpr|cmplz|borlabs|usercentrics|iubenda)", re.IGNORECASE
)
"""The names that managers of consent give to their boxes; a shop of cookies has names that only end in it."""

_BLOCKS = frozenset(("div", "section", "article", "aside", "ol", "ul", "li"))


def in_comments(page: Outline) -> Mask:
    """For each block, whether an element around it has a class or id for comments."""
    return _inside(page, _COMMENTS, len(page.blocks))


def in_consent(page: Outline) -> Mask:
    """For each block, whether an element around it, with at most half of all blocks, asks for consent to cookies."""
    return _inside(page, _CONSENT, len(page.blocks) // 2)


def _inside(page: Outline, names: re.Pattern[str], most: int) -> Mask:
    import numpy as np

    inside = np.zeros(len(page.blocks), dtype=np.bool_)
    for container in page.containers:
        if container.tag in _BLOCKS and 0 < container.end - container.start <= most:
            given = map(container.element.get, ("class", "id"))
            if any(_has(names, name) for name in given if name):
                inside[container.start : container.end] = True
    return inside


@lru_cache(maxsize=20_000)
def _has(names: re.Pattern[str], name: str) -> bool:
    return bool(names.search(name))
