"""Chooses the blocks to keep by how likely each belongs to the main text, and by the markup around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import page, threads
from websearch_gateway.pages.extraction.blocks import Container, Outline
from websearch_gateway.pages.extraction.measures import MOSTLY_LINKS, TAG_NUMBER, Measures

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.measures import Floats, Ints, Mask

MOST = 0.5
"""The least share of words that are kept in an element that is kept as a whole."""

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))

WRITTEN_WHOLE = [TAG_NUMBER[tag] for tag in ("td", "th", "pre")]
"""The blocks of which trafilatura writes several in one line, or in another form."""


def chosen(measures: Measures, likely: Floats, *, is_docs: bool = False, once: bool = True) -> Mask:
    """The mask of the blocks to keep, given how likely each belongs to the main text.

    Args:
        is_docs: the page is known to be documentation, so its main element and all its code are text.
        once: keep what the page repeats once.
    """
    likely = likely * ~measures.in_consent()
    keep: Mask = likely >= threshold(measures.words, likely)
    _keep_by_markup(measures.outline, keep)
    _keep_tables_and_lists(measures, likely, keep)
    _keep_code_and_headings(measures, likely, keep)
    _keep_reference(measures, likely, keep, is_docs=is_docs)
    if once:
        _drop_repeats(measures, keep)
    if is_docs:
        _keep_docs(measures, keep)
    else:
        threads.keep_posts(measures, keep)
    _keep_notes(measures.outline, keep)
    return keep


def blank(outline: Outline, keep: Mask) -> None:
    """Remove the text of dropped blocks from the DOM, and most elements in an element of which nothing is kept."""
    for block, is_kept in zip(outline.blocks, keep.tolist(), strict=True):
        if is_kept:
            continue
        for element, where in block.slots:
            if where == "alt":
                element.attrib.pop("alt", None)
            elif where == "text":
                element.text = None
            else:
                element.tail = None
    kept_before = [0, *keep.cumsum().tolist()]  # the number of kept blocks before each
    done = 0  # the number of blocks up to the end of the last element that needs no further look
    for container in outline.containers:
        if container.end <= done or container.start == container.end:
            continue
        is_dropped = kept_before[container.start] == kept_before[container.end]
        if is_dropped:
            # One stays, so that a heading does not take it for an empty target of links.
            del container.element[1:]
            for child in container.element:
                child.clear()
        # The cells and tables in a table count, even without text.
        if is_dropped or container.tag == "table":
            done = container.end


_LOWEST, _HIGHEST = 0.15, 0.6
"""The bounds of `threshold`."""


def threshold(words: Floats, likely: Floats) -> float:
    """The probability above which keeping a block raises the expected F1 over the words of this page.

    With calibrated probabilities this is half the best reachable F1, so a page of uncertain blocks keeps more than a
    clear one (Lipton et al., "Optimal thresholding of classifiers to maximize F1", 2014).
    """
    import numpy as np

    order, expected = expected_f1(words, likely)
    last_kept = order[np.argmax(expected)]
    return float(np.clip(likely[last_kept], _LOWEST, _HIGHEST))


def expected_f1(words: Floats, likely: Floats) -> tuple[Ints, Floats]:
    """The blocks from the most to the least likely, and the expected F1 of keeping all up to each of them."""
    import numpy as np

    order = np.argsort(-likely)
    kept_words = np.cumsum(words[order])
    kept_text = np.cumsum((words * likely)[order])
    all_text = kept_text[-1]
    return order, 2 * kept_text / np.maximum(1e-9, kept_words + all_text)


def _keep_by_markup(outline: Outline, keep: Mask) -> None:
    """Keep what looks like something else but for its markup.

    These are lists whose terms have ids, as generators of references write definitions, which look like navigation; and
    the posts of a thread in Vanilla, whose names say that all but the first are comments.
    """
    for container in outline.containers:
        around = outline.containers[container.parent]
        if container.tag == "dt" and _is_definition(container, around):
            keep[around.blocks] = True
        elif page.POST in _classes(container.element) and _is_in_thread(container.element):
            keep[container.blocks] = True


def _is_definition(term: Container, around: Container) -> bool:
    """Whether a term with an id stands in a list that is no navigation."""
    if around.tag != "dl" or not term.element.get("id"):
        return False
    return next(around.element.iterancestors("nav", "aside", "footer"), None) is None


_AROUND_POSTS = frozenset((page.AROUND_A_POST, "ItemDiscussion", "Comment", "Discussion"))


def _is_in_thread(post: Any) -> bool:
    """Whether an element is in one of those that Vanilla writes around posts."""
    around = post.iterancestors("div", "li")
    return any(not _AROUND_POSTS.isdisjoint(_classes(element)) for element in around)


def _classes(element: Any) -> list[str]:
    classes: list[str] = element.get("class", "").split()
    return classes


_WHOLE = frozenset(("ul", "ol", "dl", "table", "tr"))


def _keep_tables_and_lists(measures: Measures, likely: Floats, keep: Mask) -> None:
    """Keep tables and lists as a whole of which a part is kept, or of whose formulas one is likely to be text."""
    np = measures.np
    running = np.zeros((2, len(keep) + 1))
    np.cumsum([keep, likely], axis=1, out=running[:, 1:])
    kept_blocks, likely_blocks = running[:, measures.end] - running[:, measures.start]
    blocks = measures.end - measures.start
    # Formulas are pictures, of which no words are counted.
    is_formula = (measures.sums[:, 0] == 0) & (likely_blocks >= _LOWEST * blocks)
    is_partly_kept = (kept_blocks < blocks) & ((kept_blocks > 0) | is_formula)
    for container, is_part in zip(measures.outline.containers, is_partly_kept, strict=True):
        if container.tag == "table" or (is_part and container.tag in _WHOLE):
            _keep_whole(container, measures.words, likely, keep)


_FOLLOWS = 0.05
"""A table after kept text is kept if one of its blocks is more likely than this."""


def _keep_whole(container: Container, words: Floats, likely: Floats, keep: Mask) -> None:
    """Keep a table or list as a whole if most of it is kept, a table of data that follows kept text, and its rows of
    which a cell is kept."""
    part = container.blocks
    if keep[part].all() or _is_layout(container):
        return
    is_mostly_kept = (words[part] * keep[part]).sum() >= MOST * words[part].sum()
    is_begun_row = container.tag == "tr" and keep[part].any()
    follows_text = container.tag == "table" and keep[container.start - 1 : container.start].any()
    is_expected = follows_text and likely[part].max() > _FOLLOWS
    if is_mostly_kept or is_begun_row or is_expected:
        keep[part] = True


def _is_layout(container: Container) -> bool:
    """Whether a table, or the one around a row, places its cells, but holds no data."""
    if container.tag not in ("table", "tr"):
        return False
    table = container.element
    if container.tag == "tr":
        table = next(container.element.iterancestors("table"), None)
    return table is None or not rendering.is_data(table)


_HEADS = 0.05
"""A heading right above kept text is kept if it is more likely than this."""


def _keep_code_and_headings(measures: Measures, likely: Floats, keep: Mask) -> None:
    """Keep code between kept text, and a heading right above kept text."""
    containers = measures.outline.containers
    tags = [containers[block.place].tag for block in measures.outline.blocks]
    kept: list[bool] = keep.tolist()
    for place, tag in enumerate(tags):
        if tag == "pre" and not kept[place]:
            follows_text = any(kept[max(0, place - 2) : place])
            kept[place] = follows_text and any(kept[place + 1 : place + 3])
    for place in range(len(tags) - 2, -1, -1):
        if tags[place] in HEADINGS and kept[place + 1] and likely[place] > _HEADS:
            kept[place] = True
    keep[:] = kept


_ASIDE = [TAG_NUMBER[tag] for tag in ("nav", "aside", "footer")]

_LEAST_CODE = 3
"""The least blocks of code on a page that is taken for documentation by them."""

_CRUMB = 0.05
"""The least likelihood of a block in the main element of a page of documentation that is kept."""

_FORUM = (
    "boolean(//*[@itemtype][contains(@itemtype, 'schema.org/Question') or contains(@itemtype, 'schema.org/QAPage') "
    "or contains(@itemtype, 'schema.org/DiscussionForumPosting')])"
)


def _keep_reference(measures: Measures, likely: Floats, keep: Mask, *, is_docs: bool) -> None:
    """Keep the main element of a page of documentation as a whole, without its navigation.

    The short lines of such a page (signatures, versions, histories) look like the navigation of other pages. A page is
    documentation if its author marked its main element, or a known program wrote it, and the kept text in it has code;
    the posts of a forum are also marked, and exclude it.
    """
    if not is_docs and measures.is_in("pre").sum() < _LEAST_CODE:
        return
    is_aside = measures.np.isin(measures.tag, _ASIDE)
    counted = measures.words * keep
    if is_docs:
        counted = counted * (measures.around(is_aside) == 0)
    main = _main(measures, keep, counted, is_docs=is_docs)
    if main is not None:
        root = main.element.getroottree()
        if root.xpath(_FORUM):
            return
        part = main.blocks
        is_aside_in_main = is_aside & (measures.start >= main.start) & (measures.end <= main.end)
        is_text = (likely >= _CRUMB) & (measures.around(is_aside_in_main) == 0)
        if not root.xpath(_KNOWN):
            is_text &= _apart_from_menus(measures, counted)
        keep[part] |= is_text[part]
    if is_docs:
        _drop_menus(measures, keep, slice(0, 0) if main is None else main.blocks)


_MARKED = (
    "//main | //div[@class = 'contents' or @class = 'col-content'] | //*[@id or @role]"
    "[@role = 'main' or @id = 'main-content' or @id = 'page-content' or @id = 'apicontent' or @id = 'interface']"
)
"""The elements that hold the main text by their markup; the last three are haddock's, Doxygen's and TypeDoc's."""
_GENERATED = (
    "boolean(//*[@class]"
    "[contains(@class, 'docutils') or @class = 'titlepage' or @class = 'sectionbody' or @class = 'memitem'])"
)
"""The elements that Sphinx, DocBook, AsciiDoc and Doxygen write, whose themes often mark no main element."""
_KNOWN = f"boolean({_MARKED}) or {_GENERATED}"

