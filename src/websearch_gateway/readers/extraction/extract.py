"""Extracts the title, date and main text from the HTML of a page. Pure; runs in a worker process.

The filter chooses the blocks of the main text in the original DOM, which is then rendered. So code, tables, nested
lists and links survive, while other extractors simplify them. If the choice is not clear, trafilatura's choice is one
more feature. On a page that declares itself an article, for which trafilatura is made, its choice counts as much as the
filter's. Very large pages skip trafilatura to stay fast.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from websearch_gateway.net.decode import charset_of, decode
from websearch_gateway.readers.extraction.render import Anchors

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.blocks import Outline
    from websearch_gateway.readers.extraction.filter.measures import Measures
    from websearch_gateway.readers.extraction.select import Floats

SECOND_OPINION_ELEMENTS = 5_000
"""Above this many elements the block filter decides alone: trafilatura would take most of the time and help little."""

SECOND_OPINION_DEPTH = 100
"""On a page with more nested elements than this the filter decides alone: trafilatura takes quadratic time over tables
in tables. The deepest of a thousand real pages has 56 levels."""

MOST_JUDGED_BLOCKS = 30_000
"""A page with more blocks is kept whole: the filter needs 6 kB and 15 µs per block."""

TOO_LONG = "The page has more than {:,} elements; the rest is left out."

SURE = 0.85
"""From this expected F1 on the block filter decides alone about a page that does not declare itself an article."""

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


def extract_from(root: Any, url: str, *, thorough: bool = True) -> Extracted:
    """As `extract`, for a page parsed by `page.parse`. Removes everything but the main text from `root`.

    Args:
        thorough: also use trafilatura if the choice is not clear, and look for a date; takes a third of the time.
            Without it the page is documentation, whose main element is kept as a whole.
    """
    from websearch_gateway.readers.extraction import blocks, page, render, select
    from websearch_gateway.readers.extraction.filter.features import likelihoods
    from websearch_gateway.readers.extraction.filter.measures import Measures
    from websearch_gateway.readers.extraction.page import declares_article, strip_furniture, title_of
    from websearch_gateway.readers.extraction.select import in_consent
    from websearch_gateway.readers.visibility.visible import strip_invisible

    cut = (TOO_LONG.format(page.MOST_ELEMENTS),) if page.cut_elements(root) else ()
    alive = list(root.iter())  # otherwise each walk below creates new Python objects, which takes a fifth of the time
    warnings = (*cut, *strip_invisible(root))
    title, published = title_of(root), declared_date(root, url) if thorough else None
    is_article = thorough and declares_article(root)
    base = page.base_of(root, url)
    page.strip_unread(root)
    page.strip_shortcodes(root)
    strip_furniture(root)
    outline = blocks.outline(root)
    if 0 < len(outline.blocks) <= MOST_JUDGED_BLOCKS:
        if thorough:
            likely = _likelihoods(root, outline, title, is_article)
        else:
            likely = likelihoods(Measures(outline, title), None)
        likely[in_consent(outline)] = 0
        select.blank(outline, select.chosen(outline, likely, is_docs=not thorough))
    markdown, anchors = render.with_anchors(root, base)
    del alive
    return Extracted(title, markdown, published, warnings, anchors)


def declared_date(root: Any, url: str) -> str | None:
    """The publication date that the page declares, as an ISO 8601 date."""
    from htmldate import find_date

    # Not extensive: guessing a date from the prose costs 1.6 s once, for a locale library, and is often wrong.
    date: str | None = find_date(root, original_date=True, extensive_search=False, url=url)
    return date


def _likelihoods(root: Any, outline: Outline, title: str, is_article: bool) -> Floats:
    """How likely each block belongs to the main text."""
    from websearch_gateway.readers.extraction.filter.features import likelihoods
    from websearch_gateway.readers.extraction.filter.measures import Measures

    deepest = max((container.depth for container in outline.containers), default=0)
    is_large = deepest > SECOND_OPINION_DEPTH or root.xpath("count(//*)") > SECOND_OPINION_ELEMENTS
    measures = Measures(outline, title)
    alone = likelihoods(measures, None)
    if is_large or not is_doubtful(measures, alone, is_article=is_article):
        return alone
    return doubted(measures, alone, likelihoods(measures, second_opinion(root)), is_article=is_article)


def is_doubtful(page: Measures, alone: Floats, *, is_article: bool) -> bool:
    """Whether trafilatura could improve the choice that the filter makes alone."""
    from websearch_gateway.readers.extraction.select import expected_f1

    if not is_article and expected_f1(page.outline, alone) >= SURE:
        return False
    kept, prose = _kept_and_prose(page, alone)
    return bool(prose >= PROSE * kept.sum())


def _kept_and_prose(page: Measures, likely: Floats) -> tuple[Floats, float]:
    """The number of kept words of each block, and how many of them are in unlinked paragraphs."""
    from websearch_gateway.readers.extraction.filter.measures import TAG_NUMBER
    from websearch_gateway.readers.extraction.select import threshold

    kept: Floats = page.words * (likely >= threshold(page.words, likely))
    return kept, float(kept[(page.tag[page.place] == TAG_NUMBER["p"]) & (page.link_share < MOSTLY)].sum())


def doubted(page: Measures, alone: Floats, asked: Floats, *, is_article: bool) -> Floats:
    """The filter's choice on a page of prose, where trafilatura does not confirm it made up to half as likely.

    Their errors differ: the filter keeps teasers and boxes of unfamiliar kinds of sites, trafilatura omits parts of the
    text, so a long block becomes less unlikely. After the last block that it chose the text has probably ended.
    Comments are left out unless trafilatura takes them for the text.

    Args:
        alone, asked: the filter's choice without and with trafilatura's as a feature.
    """
    from websearch_gateway.readers.extraction.filter.measures import TAG_NUMBER
    from websearch_gateway.readers.extraction.select import in_comments

    np, words, found = page.np, page.words, page.found
    likely: Floats = (alone + asked) / 2 if is_article else asked
    kept, prose = _kept_and_prose(page, likely)
    confirmed, least = (kept * found).sum(), FOUND_DECLARED if is_article else FOUND
    if prose < PROSE * kept.sum() or confirmed < least * kept.sum():
        return likely
    less: Floats = likely * (1 - np.where(words < LONG, 0.5, 0.25) * (1 - found))
    less[in_comments(page.outline) & (found < MOSTLY)] = 0
    chosen = np.flatnonzero((found > MOSTLY) & (words >= SHORTEST))
    if len(chosen) and confirmed >= MOSTLY * kept.sum():
        after = np.arange(len(words)) > chosen[-1]
        less[
            after & (found <= MOSTLY) & ~np.isin(page.tag[page.place], [TAG_NUMBER[tag] for tag in _WRITTEN_WHOLE])
        ] *= 0.5
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
