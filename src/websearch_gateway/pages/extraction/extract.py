"""Extracts the title, date and main text from the HTML of a page.

Pure; runs in a worker process. Keep all code linear in the size of the page, and measure with `make bench-extract`. The
filter chooses the blocks of the main text in the original DOM; the others are blanked in place, and the rest is
rendered. So code, tables, nested lists and links survive, while other extractors simplify them. If the
choice is not clear on a page of prose, for which trafilatura is made, a second filter judges each block by its choice
and by what the first one says of the blocks around it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from websearch_gateway.base import charset_of, decode
from websearch_gateway.models import Extracted
from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import blocks, elsewhere, page
from websearch_gateway.pages.extraction.blocks import Outline
from websearch_gateway.pages.extraction.choice import (
    MOST,
    WRITTEN_WHOLE,
    blank,
    chosen,
    expected_f1,
    threshold,
)
from websearch_gateway.pages.extraction.features import LINE, Features
from websearch_gateway.pages.extraction.measures import (
    HEADING_TAGS,
    MOSTLY_LINKS,
    TAG_NUMBER,
    Measures,
)

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.measures import Floats

MOST_ELEMENTS = 60_000
"""The most elements of a page that are read: each costs up to 50 µs. The largest of 1,065 real pages has 13,439."""
MOST_JUDGED_BLOCKS = 30_000
"""A page with more blocks is kept whole: the filters need 3 kB and 20 µs per block."""

TOO_LONG = "The page has more than {:,} elements; the rest is left out."


def extract(html: bytes | str, url: str, charset: str | None) -> Extracted:
    """The readable part of a page, as Markdown with absolute links.

    Args:
        url: the page's URL, to make its links absolute.
        charset: the Python codec of `html` if that is bytes; detected if None.
    """
    text = html if isinstance(html, str) else decode(html, charset or charset_of(html, ""))
    root = page.parse(text)
    extracted = Extracted("", "", None) if root is None else extract_from(root, url)
    if len(extracted.markdown) >= elsewhere.LITTLE_TEXT:
        return extracted
    hidden = elsewhere.text_elsewhere(text, url)
    return extracted if hidden is None else _with_text_of(hidden, extracted, url)


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
    # Otherwise each walk below creates new Python objects, which takes a fifth of the time.
    alive = list(root.iter())
    cleaned = clean(root, url, thorough=thorough)
    if 0 < len(cleaned.outline.blocks) <= MOST_JUDGED_BLOCKS:
        measures = Measures(cleaned.outline, cleaned.title, cleaned.kind)
        likely = _judged(root, cleaned, measures, thorough=thorough)
        keep = chosen(measures, likely, is_docs=not thorough, once=not cleaned.is_documentation)
        blank(cleaned.outline, keep)
    markdown, anchors = rendering.with_anchors(root, cleaned.base)
    del alive
    return Extracted(cleaned.title, markdown, cleaned.published, cleaned.warnings, anchors)


def _with_text_of(hidden: elsewhere.Elsewhere, extracted: Extracted, url: str) -> Extracted:
    """A nearly empty page with the text that it holds elsewhere, if that is more."""
    root = page.parse(f"<html><body>{hidden.html}</body></html>")
    if root is None:
        return extracted
    cleaned = clean(root, url, thorough=False)
    markdown, anchors = rendering.with_anchors(root, cleaned.base)
    if len(markdown) <= len(extracted.markdown):
        return extracted
    return replace(
        extracted,
        title=extracted.title or cleaned.title,
        markdown=markdown,
        warnings=(*extracted.warnings, hidden.warning, *cleaned.warnings),
        anchors=anchors,
    )


def _judged(root: Any, cleaned: Clean, measures: Measures, *, thorough: bool) -> Floats:
    """How likely each block belongs to the main text, from 0 to 1."""
    if thorough and is_bare(measures):
        every: Floats = measures.np.ones(len(measures.words))
        return every
    features = Features(measures)
    likely = features.likelihoods()
    if not thorough or not is_doubtful(measures, likely, cleaned):
        return likely
    opinion = measures.share_in(second_opinion(root))
    return without_extras(measures, features.reconsidered(likely, opinion), opinion)


@dataclass(frozen=True, slots=True)
class Clean:
    """The facts about a page before its blocks are judged; `root` has only text that readers see.

    `kind` is what it declares itself to be (`page.declared_kind`). `base` is the URL that its links are relative to.
    """

    title: str
    published: str | None
    kind: str
    is_documentation: bool
    base: str
    warnings: tuple[str, ...]
    outline: Outline


def clean(root: Any, url: str, *, thorough: bool = True) -> Clean:
    """Remove from `root`, a page as parsed, what is never its text."""
    from websearch_gateway.pages.visibility.strip import strip_invisible

    warnings = [*page.unfold_topic(root, url)]
    if page.cut_elements(root, MOST_ELEMENTS):
        warnings.append(TOO_LONG.format(MOST_ELEMENTS))
    rendering.declare_formulas(root)
    warnings += strip_invisible(root)
    title = page.title_of(root)
    published = _date_of(root, url) if thorough else None
    kind = page.declared_kind(root) if thorough else ""
    is_documentation = not thorough or page.is_documentation(root, url)
    base = page.base_of(root, url)
    rendering.prepared(root)
    page.unfold_prices(root)
    page.strip_unread(root)
    page.strip_shortcodes(root)
    page.strip_furniture(root)
    outline = blocks.outline(root)
    return Clean(title, published, kind, is_documentation, base, tuple(warnings), outline)


def _date_of(root: Any, url: str) -> str | None:
    from htmldate import find_date

    declared = page.declared_date(root)
    if declared:
        return declared
    # Not extensive: guessing a date from the prose costs 1.6 s once, for a locale library, and is often wrong.
    guessed: str | None = find_date(root, original_date=True, extensive_search=False, url=url)
    return guessed or page.written_date(root)


FEW_BLOCKS = 12
"""A page with at most as many blocks may be kept whole (`is_bare`): of 27 labelled pages of up to 12 blocks without
links none gets worse. One of 19 blocks has furniture without links."""

_FURNITURE = [TAG_NUMBER[tag] for tag in ("nav", "aside", "footer", "header", "form", "button")]


def is_bare(measures: Measures) -> bool:
    """Whether a page is so small and plain that it has nothing but its text: no link, no menu, no named box."""
    if len(measures.words) > FEW_BLOCKS or measures.link_share.any():
        return False
    if measures.np.isin(measures.tag, _FURNITURE).any() or measures.name_bits.any():
        return False
    return not measures.beside_text().any()


SECOND_OPINION_BLOCKS, SECOND_OPINION_DEPTH = 1_500, 100
"""On a page with more block-level elements, or more in each other, the filter decides alone: trafilatura would take
most of the time, which is quadratic over tables in tables. The deepest of a thousand real pages has 56 levels."""

UNSURE, SURE = 0.85, 0.97
"""The expected F1 from which on the filter decides alone about a page that does not declare itself an article: a page
that is less than half prose, and any page."""

PROSE = 0.35
"""The least share of the kept words that are in unlinked paragraphs on a page of prose. On other pages trafilatura does
more harm than good."""


def is_doubtful(measures: Measures, likely: Floats, cleaned: Clean) -> bool:
    """Whether trafilatura could improve the choice that the filter makes alone, and would not take too long for it."""
    is_large = len(measures.depth) > SECOND_OPINION_BLOCKS
    is_deep = measures.depth.max() > SECOND_OPINION_DEPTH
    if cleaned.is_documentation or is_large or is_deep:
        return False
    # Even if the filter keeps no prose: then it may have kept teasers alone.
    if cleaned.kind == "article":
        return True
    expected = float(expected_f1(measures.words, likely)[1].max())
    if expected >= SURE:
        return False
    kept = measures.words * (likely >= threshold(measures.words, likely))
    is_paragraph = measures.is_in("p") & (measures.link_share < MOSTLY_LINKS)
    least = PROSE if expected < UNSURE else MOST
    return bool(kept[is_paragraph].sum() >= least * kept.sum())


@lru_cache
def _options() -> Any:
    """Trafilatura's options, which take a tenth of its time to make.

    Fast: its fallback extractors double the time and do not change the results. Nor does its second try on a page of
    which it finds little, which only the focus "balanced" has.
    """
    from trafilatura.settings import Extractor

    options = Extractor(output_format="python", comments=False, fast=True)
    options.focus = "once"
    return options


def second_opinion(root: Any) -> str:
    """The main text that trafilatura chooses, one block per line. Does not change `root`."""
    from trafilatura import bare_extraction

    early = "//nav | //footer | //aside | //button"  # it copies a page four times more before it removes these itself
    try:
        document = bare_extraction(root, options=_options(), prune_xpath=early)
    except RecursionError:  # a hostile page: no real one nests hundreds of elements
        return ""
    return getattr(document, "text", None) or ""


FOUND, FOUND_DECLARED = 0.7, 0.1
"""The least share of the kept words that trafilatura chose as well, or else it has failed: on any page, and on one that
declares itself an article."""

_HEADS_PROSE = 0.25
"""The likelihood up to which a heading in prose is left out if trafilatura leaves it out too."""

_AFTER = 0.5
"""The factor for what follows the last block that trafilatura chose: it is text if the filter is sure of it."""


def without_extras(measures: Measures, likely: Floats, opinion: Floats) -> Floats:
    """The likelihoods without lines that lead away from prose, and without what trafilatura leaves out of comments,
    headings and the end of a page.

    Args:
        opinion: the share of each block that trafilatura chose. If that is little of the text, it has failed.
    """
    np, words = measures.np, measures.words
    likely = likely * ~measures.beside_text()
    kept = words * (likely >= threshold(words, likely))
    confirmed = (kept * opinion).sum() / max(1.0, kept.sum())
    least_confirmed = FOUND_DECLARED if measures.kind == "article" else FOUND
    if confirmed < least_confirmed:
        return likely
    is_unlikely_heading = np.isin(measures.tags, HEADING_TAGS) & (likely < _HEADS_PROSE)
    is_extra = measures.in_comments() | is_unlikely_heading
    factors = np.ones(len(words))
    chosen_places = np.flatnonzero((opinion > MOST) & (words >= LINE))
    if confirmed >= MOST:
        last = chosen_places[-1] if len(chosen_places) else 0
        is_after = (np.arange(len(words)) > last) & ~np.isin(measures.tags, WRITTEN_WHOLE)
        factors[is_after] = _AFTER
    rest: Floats = np.where(opinion > MOST, likely, likely * factors * ~is_extra)
    return rest