_MOST_MAINS = 3

_NEARLY_ALL = 0.9
"""The least share of the kept words that are in the main element of a generated page."""


def _main(measures: Measures, keep: Mask, counted: Floats, *, is_docs: bool) -> Container | None:
    """The first main element that is to be kept as a whole, given the number of kept words of each block."""
    for main in _mains(measures.outline, counted, is_docs=is_docs):
        if is_docs:
            return _only_article(measures.outline, main, counted) or main
        if _is_reference(measures, main, keep):
            return main
    return None


def _mains(outline: Outline, counted: Floats, *, is_docs: bool) -> list[Container]:
    """The elements that are marked as main ones, or else the innermost one of a generated page with nearly all text."""
    root = outline.containers[0].element.getroottree()
    marked = set(root.xpath(_MARKED))
    if marked:
        mains = (container for container in outline.containers if container.element in marked)
        first_mains = list(islice(mains, _MOST_MAINS))
        if first_mains:
            return first_mains
    if not counted.any() or not (is_docs or root.xpath(_GENERATED)):
        return []
    before = [0.0, *counted.cumsum()]
    # Elements that hold most of the text are in each other, the innermost last.
    for container in reversed(outline.containers):
        if before[container.end] - before[container.start] >= _NEARLY_ALL * before[-1]:
            return [_all_sections(outline, container)]
    return []


