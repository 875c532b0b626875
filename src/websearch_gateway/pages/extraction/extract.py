"""Extracts the title, date and main text from the HTML of a page; for the crawler also its links and directives.

Pure; runs in a worker process. Keep all code linear in the size of the page, and measure with `make bench-extract`. The
filter chooses the blocks of the main text in the original DOM; the others are blanked in place, and the rest is
rendered. So code, tables, nested lists and links survive, while other extractors simplify them. If the
choice is not clear on a page of prose, for which trafilatura is made, a second filter judges each block by its choice
and by what the first one says of the blocks around it.
"""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urldefrag, urljoin

from websearch_gateway.base import (
    LINK,
    charset_of,
    decode,
    strip_invisible_characters,
    without_live_parts,
)
from websearch_gateway.models import Extracted
from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import blocks, elsewhere, page, threads
from websearch_gateway.pages.extraction.blocks import Container, Measures, Outline

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.blocks import Floats, Ints, Mask

T = TypeVar("T")

SECOND_OPINION_BLOCKS, SECOND_OPINION_DEPTH = 1_500, 100
"""On a page with more block-level elements, or more in each other, the filter decides alone: trafilatura would take
most of the time, which is quadratic over tables in tables. The deepest of a thousand real pages has 56 levels."""

MOST_JUDGED_BLOCKS = 30_000
"""A page with more blocks is kept whole: the filters need 3 kB and 20 µs per block."""

TOO_LONG = "The page has more than {:,} elements; the rest is left out."

FEW_BLOCKS = 12
"""A page with at most as many blocks may be kept whole (`is_bare`): of 27 labelled pages of up to 12 blocks without
links none gets worse. One of 19 blocks has furniture without links."""

UNSURE, SURE = 0.85, 0.97
"""The expected F1 from which on the filter decides alone about a page that does not declare itself an article: a page
that is less than half prose, and any page."""

PROSE = 0.35
"""The least share of the kept words that are in unlinked paragraphs on a page of prose. On other pages trafilatura does
more harm than good."""

FOUND, FOUND_DECLARED = 0.7, 0.1
"""The least share of the kept words that trafilatura chose as well, or else it has failed: on any page, and on one that
declares itself an article."""


def extract(html: bytes | str, url: str, charset: str | None) -> Extracted:
    """The readable part of a page, as Markdown with absolute links.

    Args:
        url: the page's URL, to make its links absolute.
        charset: the Python codec of `html` if that is bytes; detected if None.
    """
    text = html if isinstance(html, str) else decode(html, charset or charset_of(html, ""))
    root = page.parse(text)
    found = Extracted("", "", None) if root is None else extract_from(root, url)
    if len(found.markdown) < elsewhere.LITTLE_TEXT and (
        other := elsewhere.text_elsewhere(text, url)
    ):
        return _with_text_of(other, found, url)
    return found


def _with_text_of(other: elsewhere.Elsewhere, found: Extracted, url: str) -> Extracted:
    """A nearly empty page with the text that it holds elsewhere, if that is more."""
    root = page.parse(f"<html><body>{other.html}</body></html>")
    if root is None:
        return found
    cleaned = clean(root, url, thorough=False)
    markdown, anchors = rendering.with_anchors(root, cleaned.base)
    if len(markdown) <= len(found.markdown):
        return found
    warnings = (*found.warnings, other.warning, *cleaned.warnings)
    return replace(
        found,
        title=found.title or cleaned.title,
        markdown=markdown,
        warnings=warnings,
        anchors=anchors,
    )


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


def is_bare(measures: Measures) -> bool:
    """Whether a page is so small and plain that it has nothing but its text: no link, no menu, no named box."""
    if len(measures.words) > FEW_BLOCKS or measures.link_share.any():
        return False
    has_furniture = measures.np.isin(measures.tag, _FURNITURE).any()
    if has_furniture or measures.named.any():
        return False
    return not measures.beside_text().any()


