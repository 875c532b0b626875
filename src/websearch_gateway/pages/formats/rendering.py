"""Writes Markdown from HTML that is all content, such as a comment, and from the paragraphs and tables of documents.

`pages.rendering` writes it, as for whole pages. `cleaned` is the last step of every reader.

Pure and linear; runs in a worker process. For pages with menus and advertisements use `extraction.extract`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
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
_XML_CONTROLS = dict.fromkeys(
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF]
)

Text = tuple[str, tuple[str, ...]]
"""A piece of text, and its marks: inline elements such as `strong`, `em`, `del`, `code`, `a ADDRESS`."""

Cell = tuple[Any, int, str]
"""What a cell holds (None: nothing), how many columns it spans, and "above" if it continues the cell above it."""


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
        last = _last(self.root)
        joins = last is not None and last.tag == tag
        line = self._child(
            last if joins else self._child(self.root, tag), "p" if tag == "blockquote" else "span"
        )
        if joins and tag == "pre":
            line.text = "\n"
        return line

    def item(self, level: int, *, is_ordered: bool, list_id: str = "") -> Any:
        """A new list item; `level` counts from 0. A numbered list continues that of the same `list_id` above."""
        level = min(level, DEEPEST_LIST)
        tag = "ol" if is_ordered else "ul"
        del self._lists[level + 1 :]
        if len(self._lists) == level + 1 and self._lists[level].tag != tag:
            del self._lists[level:]
        counts = self._counts.setdefault(list_id, [0] * (DEEPEST_LIST + 1))
        while len(self._lists) <= level:
            parent = self.root
            if self._lists:
                outer = self._lists[-1]
                found = _last(outer)
                parent = self._child(outer, "li") if found is None else found
            inner = self._child(parent, tag)
            if is_ordered and list_id and not self._lists and counts[level]:
                inner.set("start", str(counts[level] + 1))
            self._lists.append(inner)
        counts[level:] = [counts[level] + 1] + [0] * (DEEPEST_LIST - level)
        return self._child(self._lists[level], "li")

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
            for content, span, continues in cells:
                span = min(max(span, 1), MOST_SPANNED)
                if continues and (upper := above.get(column)) is not None:
                    upper.set("rowspan", str(int(upper.get("rowspan", "1")) + 1))
                else:
                    cell = above[column] = self._child(row, "th" if number == 0 else "td")
                    if span > 1:
                        cell.set("colspan", str(span))
                    if content is not None:
                        fill(content, Builder(cell))
                        if len(cell):
                            _without_tables(cell)
                column += span

    def tree(self, tree: Any) -> None:
        """Add what is in a tree of `parse_html`."""
        self._lists = []
        self._child(self.root, "div").extend(list(tree))

    def texts(self, parent: Any, texts: Iterable[Text]) -> None:
        """Add texts with their marks to an element; outside code each line feed is a line break."""
        for marks, run in groupby(texts, lambda one: one[1] if one[0].strip() else ()):
            text = "".join(text for text, _ in run).translate(_XML_CONTROLS)
            for number, piece in enumerate(text.split("\n") if parent.tag != "span" else (text,)):
                if number:
                    self._child(parent, "br")
                if piece:
                    self._append(parent, piece, marks)

    def text(self, parent: Any, text: str, marks: tuple[str, ...] = ()) -> None:
        """As `texts`, for one text."""
        is_first = parent.text is None and not len(parent)
        if is_first and not marks and "\n" not in text:  # most cells of tables
            parent.text = text.translate(_XML_CONTROLS) or None
        else:
            self.texts(parent, ((text, marks),))

    def _append(self, parent: Any, text: str, marks: tuple[str, ...]) -> None:
        target = parent
        for mark in dict.fromkeys(marks) if text.strip() else ():
            tag, _, address = mark.partition(" ")
            last = _last(target)
            if (
                last is not None
                and last.tag == tag
                and not last.tail
                and last.get("href", "") == address
            ):
                target = last
            else:
                target = self._child(target, tag)
                if address:
                    target.set("href", address.translate(_XML_CONTROLS))
        if (last := _last(target)) is not None:
            last.tail = (last.tail or "") + text
        else:
            target.text = (target.text or "") + text

    def first_heading(self) -> str:
        """The text of the first heading; "" if there is none."""
        heading = next(self.root.iter("h1", "h2"), None)
        return (
            ""
            if heading is None
            else " ".join("".join(heading.itertext()).split())[:LONGEST_HEADING]
        )


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
    """The result of `read(*arguments)` (`Extracted` or a `sites.Document`) without active or hidden content, and with
    warnings about it.

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