def _all_sections(outline: Outline, inner: Container) -> Container:
    """The outermost of the sections in each other around an element: a long one may hold nearly all text of a page."""
    outermost = None
    for container in _outwards(outline, inner):
        if container.tag == "section" or "section" in _classes(container.element):
            outermost = container
        elif outermost is not None:
            break
    return outermost or inner


def _outwards(outline: Outline, inner: Container) -> Iterator[Container]:
    """An element and those around it, up to the root."""
    container = inner
    while container is not outline.containers[0]:
        yield container
        container = outline.containers[container.parent]
    yield container


def _only_article(outline: Outline, main: Container, counted: Floats) -> Container | None:
    """The only article of a main element, if it holds most of the text: beside it stand lists of the page's sections.

    Of several articles each may be a card.
    """
    articles = [
        container
        for container in outline.containers
        if container.tag == "article"
        and main.start <= container.start
        and container.end <= main.end
    ]
    if len(articles) != 1:
        return None
    is_most = counted[articles[0].blocks].sum() >= MOST * counted[main.blocks].sum()
    return articles[0] if is_most else None


def _is_reference(measures: Measures, main: Container, keep: Mask) -> bool:
    """Whether a main element has code, and most of it is kept."""
    part = main.blocks
    words = measures.words[part]
    has_code = measures.is_in("pre")[part].sum() >= _LEAST_CODE
    return bool(has_code and (words * keep[part]).sum() >= MOST * words.sum())