def _judged(root: Any, cleaned: Clean, measures: Measures, *, thorough: bool) -> Floats:
    """How likely each block belongs to the main text, from 0 to 1."""
    if thorough and is_bare(measures):
        every: Floats = measures.np.ones(len(measures.words))
        return every
    likely = blocks.likelihoods(measures)
    if not (thorough and is_doubtful(measures, likely, cleaned)):
        return likely
    found = measures.found_in(second_opinion(root))
    return without_extras(measures, blocks.reconsidered(measures, likely, found), found)


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

    unfolded = page.unfold_topic(root, url)
    cut = (
        (TOO_LONG.format(page.MOST_ELEMENTS),)
        if page.cut_elements(root, page.MOST_ELEMENTS)
        else ()
    )
    rendering.declare_formulas(root)
    warnings = (*unfolded, *cut, *strip_invisible(root))
    title, published = page.title_of(root), None
    if thorough:
        from htmldate import find_date

        # Not extensive: guessing a date from the prose costs 1.6 s once, for a locale library, and is often wrong.
        published = page.declared_date(root) or find_date(
            root, original_date=True, extensive_search=False, url=url
        )
        published = published or page.written_date(root)
    kind = page.declared_kind(root) if thorough else ""
    is_documentation = not thorough or page.is_documentation(root, url)
    base = page.base_of(root, url)
    rendering.prepared(root)
    page.unfold_prices(root)
    page.strip_unread(root)
    page.strip_shortcodes(root)
    page.strip_furniture(root)
    return Clean(title, published, kind, is_documentation, base, warnings, blocks.outline(root))


def is_doubtful(measures: Measures, alone: Floats, cleaned: Clean) -> bool:
    """Whether trafilatura could improve the choice that the filter makes alone, and would not take too long for it."""
    depth = measures.depth.max()
    if (
        cleaned.is_documentation
        or depth > SECOND_OPINION_DEPTH
        or len(measures.depth) > SECOND_OPINION_BLOCKS
    ):
        return False
    # Even if the filter keeps no prose: then it may have kept teasers alone.
    if cleaned.kind == "article":
        return True
    words = measures.words
    expected = float(_expected_f1(words, alone)[1].max())
    kept = words * (alone >= threshold(words, alone))
    prose = kept[(measures.tags == blocks.TAG_NUMBER["p"]) & (measures.link_share < _MOST)].sum()
    return expected < SURE and bool(prose >= (PROSE if expected < UNSURE else _MOST) * kept.sum())


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


def without_extras(measures: Measures, likely: Floats, found: Floats) -> Floats:
    """The likelihoods without lines that lead away from prose, and without what trafilatura leaves out of comments,
    headings and the end of a page.

    Args:
        found: the share of each block that trafilatura chose. If that is little of the text, it has failed.
    """
    np, words = measures.np, measures.words
    likely = likely * ~measures.beside_text()
    kept = words * (likely >= threshold(words, likely))
    confirmed = (kept * found).sum() / max(1.0, kept.sum())
    if confirmed < (FOUND_DECLARED if measures.kind == "article" else FOUND):
        return likely
    is_heading = np.isin(measures.tags, [blocks.TAG_NUMBER[tag] for tag in _HEADINGS])
    extra = measures.in_comments() | (is_heading & (likely < _HEADS_PROSE))
    ends = np.flatnonzero((found > _MOST) & (words >= blocks.LINE))[-1:].sum()
    after = (
        (np.arange(len(words)) > ends)
        & ~np.isin(measures.tags, _WRITTEN_WHOLE)
        & (confirmed >= _MOST)
    )
    less = likely * np.where(after, 0.5, 1) * ~extra
    rest: Floats = np.where(found > _MOST, likely, less)
    return rest


