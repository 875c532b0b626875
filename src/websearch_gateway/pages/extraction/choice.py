"""Chooses the blocks to keep by how likely each belongs to the main text, and by the markup around it."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import page, threads
from websearch_gateway.pages.extraction.blocks import Container, Outline
from websearch_gateway.pages.extraction.features import TAG_NUMBER, Measures

if TYPE_CHECKING:
    from websearch_gateway.pages.extraction.features import Floats, Ints, Mask

_LOWEST, _HIGHEST = 0.15, 0.6  # the bounds of `threshold`
MOST = 0.5  # the least share of words that are kept in an element that is kept as a whole
_FOLLOWS = 0.05  # a table after kept text is kept if one of its blocks is more likely than this
_WHOLE = frozenset(("ul", "ol", "dl", "table", "tr"))
_MARKED = (
    "//main | //div[@class = 'contents' or @class = 'col-content'] | //*[@id or @role]"
    "[@role = 'main' or @id = 'main-content' or @id = 'page-content' or @id = 'apicontent' or @id = 'interface']"
)
"""The elements that hold the main text by their markup; the last three are haddock's, Doxygen's and TypeDoc's."""
_ASIDE = [TAG_NUMBER[tag] for tag in ("nav", "aside", "footer")]
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
_HEADS = 0.05
"""A heading right above kept text is kept if it is more likely than this."""
WRITTEN_WHOLE = [TAG_NUMBER[tag] for tag in ("td", "th", "pre")]
"""The blocks of which trafilatura writes several in one line, or in another form."""
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
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
    tags, h1 = measures.tags, measures.tags == TAG_NUMBER["h1"]
    code = tags == TAG_NUMBER["pre"]
    # The words that say what the code is for.
    leads = (tags == TAG_NUMBER["p"])[:-1] & code[1:]
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
        keep & ~measures.np.isin(measures.tags, WRITTEN_WHOLE)
    ).tolist():
        words, around = tuple(measures.tokens[at]), parent[place[at]]
        if containers[place[at]].tag in HEADINGS:
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

    order, expected = expected_f1(words, likely)
    return float(np.clip(likely[order[np.argmax(expected)]], _LOWEST, _HIGHEST))


def expected_f1(words: Floats, likely: Floats) -> tuple[Ints, Floats]:
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
    most = (words[part] * keep[part]).sum() >= MOST * words[part].sum()
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
        if tags[at] in HEADINGS and kept[at + 1] and likely[at] > _HEADS:
            kept[at] = True
    keep[:] = kept


def _keep_reference(measures: Measures, likely: Floats, keep: Mask, *, is_docs: bool) -> None:
    """Keep the main element of a page of documentation as a whole, without its navigation.

    The short lines of such a page (signatures, versions, histories) look like the navigation of other pages. A page is
    documentation if its author marked its main element, or a known program wrote it, and the kept text in it has code;
    the posts of a forum are also marked, and exclude it.
    """
    outline, tag = measures.outline, measures.tag
    if not is_docs and (measures.tags == TAG_NUMBER["pre"]).sum() < _LEAST_CODE:
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
        most = MOST * counted[main.start : main.end].sum()
        is_whole = (
            is_docs
            and len(articles) == 1
            and counted[articles[0].start : articles[0].end].sum() >= most
        )
        container = articles[0] if is_whole else main
        part = slice(container.start, container.end)
        words = measures.words[part]
        code = (measures.tags[part] == TAG_NUMBER["pre"]).sum()
        if not is_docs and (code < _LEAST_CODE or (words * keep[part]).sum() < MOST * words.sum()):
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
    found: Mask = (measures.link_share < MOST) & [
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
