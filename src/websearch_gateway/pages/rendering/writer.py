"""Writes a tree as Markdown: blocks, lists and inline elements, in one walk.

Unwanted text of the tree is blanked; elements without text produce no output. Nothing here recurses, so no depth of
nesting can break it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from websearch_gateway.pages.rendering.anchors import (
    Anchors,
    defined_in,
    ids_of_signature,
    marked,
    with_mark,
    without_marks,
)
from websearch_gateway.pages.rendering.code import fence
from websearch_gateway.pages.rendering.escapes import (
    BLANKS,
    absolute,
    as_paragraph,
    code_span,
    escaped,
)
from websearch_gateway.pages.rendering.numerals import LARGEST_ROMAN, roman
from websearch_gateway.pages.rendering.scripts import scripted
from websearch_gateway.pages.rendering.tables import Room, is_data, table
from websearch_gateway.pages.rendering.vocabulary import (
    CODE,
    HEADINGS,
    INLINE,
    LISTS,
    MARKER,
    NOTE,
    PERMALINKS,
    TEX,
    TICK,
)


def to_markdown(root: Any, base: str, bullet: str = "-") -> str:
    """The Markdown of an lxml element, which `prepared` has been over.

    Args:
        base: the URL that its links are relative to.
        bullet: the mark of its list items.
    """
    return without_marks(_marked_markdown(root, base, bullet, Room()))[0]


def with_anchors(root: Any, base: str) -> tuple[str, Anchors]:
    """As `to_markdown`, with the ids of its headings and terms."""
    return without_marks(_marked_markdown(root, base, "-", Room()))


def _marked_markdown(root: Any, base: str, bullet: str, room: Room) -> str:
    """The Markdown of an element with the marks of its anchors."""
    from lxml import etree

    writer = _Writer(base, bullet, room)
    walk = etree.iterwalk(root, events=("start", "end"))
    written_whole = None
    for event, element in walk:
        if event == "start":
            if not writer.start(element):
                written_whole = element
                walk.skip_subtree()
        elif element is written_whole:
            writer.tail(element)
        else:
            writer.end(element)
    return "\n\n".join(writer.closed(writer.frames[0])).strip()


@dataclass(slots=True)
class _Frame:
    """An open element: its output so far, and the number of its next list item with the step to the one after."""

    element: Any
    blocks: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    number: int = 1
    step: int = 1


_MOST_STEPS = 4
"""How many elements around a raised text are asked for the character before or after it."""


class _Writer:
    """Writes Markdown during a walk. `depth` counts the open elements that have a mark or an indent."""

    def __init__(self, base: str, bullet: str, room: Room) -> None:
        self.base = base
        self.bullet = bullet
        self.room = room
        self.frames: list[_Frame] = [_Frame(None)]
        self.depth = 0

    def start(self, element: Any) -> bool:
        """Open an element. Returns whether to walk its children: code, tables and the like are written as a whole."""
        tag = element.tag
        if tag in INLINE:
            return self._start_inline(element, tag)
        self._flush()
        if tag == "pre":
            self._add_block(fence(element))
            return False
        if tag == "table" and is_data(element):
            self._add_block(table(element, self._written_apart, self.room))
            return False
        self.depth += _is_marked(element)
        self._open(element)
        if tag == "ol":
            _start_numbers(self.frames[-1])
        return True

    def _written_apart(self, element: Any) -> str:
        return _marked_markdown(element, self.base, "-", self.room)

    def _add_block(self, block: str) -> None:
        if block:
            self.frames[-1].blocks.append(block)

    def _start_inline(self, element: Any, tag: str) -> bool:
        if tag == "br":
            self._inline("\n")
            return True
        if tag == "img":
            self._inline(escaped(element.get("alt", "")))
            return True
        is_code = tag in CODE and next(element.iter("a", TEX), None) is None
        if tag == TEX:
            self._formula(element)
        elif is_code:
            self._inline(code_span("".join(element.itertext())))
        elif not len(element):  # most inline elements are a few words
            self._inline(self._marked(element, escaped(element.text or "")))
        else:
            self._open(element)
            return True
        return False

    def _formula(self, element: Any) -> None:
        """A formula as LaTeX in a code span, so that nothing in it becomes markup."""
        formula = (element.text or "").strip()
        if not formula:
            return
        if element.get("display") == "block":
            self._flush()
            self._add_block(code_span(f"$${formula}$$"))
        else:
            self._inline(code_span(f"${formula}$"))

    def _open(self, element: Any) -> None:
        self.frames.append(_Frame(element))
        if text := element.text:
            self._inline(escaped(text))

    def end(self, element: Any) -> None:
        """Close an element that `start` has opened."""
        tag = element.tag
        if tag not in ("br", "img"):
            frame = self.frames.pop()
            if tag in INLINE:
                self._leave_inline(frame)
            else:
                self._take(self._wrapped(frame))
                self.depth -= _is_marked(element)
        self.tail(element)

    def tail(self, element: Any) -> None:
        """Add the text after an element."""
        if (text := element.tail) and len(self.frames) > 1:
            self._inline(escaped(text))

    def _inline(self, text: str) -> None:
        self.frames[-1].inline.append(text)

    def _take(self, blocks: list[str]) -> None:
        """Move blocks to the open element, if possible without a copy: many elements may surround many blocks."""
        parent = self.frames[-1]
        if parent.blocks:
            parent.blocks.extend(blocks)
        else:
            parent.blocks = blocks

    def _flush(self) -> None:
        """Start a block: the inline text before it becomes its own paragraph."""
        frame = self.frames[-1]
        if not frame.inline:
            return
        if paragraph := as_paragraph("".join(frame.inline)):
            element = frame.element
            if element is not None and element.tag in INLINE:
                paragraph = self._marked(element, paragraph)
            frame.blocks.append(paragraph)
        frame.inline.clear()

    def closed(self, frame: _Frame) -> list[str]:
        """All blocks of an element."""
        if frame.inline and (paragraph := as_paragraph("".join(frame.inline))):
            frame.blocks.append(paragraph)
        return frame.blocks

    def _leave_inline(self, frame: _Frame) -> None:
        if not frame.blocks:
            self._inline(self._marked(frame.element, "".join(frame.inline)))
            return
        # A link or a mark around whole blocks: keep the blocks separate.
        self.frames.append(frame)
        self._flush()
        self.frames.pop()
        self._flush()
        blocks = frame.blocks
        if frame.element.tag == "a" and _may_be_linked(blocks):
            hashes, label = _HEADING.findall(blocks[0])[0]
            blocks[0] = hashes + self._marked(frame.element, label)
        self._take(blocks)

    def _marked(self, element: Any, text: str) -> str:
        """The text of an inline element with its marks; blanks around it stay outside."""
        inner = text.strip()
        if not inner:
            return text
        before = text[: len(text) - len(text.lstrip())]
        after = text[len(text.rstrip()) :]
        tag = element.tag
        if tag == "a":
            inner = self._link(element, inner)
        elif mark := _MARKS.get(tag):
            inner = _between_marks(inner, mark)
        elif tag in ("sup", "sub"):
            script = self._scripted(element, inner)
            if script != inner:
                before = ""
            inner = script
        elif tag == "q":
            is_inner = next(element.iterancestors("q"), None) is not None
            inner = f"‘{inner}’" if is_inner else f"“{inner}”"
        elif tag == "rt" and not _has_bracket_before(element):
            inner = f"({inner})"
        return f"{before}{inner}{after}" if inner else ""

    def _link(self, element: Any, inner: str) -> str:
        href = element.get("href", "")
        is_permalink = inner in PERMALINKS or inner.startswith("Section titled ")
        leads_to_source = inner == "Source" and "src/" in href  # of haddock, rustdoc
        if is_permalink or leads_to_source:
            return ""
        if (note := element.get(NOTE)) is not None:
            return f"[^{note}]"
        if href.startswith("#") and element.getparent().tag in HEADINGS:  # to the heading itself
            return inner
        target = absolute(href, self.base)
        if not target or "](" in inner:
            return inner
        return f"[{BLANKS.sub(' ', inner)}]({target})"

    def _scripted(self, element: Any, inner: str) -> str:
        return scripted(
            inner, self._last_character(), _next_character(element), is_raised=element.tag == "sup"
        )

    def _last_character(self) -> str:
        """The character before the inline element that ends, without marks; "" at the start of a line."""
        for frame in islice(reversed(self.frames), _MOST_STEPS):
            for piece in reversed(frame.inline[-_MOST_STEPS:]):
                if bare := piece.rstrip("*~"):
                    return bare[-1]
            if frame.element is None or frame.element.tag not in INLINE:
                break
        return ""

    def _wrapped(self, frame: _Frame) -> list[str]:
        """The blocks of an element that ends, with its marks."""
        element = frame.element
        tag = element.tag
        blocks = self.closed(frame)
        number = self._number_of(element) if tag == "li" else ""
        is_too_deep = self.depth > _DEEPEST and _is_marked(element)
        if not blocks or is_too_deep:
            return blocks
        if note := element.get(NOTE):
            return [_noted(note, blocks)]
        if tag in HEADINGS:
            return [_heading(element, blocks)]
        if tag == "li":
            return [_item(element, number or f"{self.bullet} ", blocks)]
        if tag in LISTS:
            is_right_in_list = _is_marked(element) and len(self.frames[-1].blocks) > 0
            return [_list(blocks, indent="  " if is_right_in_list else "")]
        if tag == "blockquote":
            return _quotation(blocks)
        if tag == "dt":
            return _term(element, blocks)
        if tag == "div":
            for identifier in ids_of_signature(element, blocks[0]):
                blocks[0] = with_mark(blocks[0], identifier)
        elif tag == "p" and (identifier := defined_in(element)):
            blocks[0] = with_mark(blocks[0], identifier)
        return blocks

    def _number_of(self, item: Any) -> str:
        """The mark of an item of a numbered list, "" of another; counts it."""
        around = self.frames[-1]
        if around.element is None or around.element.tag != "ol":
            return ""
        number = _whole(item.get("value"))
        if number is None:
            number = around.number
        around.number = number + around.step
        return _counted(number, around.element.get("type", "1"))


def _has_bracket_before(reading: Any) -> bool:
    """Whether the reading of a Japanese word follows an `<rp>` with its bracket."""
    previous = reading.getprevious()
    return previous is not None and previous.tag == "rp" and bool(previous.text)


_MOST_LINKED = 50
"""A link around more blocks is left out."""
_HEADING = re.compile(r"(#{1,6} )?(.*)")


def _may_be_linked(blocks: list[str]) -> bool:
    """Whether the first of the blocks in a link can be its words."""
    first = blocks[0]
    is_line = "\n" not in first and not first.startswith(("|", "`"))
    if not is_line or len(blocks) > _MOST_LINKED:
        return False
    return not any("](" in block for block in blocks)  # no link in a link


_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~"}


def _between_marks(words: str, mark: str) -> str:
    """Words of one line between two marks, if they do not begin or end with the sign of the mark."""
    has_sign = mark[0] in (words[0], words[-1])
    return words if has_sign or "\n" in words else f"{mark}{words}{mark}"


# Elements whose Markdown has a mark or an indent, so that each rewrites all text in it. One inside of more than
# _DEEPEST gets no mark: the work would be quadratic in the depth.
_MARKED = frozenset(("li", "blockquote", "dt", *HEADINGS))
_DEEPEST = 20


def _is_marked(element: Any) -> bool:
    """Whether the Markdown of an element has a mark or an indent; a list right in a list belongs to the item above."""
    tag = element.tag
    if tag in _MARKED:
        return True
    if tag not in LISTS:
        return False
    parent = element.getparent()
    return parent is not None and parent.tag in LISTS


def _start_numbers(frame: _Frame) -> None:
    """Find the number of the first item of a list, which may count down."""
    element = frame.element
    is_reversed = element.get("reversed") is not None
    first = _whole(element.get("start"))
    if first is None and is_reversed:
        first = sum(1 for _ in element.iterchildren("li"))
    frame.number = 1 if first is None else first
    frame.step = -1 if is_reversed else 1


def _whole(value: str | None) -> int | None:
    """A number of a list in an attribute; None if the attribute holds no number, or an unusually large one."""
    text = (value or "").strip()
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 7 else None


def _counted(number: int, style: str) -> str:
    """The mark of an item of a numbered list. Markdown knows only digits: other numbers follow a bullet."""
    if style in ("a", "A") and number > 0:
        letters = _lettered(number)
    elif style in ("i", "I") and 0 < number <= LARGEST_ROMAN:
        letters = roman(number)
    elif number >= 0:
        return f"{number}. "
    else:
        letters = str(number)
    if style.isupper():
        letters = letters.upper()
    return f"- {letters}. "


def _lettered(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


_ESCAPED_NUMBER = re.compile(r"^(\d{1,9})\\([.)])")


def _heading(element: Any, blocks: list[str]) -> str:
    line = " ".join(BLANKS.sub(" ", block.replace("**", "")) for block in blocks)
    # Behind the mark of a heading a number begins no list.
    line = _ESCAPED_NUMBER.sub(r"\1\2", line)
    hashes = "#" * HEADINGS[element.tag]
    return marked(f"{hashes} {line}", element)


def _list(items: list[str], indent: str) -> str:
    """The items of a list, which are apart if one of them has several paragraphs."""
    has_paragraphs = any("\n\n" in item for item in items)
    whole = ("\n\n" if has_paragraphs else "\n").join(items)
    return _indented(whole, indent) if indent else whole


_IN_LIST = re.compile(r"(?:[-*+]|\d+\.) ")


def _item(element: Any, mark: str, blocks: list[str]) -> str:
    """A list item with its number or bullet, the box to tick, and an indent for its further lines."""
    if any(block.startswith("#") for block in blocks):  # a list of sections, as of javadoc
        return "\n\n".join(blocks)
    indent = 2 if mark.startswith("- ") else len(mark)
    if own := element.get(MARKER):
        mark, indent = f"- {escaped(own)} ", 2
    if (tick := element.get(TICK)) is not None:
        mark += f"[{tick or ' '}] "
    is_tight = all(_IN_LIST.match(block) for block in blocks[1:])
    text = ("\n" if is_tight else "\n\n").join(blocks)
    return mark + _continued(text, " " * indent)


def _quotation(blocks: list[str]) -> list[str]:
    # Code in a quotation would begin each line with its mark.
    if any(block.startswith("```") for block in blocks):
        return blocks
    lines = "\n\n".join(blocks).split("\n")
    return ["\n".join(f"> {line}".rstrip() for line in lines)]


def _noted(mark: str, blocks: list[str]) -> str:
    """A note, whose further lines are indented."""
    return _continued(f"[^{mark}]: " + "\n\n".join(blocks), "    ")


def _indented(text: str, indent: str) -> str:
    """A text whose lines have an indent, but for empty ones."""
    return indent + _continued(text, indent)


def _continued(text: str, indent: str) -> str:
    """As `_indented`, but for the first line."""
    return text.replace("\n", f"\n{indent}").replace(f"\n{indent}\n", "\n\n")


_BLOCK_STARTS = ("#", "-", "|", ">", "`", "*")


def _term(element: Any, blocks: list[str]) -> list[str]:
    """A term of a list of definitions in bold."""
    bold = []
    for block in blocks:
        if "\n" in block or block.startswith(_BLOCK_STARTS):
            bold.append(block)
            continue
        words = block if "`" in block else block.replace("**", "")
        bold.append(f"**{words}**")
    return [marked(bold[0], element), *bold[1:]]


def _next_character(element: Any) -> str:
    """The character after an inline element; "" at the end of its line."""
    for _ in range(_MOST_STEPS):
        if element.tail:
            return str(element.tail[0])
        following = element.getnext()
        if following is not None:
            is_script = following.tag in ("sub", "sup")
            return "" if is_script else str((following.text or " ")[0])
        element = element.getparent()
        if element is None or element.tag not in INLINE:
            break
    return ""