_LOWEST, _HIGHEST = 0.15, 0.6  # the bounds of `threshold`
_MOST = 0.5  # the least share of words that are kept in an element that is kept as a whole
_FOLLOWS = 0.05  # a table after kept text is kept if one of its blocks is more likely than this
_WHOLE = frozenset(("ul", "ol", "dl", "table", "tr"))
_MARKED = (
    "//main | //div[@class = 'contents' or @class = 'col-content'] | //*[@id or @role]"
    "[@role = 'main' or @id = 'main-content' or @id = 'page-content' or @id = 'apicontent' or @id = 'interface']"
)
"""The elements that hold the main text by their markup; the last three are haddock's, Doxygen's and TypeDoc's."""
_FURNITURE = [
    blocks.TAG_NUMBER[tag] for tag in ("nav", "aside", "footer", "header", "form", "button")
]
_ASIDE = [blocks.TAG_NUMBER[tag] for tag in ("nav", "aside", "footer")]
_AROUND_POSTS = frozenset((page.AROUND_A_POST, "ItemDiscussion", "Comment", "Discussion"))
_POSTS = (
    "boolean(//*[@itemtype][contains(@itemtype, 'schema.org/Question') or contains(@itemtype, 'schema.org/QAPage') "
    "or contains(@itemtype, 'schema.org/DiscussionForumPosting')])"
)
_GENERATED = (
    "boolean(//*[@class]"
    "[contains(@class, 'docutils') or @class = 'titlepage' or @class = 'sectionbody' or @class = 'memitem'])"
)
"""The elements that Sphinx, DocBook, AsciiDoc and Doxygen write, whose themes often mark no main element."""
_KNOWN = f"boolean({_MARKED}) or {_GENERATED}"
_MENUS = frozenset(("banner", "contentinfo", "dialog", "navigation", "search"))
_NEARLY_ALL = 0.9
"""The least share of the kept words that are in the main element of a generated page."""
_LEAST_CODE = 3
_MOST_MAINS = 3
_CRUMB = 0.05
"""The least likelihood of a block in the main element of a page of documentation that is kept."""
_HEADS, _HEADS_PROSE = 0.05, 0.25
"""A heading right above kept text is kept if it is more likely than this; in prose also if trafilatura keeps it."""
_WRITTEN_WHOLE = [blocks.TAG_NUMBER[tag] for tag in ("td", "th", "pre")]
"""The blocks of which trafilatura writes several in one line, or in another form."""
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LEAST_REPEATED = 4
"""The least words of a text that is kept once."""


def chosen(measures: Measures, likely: Floats, *, is_docs: bool = False, once: bool = True) -> Mask:
    """The mask of the blocks to keep, given how likely each belongs to the main text.

    Args:
        is_docs: the page is known to be documentation, so its main element and all its code are text.
        once: keep what the page repeats once.
    """
    outline, words = measures.outline, measures.words
    likely = likely * ~measures.in_consent()
    keep: Mask = likely >= threshold(words, likely)
    _keep_by_markup(outline, keep)
    running = measures.np.zeros((2, len(keep) + 1))
    measures.np.cumsum([keep, likely], axis=1, out=running[:, 1:])
    kept, sure = running[:, measures.end] - running[:, measures.start]
    size = measures.end - measures.start
    # pictures, of which no words are counted.
    is_formula = (measures.sums[:, 0] == 0) & (sure >= _LOWEST * size)
    partly = (kept < size) & ((kept > 0) | is_formula)
    for container, is_partly in zip(outline.containers, partly, strict=True):
        if container.tag == "table" or (is_partly and container.tag in _WHOLE):
            _keep_whole(container, words, likely, keep)
    _keep_code_and_headings(
        [outline.containers[block.place].tag for block in outline.blocks], likely, keep
    )
    _keep_reference(measures, likely, keep, is_docs=is_docs)
    if once:
        _drop_repeats(measures, keep)
    if is_docs:
        _keep_docs(measures, keep)
    else:
        threads.keep_posts(measures, keep)
    _keep_notes(outline, keep)
    return keep


def _keep_notes(outline: Outline, keep: Mask) -> None:
    """Keep the notes that the marks in kept text lead to."""
    marks: set[str] = set()
    for block, is_kept in zip(outline.blocks, keep.tolist(), strict=True):
        for element, _ in block.slots if is_kept else ():
            for one in (element, element.getparent()):  # the mark may be raised in its link
                if one is not None and one.tag == "a" and one.get(rendering.NOTE):
                    marks.add(one.get(rendering.NOTE))
    for container in outline.containers if marks else ():
        if container.element.get(rendering.NOTE) in marks:
            keep[container.start : container.end] = True


