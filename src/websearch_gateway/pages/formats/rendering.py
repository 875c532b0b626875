"""Writes Markdown from HTML that is all content, such as a comment, and from the paragraphs and tables of documents.

`pages.rendering` writes it, as for whole pages. `cleaned` is the last step of every reader.

Pure and linear; runs in a worker process. For pages with menus and advertisements use `extraction.extract`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from websearch_gateway.base import clean_markdown, decoded, strip_invisible_characters

HIDDEN_ELEMENTS = (
    *("script", "style", "noscript", "template", "svg", "head", "title"),
    *("button", "form", "iframe", "object", "img"),
)


def parse_html(html: str) -> Any:
    """Parse a piece of HTML into a tree under one lxml root element, which is empty for empty input."""
    import lxml.html

    # As bytes: lxml rejects a str that declares an encoding. Lone surrogates cannot be encoded.
    data = html.encode("utf-8", "replace")
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    return lxml.html.fromstring(b"<div>" + data + b"</div>", parser=parser)


def to_markdown(html: str, base_url: str = "") -> str:
    """A piece of HTML as Markdown. Keeps links that resolve against `base_url` and leaves out images."""
    return tree_to_markdown(parse_html(html), base_url) if html else ""


def tree_to_markdown(tree: Any, base_url: str = "", bullet: str = "-") -> str:
    """As `to_markdown`, from a tree of `parse_html`, which it changes. `bullet` is the mark of list items."""
    from websearch_gateway.pages import rendering  # large, and the server itself reads no page

    rendering.declare_formulas(tree)
    _leave_out_hidden(tree)
    rendering.prepared(tree)  # its style sheets are no text, but tell which elements are tables
    _leave_out_no_text(tree)
    return rendering.to_markdown(tree, base_url, bullet)


_NOTES: ContextVar[dict[str, None] | None] = ContextVar("notes_about_pieces", default=None)
"""What was left out of the pieces of HTML in the document that `cleaned` reads."""


def leave_out_unseen(tree: Any) -> None:
    """Remove, in place, what no reader of a tree of `parse_html` sees, and the elements that are no text.

    `cleaned` says so in its warnings.
    """
    _leave_out_hidden(tree)
    _leave_out_no_text(tree)


def _leave_out_hidden(tree: Any) -> None:
    from websearch_gateway.pages.visibility.strip import strip_invisible

    # Where a piece is a whole document, its title names it: it is no hidden text.
    for title in list(tree.iter("title")):
        if next(title.iterancestors("svg"), None) is None:
            title.clear(keep_tail=True)
    notes = _NOTES.get()
    for note in strip_invisible(tree, scripts_run=False):
        if notes is not None and len(notes) < _MOST_NOTES:
            notes[note] = None


def _leave_out_no_text(tree: Any) -> None:
    from lxml import etree

    # With the element goes the break that it would be in its line.
    etree.strip_elements(tree, *HIDDEN_ELEMENTS, with_tail=False)


_MOST_NOTES = 3

DEEPEST_LIST = 9
MOST_SPANNED = 100
LONGEST_HEADING = 300
XML_CONTROLS = dict.fromkeys(
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]
)

Text = tuple[str, tuple[str, ...]]
"""A piece of text, and its marks: inline elements such as `strong`, `em`, `del`, `code`, `a ADDRESS`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what it holds (None: nothing), and how many columns it spans."""

    content: Any
    span: int = 1
    continues_above: bool = False


class Builder:
    """A growing HTML tree. Linear: no text node grows, since a document chooses how often something is added to it."""

    def __init__(self, root: Any = None) -> None:
        from lxml import etree, html

        self._child = etree.SubElement
        self.root = html.Element("div") if root is None else root
        self._lists: list[Any] = []
        self._counts: dict[str, list[int]] = {}

    def block(self, tag: str) -> Any:
        """A new paragraph, heading or the like; following lines of code and of a quotation join the one before."""
        self._lists = []
        if tag not in ("pre", "blockquote"):
            return self._child(self.root, tag)
        block = _last(self.root)
        joins = block is not None and block.tag == tag
        if not joins:
            block = self._child(self.root, tag)
        if tag == "blockquote":
            return self._child(block, "p")
        line = self._child(block, "span")
        if joins:
            line.text = "\n"
        return line

    def item(self, level: int, *, is_ordered: bool, list_id: str = "") -> Any:
        """A new list item; `level` counts from 0. A numbered list continues that of the same `list_id` above."""
        level = min(level, DEEPEST_LIST)
        tag = "ol" if is_ordered else "ul"
        self._close_lists(level, tag)
        counts = self._counts.setdefault(list_id, [0] * (DEEPEST_LIST + 1))
        while len(self._lists) <= level:
            opened = self._child(self._place_of_list(), tag)
            is_outermost = not self._lists
            if is_outermost and is_ordered and list_id and counts[level]:
                opened.set("start", str(counts[level] + 1))
            self._lists.append(opened)
        counts[level] += 1
        counts[level + 1 :] = [0] * (DEEPEST_LIST - level)
        return self._child(self._lists[level], "li")

    def _close_lists(self, level: int, tag: str) -> None:
        """Close the lists below a level, and that of the level itself if it is of the other kind."""
        del self._lists[level + 1 :]
        if len(self._lists) == level + 1 and self._lists[level].tag != tag:
            del self._lists[level:]

    def _place_of_list(self) -> Any:
        """Where a further list begins: in the last item of the innermost one that is open."""
        if not self._lists:
            return self.root
        innermost = self._lists[-1]
        item = _last(innermost)
        return self._child(innermost, "li") if item is None else item

    def more(self) -> Any:
        """A further paragraph of the last list item; a paragraph of its own without a list."""
        return self._child(self._lists[-1][-1], "p") if self._lists else self.block("p")

    def table(self, rows: Iterable[Sequence[Cell]], fill: Callable[[Any, Builder], None]) -> None:
        """A table; `fill` writes what a cell holds. Cells that continue those above make these span several rows."""
        self._lists = []
        table = self._child(self.root, "table")
        above: dict[int, Any] = {}
        for number, cells in enumerate(rows):
            row = self._child(table, "tr")
            column = 0
            for cell in cells:
                span = min(max(cell.span, 1), MOST_SPANNED)
                upper = above.get(column) if cell.continues_above else None
                if upper is not None:
                    upper.set("rowspan", str(int(upper.get("rowspan", "1")) + 1))
                else:
                    above[column] = self._child(row, "th" if number == 0 else "td")
                    self._fill(above[column], cell.content, span, fill)
                column += span

    def _fill(
        self, place: Any, content: Any, span: int, fill: Callable[[Any, Builder], None]
    ) -> None:
        if span > 1:
            place.set("colspan", str(span))
        if content is not None:
            fill(content, Builder(place))
            if len(place):
                _without_tables(place)

    def tree(self, tree: Any) -> None:
        """Add what is in a tree of `parse_html`."""
        self._lists = []
        self._child(self.root, "div").extend(list(tree))

    def texts(self, parent: Any, texts: Iterable[Text]) -> None:
        """Add texts with their marks to an element; outside code each line feed is a line break."""
        for marks, run in groupby(texts, _marks_of):
            text = "".join(words for words, _ in run).translate(XML_CONTROLS)
            lines = (text,) if parent.tag == "span" else text.split("\n")
            for number, line in enumerate(lines):
                if number:
                    self._child(parent, "br")
                if line:
                    self._append(parent, line, marks)

    def text(self, parent: Any, text: str, marks: tuple[str, ...] = ()) -> None:
        """As `texts`, for one text."""
        is_first = parent.text is None and not len(parent)
        if is_first and not marks and "\n" not in text:  # most cells of tables
            parent.text = text.translate(XML_CONTROLS) or None
        else:
            self.texts(parent, ((text, marks),))

    def _append(self, parent: Any, text: str, marks: tuple[str, ...]) -> None:
        target = parent
        if text.strip():
            for mark in dict.fromkeys(marks):
                target = self._marked(target, mark)
        last = _last(target)
        if last is not None:
            last.tail = (last.tail or "") + text
        else:
            target.text = (target.text or "") + text

    def _marked(self, parent: Any, mark: str) -> Any:
        """The element for text with this mark at the end of a parent: the last one, if it has the same mark."""
        tag, _, address = mark.partition(" ")
        last = _last(parent)
        is_open = last is not None and last.tag == tag and not last.tail
        if is_open and last.get("href", "") == address:
            return last
        element = self._child(parent, tag)
        if address:
            element.set("href", address.translate(XML_CONTROLS))
        return element

    def first_heading(self) -> str:
        """The text of the first heading; "" if there is none."""
        heading = next(self.root.iter("h1", "h2"), None)
        if heading is None:
            return ""
        return " ".join("".join(heading.itertext()).split())[:LONGEST_HEADING]


def _marks_of(text: Text) -> tuple[str, ...]:
    """The marks of a text. Those of blanks show nothing, and would part the words beside them."""
    words, marks = text
    return marks if words.strip() else ()


def _without_tables(cell: Any) -> None:
    """Make blocks of the tables in a cell: Markdown has no tables in tables."""
    for inner in list(cell.iterdescendants("table", "tr", "th", "td")):
        inner.tag = "div"


def _last(element: Any) -> Any:
    """The last child; None without children. Unlike `len`, it does not count them."""
    return next(element.iterchildren(reversed=True), None)


def markdown_of(builder: Builder, bullet: str = "*") -> str:
    """The Markdown of the tree, in which each place of a merged cell repeats its text."""
    from websearch_gateway.pages import rendering

    return rendering.to_markdown(rendering.prepared(builder.root), "", bullet)


def note_of(number: int, builder: Builder) -> str:
    """A footnote, whose further lines are indented."""
    return f"[^{number}]: {markdown_of(builder)}".replace("\n", "\n    ").rstrip()


MAX_MARKDOWN = 2_000_000
"""The most characters of a page's Markdown, since several copies are in memory at once."""