def _apart_from_menus(measures: Measures, counted: Floats) -> Mask:
    """Mask the blocks that are no menus where no element is marked as the main one.

    Menus stand above the first kept text, below the last, and between sections; a row of a table is one text.
    """
    has_own_text = [
        sum(map(len, words)) > block.link_chars
        for words, block in zip(measures.tokens, measures.outline.blocks, strict=True)
    ]
    is_text: Mask = (measures.link_share < MOSTLY_LINKS) & has_own_text
    for row in measures.outline.containers:
        if row.tag == "tr" and row.end - row.start <= len(row.element):
            is_text[row.blocks] = is_text[row.blocks].any()
    kept_places = measures.np.flatnonzero(counted)
    first, last = kept_places[0], kept_places[-1]
    is_text[:first] = False
    is_text[last:] &= measures.link_share[last:] == 0
    return is_text


def _drop_menus(measures: Measures, keep: Mask, main: slice) -> None:
    """Drop the menus of a page of documentation, unless nothing is left then."""
    containers = measures.outline.containers
    leads_away = _leading_away(containers[0].element.getroottree())
    is_menu = [_is_menu(container, main, leads_away) for container in containers]
    without_menus = keep & (measures.around(measures.np.array(is_menu)) == 0)
    if without_menus.any():
        keep[:] = without_menus


def _leading_away(tree: Any) -> set[Any]:
    """The elements with a link to another page; each is visited once, however deep menus are nested."""
    leading: set[Any] = set()
    for link in tree.iter("a"):
        if link.get("href", "#").startswith("#"):
            continue
        for element in link.iterancestors():
            if element in leading:
                break
            leading.add(element)
    return leading


_MENUS = frozenset(("banner", "contentinfo", "dialog", "navigation", "search"))


def _is_menu(container: Container, main: slice, leads_away: set[Any]) -> bool:
    """Whether an element of a page of documentation is a menu, banner or dialog, or lists the headings below it."""
    element = container.element
    is_outside = container.end <= main.start or container.start >= main.stop
    if is_outside and (element.tag in ("nav", "footer") or element.get("role") in _MENUS):
        return True
    name = f"{element.get('id', '')} {element.get('class', '')}".lower()
    if "breadcrumb" in name or name.strip() == "footer":
        return True
    names = name.split()
    # The author of a page of questions has written `.. contents::` for Sphinx, and searches find it.
    if "contents" in names:
        return False
    is_list_of_headings = element.tag == "nav" or "toc" in names
    return is_list_of_headings and element not in leads_away