def _keep_docs(measures: Measures, keep: Mask) -> None:
    """Keep what is text on any page of documentation: all code, the page's own heading, and the notes at its foot."""
    tags, h1 = measures.tags, measures.tags == blocks.TAG_NUMBER["h1"]
    code = tags == blocks.TAG_NUMBER["pre"]
    # The words that say what the code is for.
    leads = (tags == blocks.TAG_NUMBER["p"])[:-1] & code[1:]
    keep |= code
    keep[:-1] |= leads
    for container in measures.outline.containers:
        if (
            container.element.get("role") == "doc-footnote"
            or "footnotes" in container.element.values()
        ):
            keep[container.start : container.end] = True
    if not keep[h1].any():  # AsciiDoc writes it above the main element
        keep |= h1 & (measures.titled == 1)
    heading, tokens = -1, measures.tokens
    for at in measures.np.flatnonzero(keep).tolist():
        # A theme has it once more for paper.
        if h1[at] and heading >= 0 and tokens[at] == tokens[heading]:
            keep[heading] = False
        heading = at if h1[at] else -1


def _drop_repeats(measures: Measures, keep: Mask) -> None:
    """Keep each text in its first place: shops and forums have theirs again for small screens and in boxes.

    Texts beside each other, in one list or under different headings may be equal on purpose: answers, steps, clauses.
    Headings stay, since a table of contents repeats them.
    """
    containers, parent, place = (
        measures.outline.containers,
        measures.parent.tolist(),
        measures.place.tolist(),
    )
    heading, first_with = -1, dict[tuple[str, ...], int]()
    seen = defaultdict[tuple[str, ...], tuple[set[int], set[int]]](lambda: (set(), set()))
    for at in measures.np.flatnonzero(
        keep & ~measures.np.isin(measures.tags, _WRITTEN_WHOLE)
    ).tolist():
        words, around = tuple(measures.tokens[at]), parent[place[at]]
        if containers[place[at]].tag in _HEADINGS:
            heading = first_with.setdefault(words, at)
        elif len(words) >= _LEAST_REPEATED:
            around = parent[around] if containers[around].tag in ("li", "dd") else around
            places, headings = seen[words]
            keep[at] = around in places or heading not in headings
            if keep[at]:
                places.add(around)
                headings.add(heading)


def threshold(words: Floats, likely: Floats) -> float:
    """The probability above which keeping a block raises the expected F1 over the words of this page.

    With calibrated probabilities this is half the best reachable F1, so a page of uncertain blocks keeps more than a
    clear one (Lipton et al., "Optimal thresholding of classifiers to maximize F1", 2014).
    """
    import numpy as np

    order, expected = _expected_f1(words, likely)
    return float(np.clip(likely[order[np.argmax(expected)]], _LOWEST, _HIGHEST))


def _expected_f1(words: Floats, likely: Floats) -> tuple[Ints, Floats]:
    """The blocks from the most to the least likely, and the expected F1 of keeping all up to each of them."""
    import numpy as np

    order = np.argsort(-likely)
    sure = np.cumsum((words * likely)[order])
    return order, 2 * sure / np.maximum(1e-9, np.cumsum(words[order]) + sure[-1])


def _keep_whole(container: Container, words: Floats, likely: Floats, keep: Mask) -> None:
    """Keep a table or list as a whole if most of it is kept, and a table of data that follows kept text."""
    tag, part = container.tag, slice(container.start, container.end)
    if keep[part].all():
        return
    if tag in ("table", "tr"):
        around = (
            container.element
            if tag == "table"
            else next(container.element.iterancestors("table"), None)
        )
        if around is None or not rendering.is_data(around):
            return
    most = (words[part] * keep[part]).sum() >= _MOST * words[part].sum()
    follows = (
        tag == "table"
        and keep[container.start - 1 : container.start].any()
        and likely[part].max() > _FOLLOWS
    )
    if most or follows or (tag == "tr" and keep[part].any()):
        keep[part] = True