MAX_TITLE = 1_000
TOO_LONG = "The page has more than {:,} characters of text; the rest is left out."


def cleaned(read: Callable[..., Any], url: str, *arguments: object) -> Any:
    """The result of `read(*arguments)` (`Extracted` or a `Document` of `sites.api`) without active or hidden content,
    and with warnings about it.

    Args:
        url: the source of the text; images of its own site may stay.
    """
    notes: dict[str, None] = {}
    earlier = _NOTES.set(notes)
    try:
        found = read(*arguments)
    finally:
        _NOTES.reset(earlier)
    cut = (TOO_LONG.format(MAX_MARKDOWN),) if len(found.markdown) > MAX_MARKDOWN else ()
    markdown, warnings = clean_markdown(found.markdown[:MAX_MARKDOWN], url)
    title, _ = strip_invisible_characters(found.title[:MAX_TITLE])
    return replace(
        found,
        title=title,
        markdown=markdown,
        warnings=tuple(dict.fromkeys((*found.warnings, *notes, *cut, *warnings))),
    )


UNSURE_ENCODING = "The page does not declare its encoding, and its letters do not tell it: some of them may be wrong."


def cleaned_text(read: Callable[..., Any], url: str, body: bytes, base: str, charset: str) -> Any:
    """As `cleaned`, for a text in a character encoding, with a warning if that is unsure."""
    found = cleaned(read, url, body, base, charset)
    if not decoded(body, charset).is_unsure:
        return found
    return replace(found, warnings=(*found.warnings, UNSURE_ENCODING))


def until_too_long(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces of a text up to the one that makes it too long, for formats that grow when converted."""
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece)
        if length > MAX_MARKDOWN:
            return


def figure(description: str, name: str) -> str:
    """How a picture is named in the text: by its alternative text, or else by its name."""
    words = " ".join((description or name).split())
    return f"[Image: {words}]" if words else "[Image]"