_LEAST_REPEATED = 4
"""The least words of a text that is kept once."""


@dataclass(slots=True)
class _Places:
    """Where a text is kept: the elements that hold it, and the headings above it, by their indexes."""

    elements: set[int] = field(default_factory=set)
    headings: set[int] = field(default_factory=set)


def _drop_repeats(measures: Measures, keep: Mask) -> None:
    """Keep each text in its first place: shops and forums have theirs again for small screens and in boxes.

    Texts beside each other, in one list or under different headings may be equal on purpose: answers, steps, clauses.
    Headings stay, since a table of contents repeats them.
    """
    containers = measures.outline.containers
    parent: list[int] = measures.parent.tolist()
    place: list[int] = measures.place.tolist()
    heading = -1
    first_heading: dict[tuple[str, ...], int] = {}
    places_of: defaultdict[tuple[str, ...], _Places] = defaultdict(_Places)
    may_repeat = keep & ~measures.np.isin(measures.tags, WRITTEN_WHOLE)
    for block in measures.np.flatnonzero(may_repeat).tolist():
        words = tuple(measures.tokens[block])
        if containers[place[block]].tag in HEADINGS:
            heading = first_heading.setdefault(words, block)
            continue
        if len(words) < _LEAST_REPEATED:
            continue
        around = parent[place[block]]
        if containers[around].tag in ("li", "dd"):
            around = parent[around]
        places = places_of[words]
        is_on_purpose = around in places.elements or heading not in places.headings
        keep[block] = is_on_purpose
        if is_on_purpose:
            places.elements.add(around)
            places.headings.add(heading)


def _keep_docs(measures: Measures, keep: Mask) -> None:
    """Keep what is text on any page of documentation: all code, the page's own heading, and the notes at its foot."""
    is_code, is_h1 = measures.is_in("pre"), measures.is_in("h1")
    says_what_code_is_for = measures.is_in("p")[:-1] & is_code[1:]
    keep |= is_code
    keep[:-1] |= says_what_code_is_for
    for container in measures.outline.containers:
        if _is_footnotes(container.element):
            keep[container.blocks] = True
    if not keep[is_h1].any():  # AsciiDoc writes it above the main element
        keep |= is_h1 & (measures.titled == 1)
    _drop_second_heading(measures, keep)


def _is_footnotes(element: Any) -> bool:
    return element.get("role") == "doc-footnote" or "footnotes" in element.values()


def _drop_second_heading(measures: Measures, keep: Mask) -> None:
    """Drop a heading of the page that stands right before the same one: a theme has it once more for paper."""
    is_h1 = measures.is_in("h1")
    heading = -1  # the block right before, if it is a heading
    for block in measures.np.flatnonzero(keep).tolist():
        if not is_h1[block]:
            heading = -1
            continue
        if heading >= 0 and measures.tokens[block] == measures.tokens[heading]:
            keep[heading] = False
        heading = block


def _keep_notes(outline: Outline, keep: Mask) -> None:
    """Keep the notes that the marks in kept text lead to."""
    notes: set[str] = set()
    for block, is_kept in zip(outline.blocks, keep.tolist(), strict=True):
        if is_kept:
            for element, _ in block.slots:
                notes.update(_notes_of(element))
    if not notes:
        return
    for container in outline.containers:
        if container.element.get(rendering.NOTE) in notes:
            keep[container.blocks] = True


def _notes_of(element: Any) -> Iterator[str]:
    """The note that a link leads to: the element itself, or its parent if the mark is raised in its link."""
    for link in (element, element.getparent()):
        if link is not None and link.tag == "a" and link.get(rendering.NOTE):
            yield link.get(rendering.NOTE)