def _keep_by_markup(outline: Outline, keep: Mask) -> None:
    """Keep what looks like something else but for its markup.

    These are lists whose terms have ids, as generators of references write definitions, which look like navigation; and
    the posts of a thread in Vanilla, whose names say that all but the first are comments.
    """
    for container in outline.containers:
        element, around = container.element, outline.containers[container.parent]
        if container.tag == "dt" and around.tag == "dl" and element.get("id"):
            if next(around.element.iterancestors("nav", "aside", "footer"), None) is None:
                keep[around.start : around.end] = True
        elif page.POST in element.get("class", "").split() and any(
            not _AROUND_POSTS.isdisjoint(one.get("class", "").split())
            for one in element.iterancestors("div", "li")
        ):
            keep[container.start : container.end] = True


def _keep_code_and_headings(tags: list[str], likely: Floats, keep: Mask) -> None:
    """Keep code between kept text, and a heading right above kept text."""
    kept: list[bool] = keep.tolist()
    for at, tag in enumerate(tags):
        if (
            tag == "pre"
            and not kept[at]
            and any(kept[max(0, at - 2) : at])
            and any(kept[at + 1 : at + 3])
        ):
            kept[at] = True
    for at in range(len(tags) - 2, -1, -1):
        if tags[at] in _HEADINGS and kept[at + 1] and likely[at] > _HEADS:
            kept[at] = True
    keep[:] = kept


def _keep_reference(measures: Measures, likely: Floats, keep: Mask, *, is_docs: bool) -> None:
    """Keep the main element of a page of documentation as a whole, without its navigation.

    The short lines of such a page (signatures, versions, histories) look like the navigation of other pages. A page is
    documentation if its author marked its main element, or a known program wrote it, and the kept text in it has code;
    the posts of a forum are also marked, and exclude it.
    """
    outline, tag = measures.outline, measures.tag
    if not is_docs and (measures.tags == blocks.TAG_NUMBER["pre"]).sum() < _LEAST_CODE:
        return
    is_aside = measures.np.isin(tag, _ASIDE)
    counted = measures.words * keep * (measures.around(is_aside & is_docs) == 0)
    for main in _mains(outline, counted, is_docs=is_docs):
        articles = [
            c
            for c in outline.containers
            if c.tag == "article" and main.start <= c.start and c.end <= main.end
        ]
        # Beside the only article of a main element stand lists of the page's sections; a card is an article too.
        most = _MOST * counted[main.start : main.end].sum()
        is_whole = (
            is_docs
            and len(articles) == 1
            and counted[articles[0].start : articles[0].end].sum() >= most
        )
        container = articles[0] if is_whole else main
        part = slice(container.start, container.end)
        words = measures.words[part]
        code = (measures.tags[part] == blocks.TAG_NUMBER["pre"]).sum()
        if not is_docs and (code < _LEAST_CODE or (words * keep[part]).sum() < _MOST * words.sum()):
            continue
        if container.element.getroottree().xpath(_POSTS):
            return
        aside = is_aside & (measures.start >= part.start) & (measures.end <= part.stop)
        wanted = (likely >= _CRUMB) & (measures.around(aside) == 0)
        if not container.element.getroottree().xpath(_KNOWN):
            wanted &= _apart_from_menus(measures, counted)
        keep[part] |= wanted[part]
        break
    else:
        part = slice(0, 0)
    if is_docs:
        leads_away = _leading_away(outline.containers[0].element.getroottree())
        menus = [_is_menu(one, part, leads_away) for one in outline.containers]
        without = keep & (measures.around(measures.np.array(menus)) == 0)
        keep[:] = without if without.any() else keep


def _apart_from_menus(measures: Measures, kept: Floats) -> Mask:
    """Mask the blocks that are no menus where no element is marked as the main one.

    Menus stand above the first kept text, below the last, and between sections; a row of a table is one text.
    """
    containers, places = measures.outline.containers, measures.np.flatnonzero(kept)
    pairs = zip(measures.tokens, measures.outline.blocks, strict=True)
    found: Mask = (measures.link_share < _MOST) & [
        sum(map(len, words)) > block.link_chars for words, block in pairs
    ]
    for row in (
        one for one in containers if one.tag == "tr" and one.end - one.start <= len(one.element)
    ):
        found[row.start : row.end] = found[row.start : row.end].any()
    found[: places[0]] = False
    found[places[-1] :] &= measures.link_share[places[-1] :] == 0
    return found


def _leading_away(tree: Any) -> set[Any]:
    """The elements with a link to another page; each is found once, however deep menus are nested."""
    found: set[Any] = set()
    for link in tree.iter("a"):
        if not link.get("href", "#").startswith("#"):
            found.update(list(takewhile(lambda one: one not in found, link.iterancestors())))
    return found


def _is_menu(container: Container, main: slice, leads_away: set[Any]) -> bool:
    """Whether an element of a page of documentation is a menu, banner or dialog, or lists the headings below it."""
    element = container.element
    is_outside = container.end <= main.start or container.start >= main.stop
    name = f"{element.get('id', '')} {element.get('class', '')}".lower()
    if is_outside and (element.tag in ("nav", "footer") or element.get("role") in _MENUS):
        return True
    if "breadcrumb" in name or name.strip() == "footer":
        return True
    # The author of a page of questions has written `.. contents::` for Sphinx, and searches find it.
    if "contents" in name.split() or (element.tag != "nav" and "toc" not in name.split()):
        return False
    return element not in leads_away


def _mains(outline: Outline, kept: Floats, *, is_docs: bool) -> list[Container]:
    """The main elements, given the number of kept words of each block."""
    root = outline.containers[0].element.getroottree()
    mains = set(root.xpath(_MARKED))
    marked = (
        list(islice((c for c in outline.containers if c.element in mains), _MOST_MAINS))
        if mains
        else []
    )
    if marked or not kept.any() or not (is_docs or root.xpath(_GENERATED)):
        return marked
    before = [0.0, *kept.cumsum()]
    around = (
        c
        for c in reversed(outline.containers)
        if before[c.end] - before[c.start] >= _NEARLY_ALL * before[-1]
    )
    # Elements that hold most of the text are in each other, the innermost last.
    inner = next(around, None)
    return [] if inner is None else [_all_sections(outline, inner)]


def _all_sections(outline: Outline, inner: Container) -> Container:
    """The outermost of the sections in each other around an element: a long one may hold nearly all text of a page."""
    place, found = inner, None
    while True:
        is_section = place.tag == "section" or "section" in place.element.get("class", "").split()
        if is_section:
            found = place
        if (found and not is_section) or place is outline.containers[0]:
            return found or inner
        place = outline.containers[place.parent]


def blank(outline: Outline, keep: Mask) -> None:
    """Remove the text of dropped blocks from the DOM, and most elements in an element of which nothing is kept."""
    for block, kept in zip(outline.blocks, keep.tolist(), strict=True):
        for element, where in () if kept else block.slots:
            if where == "alt":
                element.attrib.pop("alt", None)
            elif where == "text":
                element.text = None
            else:
                element.tail = None
    before = [0, *keep.cumsum().tolist()]  # the number of kept blocks before each
    below = 0  # the number of blocks up to the end of the last element that needs no further look
    for container in outline.containers:
        if below < container.end and container.start < container.end:
            is_dropped = before[container.start] == before[container.end]
            if is_dropped:
                # One stays, so that a heading does not take it for an empty target of links.
                del container.element[1:]
                for child in container.element:
                    child.clear()
            # The cells and tables in a table count, even without text.
            if is_dropped or container.tag == "table":
                below = container.end


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
    from websearch_gateway.pages.formats.html import has_little_text, needs_scripts

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
