"""Writes a DOM as Markdown (CommonMark with tables), with absolute links.

The caller has blanked unwanted text; elements without text produce no output. Nothing here recurses, so no depth of
nesting can break it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, takewhile
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from websearch_gateway.pages.extraction.blocks import INLINE

_SPACE = re.compile(r"[ \t\r\n\f]+")
_IN_LIST = re.compile(r"(?:[-*+]|\d+\.) ")
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "del": "~~", "s": "~~", "strike": "~~"}
_CODE = frozenset(("code", "kbd", "samp", "tt"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# Padding a table of one wide row and many short ones would square its size; above this limit its rows stay short.
_MOST_PADDED_CELLS = 500_000
_MOST_LINKED = 50  # a link around more blocks is left out
# Elements whose Markdown has a mark or an indent, so that each rewrites all text in it. One inside of more than
# _DEEPEST gets no mark: the work would be quadratic in the depth.
_MARKED = frozenset(("li", "blockquote", "dt", *_HEADINGS))
_DEEPEST = 20
_PERMALINKS = frozenset(["¶", "#", "§", "🔗", "◆", "\uf0c1", "\u200b"])  # the last one is Docusaurus's


@dataclass(slots=True)
class _Frame:
    """An open element: its output so far, and how many list items have ended in it."""

    element: Any
    blocks: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    items: int = 0


def to_markdown(root: Any, base: str, bullet: str = "-") -> str:
    """The Markdown of an lxml element.

    Args:
        base: the URL that its links are relative to.
        bullet: the mark of its list items.
    """
    return without_marks(_marked_markdown(root, base, bullet))[0]


def with_anchors(root: Any, base: str) -> tuple[str, Anchors]:
    """As `to_markdown`, with the ids of its headings and terms."""
    return without_marks(_marked_markdown(root, base))


def _marked_markdown(root: Any, base: str, bullet: str = "-") -> str:
    from lxml import etree

    writer = _Writer(base, bullet)
    walk = etree.iterwalk(root, events=("start", "end"))
    whole = None
    for event, element in walk:
        if event == "start":
            if not writer.start(element):
                whole = element
                walk.skip_subtree()
        elif element is whole:
            writer.tail(element)
        else:
            writer.end(element)
    return "\n\n".join(writer.closed(writer.frames[0])).strip()


class _Writer:
    """Writes Markdown during a walk. `depth` counts the open elements of _MARKED."""

    def __init__(self, base: str, bullet: str) -> None:
        self.base = base
        self.bullet = bullet
        self.frames: list[_Frame] = [_Frame(None)]
        self.depth = 0

    def start(self, element: Any) -> bool:
        """Open an element. Returns whether to walk its children: code, tables and the like are written as a whole."""
        tag = element.tag
        if tag in INLINE:
            return self._start_inline(element, tag)
        self._flush()
        if tag == "pre" or (tag == "table" and is_data(element)):
            whole = fence(element) if tag == "pre" else table(element, self.base)
            self.frames[-1].blocks += [whole] if whole else []
            return False
        self.depth += tag in _MARKED
        self._open(element)
        return True

    def _start_inline(self, element: Any, tag: str) -> bool:
        if tag == "br":
            self._inline("\n")
        elif tag == "img":
            self._inline(escaped(element.get("alt", "")))
        elif tag in _CODE and next(element.iter("a"), None) is None:
            self._inline(code_span("".join(element.itertext())))
            return False
        elif not len(element):  # most inline elements are a few words
            self._inline(self._marked(element, escaped(element.text or "")))
            return False
        else:
            self._open(element)
        return True

    def _open(self, element: Any) -> None:
        self.frames.append(_Frame(element))
        if text := element.text:
            self._inline(escaped(text))

    def end(self, element: Any) -> None:
        tag = element.tag
        if tag not in ("br", "img"):
            frame = self.frames.pop()
            self.frames[-1].items += tag == "li"
            if tag in INLINE:
                self._leave_inline(frame)
            else:
                self._take(self._wrapped(frame))
                self.depth -= tag in _MARKED
        self.tail(element)

    def tail(self, element: Any) -> None:
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
        is_link = frame.element.tag == "a" and len(blocks) <= _MOST_LINKED and not any("](" in one for one in blocks)
        if is_link and "\n" not in blocks[0] and not blocks[0].startswith(("|", "`")):
            mark, label = re.findall(r"(#{1,6} )?(.*)", blocks[0])[0]
            blocks[0] = mark + self._marked(frame.element, label)
        self._take(blocks)

    def _marked(self, element: Any, text: str) -> str:
        inner = text.strip()
        if not inner:
            return text
        if element.tag == "a" and (inner in _PERMALINKS or inner.startswith("Section titled ")):
            return ""
        if inner == "Source" and element.tag == "a" and "src/" in element.get("href", ""):  # haddock, rustdoc
            return ""
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        if element.tag == "a":
            is_own = element.getparent().tag in _HEADINGS and element.get("href", "").startswith("#")
            target = "" if is_own else absolute(element.get("href"), self.base)
            inner = f"[{_SPACE.sub(' ', inner)}]({target})" if target and "](" not in inner else inner
        elif (mark := _MARKS.get(element.tag, "")) and mark[0] not in (inner[0], inner[-1]) and "\n" not in inner:
            inner = f"{mark}{inner}{mark}"
        return f"{before}{inner}{after}"

    def _wrapped(self, frame: _Frame) -> list[str]:
        tag, blocks = frame.element.tag, self.closed(frame)
        if not blocks or (tag in _MARKED and self.depth > _DEEPEST):
            return blocks
        if tag in _HEADINGS:
            line = " ".join(_SPACE.sub(" ", block.replace("**", "")) for block in blocks)
            return [marked(f"{'#' * _HEADINGS[tag]} {line}", frame.element)]
        if tag == "li" and any(block.startswith("#") for block in blocks):  # a list of sections, as of javadoc
            return ["\n\n".join(blocks)]
        if tag == "li":
            return [_item(frame.element.getparent(), self.frames[-1].items, blocks, self.bullet)]
        if tag in ("ul", "ol", "menu"):
            return ["\n".join(blocks) if all("\n\n" not in block for block in blocks) else "\n\n".join(blocks)]
        if tag == "blockquote":
            if any(block.startswith("```") for block in blocks):  # code in a quote would begin each line with its mark
                return blocks
            return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))]
        if tag == "dt":
            plain = ("\n" not in block and not block.startswith(("#", "-", "|", ">", "`", "*")) for block in blocks)
            blocks = [
                f"**{block if '`' in block else block.replace('**', '')}**" if is_plain else block
                for block, is_plain in zip(blocks, plain, strict=True)
            ]
            return [marked(blocks[0], frame.element), *blocks[1:]]
        if tag == "div":
            for identifier in _ids_of_signature(frame.element, blocks[0]):
                blocks[0] = _with_mark(blocks[0], identifier)
            return blocks
        if tag == "p" and (identifier := _defined_in(frame.element)):
            return [_with_mark(blocks[0], identifier), *blocks[1:]]
        return blocks


def _item(parent: Any, number: int, blocks: list[str], mark: str) -> str:
    """The `number`th item of the list `parent`, counted from 1."""
    bullet = f"{mark} "
    if parent is not None and parent.tag == "ol":
        start = parent.get("start", "1")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1
        bullet = f"{first + number - 1}. "
    tight = all(_IN_LIST.match(block) for block in blocks[1:])
    text = ("\n" if tight else "\n\n").join(blocks)
    return bullet + text.replace("\n", "\n" + " " * len(bullet)).replace("\n" + " " * len(bullet) + "\n", "\n\n")


def is_data(element: Any) -> bool:
    """Whether a table is data and not page layout: flat, no code, with headers or at least two short columns."""
    if element.get("role") in ("presentation", "none") or any(inner is not element for inner in element.iter("table")):
        return False
    if any("\n" in "".join(code.itertext()).strip() for code in element.iter("pre")):  # a row has one line
        return False
    if next(element.iter("th"), None) is not None:
        return True
    rows = _rows(element)
    blocks = sum(1 for _ in element.iter("p", "pre", "h1", "h2", "h3", "h4", "article", "section", "blockquote"))
    if len(rows) == 1 and any(not "".join(cell.itertext()).strip() for cell in rows[0]):  # a note beside its picture
        return False
    return max(map(len, rows), default=0) >= 2 and blocks <= sum(map(len, rows))


def _rows(element: Any) -> list[list[Any]]:
    return [list(row.iterchildren("td", "th")) for row in element.iter("tr")]


def table(element: Any, base: str) -> str:
    """A table as a pipe table, after its caption."""
    rows = [[text for cell in row for text in _cells(cell, base)] for row in _rows(element)]
    if not (rows := [row for row in rows if any(row)]):
        return ""
    width = max(map(len, rows))
    padded = width if width * len(rows) <= _MOST_PADDED_CELLS else 0
    lines = [f"| {' | '.join(row + [''] * (padded - len(row)))} |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    captions = (_marked_markdown(caption, base) for caption in islice(element.iterchildren("caption"), 1))
    return "\n\n".join((*filter(None, captions), "\n".join(lines)))


def _cells(cell: Any, base: str) -> list[str]:
    """The text of a cell, and an empty one for each further column that it spans."""
    for code in cell.iter("pre"):  # of one line; a fence needs three
        code.tag = "code"
    text = re.sub(r"(?:\s*\n\s*|^)(?:[-*+] )?", " ", _marked_markdown(cell, base)).strip()
    span = cell.get("colspan", "1")
    columns = min(20, max(1, int(span))) if span.isascii() and span.isdigit() and len(span) < 4 else 1
    return [re.sub(r"(?<!\\)\|", r"\|", text), *[""] * (columns - 1)]


_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])|`|\*(?=\S)|(?<=\S)\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)"
    r"|\](?=[(\[:])|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)"
)
_EMPHASIS = re.compile(r"[\\`*_\]<&~]")  # most text has none, and to look for them is faster than `_SPECIAL`
_LINE_STARTS = "#-+>=~"
_LINE_START = re.compile(r"^(?:(#{1,6}|[-+>]|={3,}|-{3,}|~{3,})(?=\s|$)|(\d{1,9})([.)])(?=\s|$))", re.MULTILINE)
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|brush:\s*|highlight-source-|highlight-|sourceCode\s+)([\w+#.]+)")
_NO_LANGUAGE = frozenset(
    ["default", "none", "plain", "text", "plaintext", "notranslate", "source", "wrap", "code", "dark", "light"]
)
_BARE_LANGUAGES = frozenset(
    (
        *("c", "cpp", "qml", "rust", "python", "java", "js", "json", "bash", "sh", "xml", "yaml"),
        *("ts", "tsx", "jsx", "typescript", "javascript", "go", "html", "css", "sql", "toml"),
    )
)
"""The names that rustdoc, Qt and others use as a class of `<pre>` by themselves."""
_ROUGE = re.compile(r"highlight ([\w+#.]{1,20}|[\w+#.-]{1,20}(?= tab-))(?: tab-\S+)?$")
"""What Rouge writes in Slate: `highlight ruby tab-ruby`."""
_BLANK_LINE = re.compile(r"^ $", re.MULTILINE)
_MOST_AROUND = 8
_PLAIN_FRAGMENT = re.compile(r"[\w.~-]+", re.ASCII)
_LINKED_SCHEMES = frozenset(("http", "https", "mailto", "tel", "ftp"))


def escaped(text: str) -> str:
    """Text of the page with Markdown markup escaped and white space collapsed."""
    text = _collapsed(text)
    return _SPECIAL.sub(lambda mark: "\\" + mark[0], text) if _EMPHASIS.search(text) else text


def _collapsed(text: str) -> str:
    return text if text.isprintable() and "  " not in text else _SPACE.sub(" ", text)


def as_paragraph(text: str) -> str:
    """Rendered text, escaped so that no line begins a block by accident."""
    if not text or text.isspace():
        return ""
    if "\n" in text:
        lines = (_SPACE.sub(" ", line).strip() for line in text.split("\n"))
        joined = "\n".join(line for line in lines if line)
    else:
        joined = _collapsed(text).strip()
        if joined[0] not in _LINE_STARTS and not joined[0].isdigit():
            return joined
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", joined)


def absolute(href: str | None, base: str) -> str:
    """The absolute URL of a link target, safe inside parentheses; "" if it is not a web address.

    Between files of this machine it is relative, so that no text names a folder.
    """
    if not href or href.strip() in ("", "#"):
        return ""
    place, mark, fragment = href.partition("#")
    if mark and place and _PLAIN_FRAGMENT.fullmatch(fragment):  # many links differ in their fragments only
        return f"{target}#{fragment}" if (target := _absolute(place, base)) else ""
    return _absolute(href, base)


@lru_cache(maxsize=2_000)
def _absolute(href: str, base: str) -> str:
    try:
        url = urljoin(base, re.sub(r"[\t\r\n]", "", href.strip()))
        if url.startswith("file:") and base.startswith("file:") and not urlsplit(href.strip()).scheme:
            url = href.strip()
        elif urlsplit(url).scheme.lower() not in _LINKED_SCHEMES:
            return ""
    except ValueError:
        return ""
    return quote(url, safe="!#$%&'*+,-./:;=?@[]_~|^{}", encoding="utf-8", errors="replace")


def code_span(text: str) -> str:
    """Inline code, fenced by more backticks than it holds."""
    inner = _collapsed(text).strip()
    if not inner:
        return " " if text else ""
    longest = max((len(run) for run in re.findall(r"`+", inner)), default=0) if "`" in inner else 0
    mark, pad = "`" * (longest + 1), " " if "`" in inner else ""
    before, after = " " * (text[0].isspace()), " " * (text[-1].isspace())
    return f"{before}{mark}{pad}{inner}{pad}{mark}{after}"


def fence(pre: Any) -> str:
    """A `<pre>` as a fenced code block, with the language in its class name; "" if it is empty."""
    for line_break in pre.iter("br"):
        line_break.tail = "\n" + (line_break.tail or "")
    for around in (pre, *pre.iter("code")):
        for line in around.iterchildren("div"):  # Expressive Code writes each line as a block
            if not "".join(line.itertext()).endswith("\n"):
                line.tail = "\n" + (line.tail or "")
    code = "".join(pre.itertext()).strip("\n")
    if not code or code.isspace():
        return ""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark, language = "`" * (longest + 1), _language(pre)
    if language not in ("diff", "patch"):  # Nextra writes an empty line as a blank
        code = _BLANK_LINE.sub("", code)
    return f"{mark}{language}\n{code}\n{mark}"


def _language(pre: Any) -> str:
    # mdBook nests: <pre><pre class="playground"><code class="language-rust">. MkDocs puts numbered lines in a table.
    near = [pre, *pre.iterdescendants("pre", "code"), *islice(pre.iterancestors(), _MOST_AROUND)]
    for element in near:
        found = _LANGUAGE.search(element.get("class", "")) or _LANGUAGE.search(element.get("data-lang", ""))
        name = found[1].lower() if found else element.get("data-lang", "") or element.get("data-language", "")
        if re.fullmatch(r"[\w+#.-]{1,20}", name) and name not in _NO_LANGUAGE:
            return "html" if name == "markup" else name.lower()  # so Prism calls it
    for element in (pre, *islice(pre.iterancestors("figure"), 1)):  # Hexo's `<figure class="highlight python">`
        if (found := _ROUGE.match(element.get("class", ""))) and found[1] not in _NO_LANGUAGE:
            return str(found[1])
    names = [name for element in (pre, *islice(pre, 1)) for name in str(element.get("class", "")).split()]
    return next((name for name in names if name in _BARE_LANGUAGES), "")


Anchors = tuple[tuple[int, str], ...]
"""Ids of elements, each with the offset in the Markdown at which the line of its heading or term begins."""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_MARK = re.compile(f"{_OPEN}([^\\s{_OPEN}{_CLOSE}]{{1,200}}){_CLOSE}")
_USABLE = re.compile(f"[^\\s{_OPEN}{_CLOSE}]{{1,200}}")
_NAMED = re.compile(r"\W{0,9}(\w{3,100})\b")
_ANCHORS_DEEPEST = 6  # DocBook puts four elements between a heading and the section with its id
_NEAR = 8  # elements around a heading: a hostile page may have thousands


def marked(line: str, element: Any) -> str:
    """The Markdown of a heading or term with a mark at the end of its first line, if it has an id."""
    usable = (one for one in _candidates(element) if one and _USABLE.fullmatch(one))
    return next((_with_mark(line, identifier) for identifier in usable), line)


def _with_mark(line: str, identifier: str) -> str:
    first, newline, rest = line.partition("\n")
    return f"{first}{_OPEN}{identifier}{_CLOSE}{newline}{rest}"


def _ids_of_signature(element: Any, text: str) -> Iterator[str]:
    """The ids that lead to a signature: of an empty permalink right after it, as pdoc writes it, and of empty anchors
    right before it, as pydoctor does; and the id that ends in the name that the text begins with.
    """
    link = element.getnext()
    if link is not None and link.tag == "a" and "headerlink" in link.get("class", "") and not _has_text(link.text):
        yield from (one[1:] for one in [link.get("href", "")] if one[:1] == "#" and _USABLE.fullmatch(one[1:]))
    for anchor in islice(element.itersiblings(preceding=True), _NEAR):
        if anchor.tag != "a" or len(anchor) or _has_text(anchor.text) or _has_text(anchor.tail):
            break
        yield from (one for one in [anchor.get("id") or anchor.get("name") or ""] if _USABLE.fullmatch(one))
    identifier, name = element.get("id") or "", _NAMED.match(text)
    if name and identifier.endswith(name[1]) and _USABLE.fullmatch(identifier) and _OPEN not in text.partition("\n")[0]:
        yield identifier


def _defined_in(paragraph: Any) -> str:
    """The id of the name that a signature defines, as haddock writes it: `<p><a id="v:fold">fold</a> :: ...`."""
    for link in islice(paragraph.iterchildren("a"), _NEAR):
        identifier, name = link.get("id") or "", link.text
        if name and identifier.endswith(name) and _USABLE.fullmatch(identifier):
            return identifier
    return ""


def without_marks(markdown: str) -> tuple[str, Anchors]:
    """The Markdown without its marks, and the ids in the marks."""
    parts: list[str] = []
    anchors: list[tuple[int, str]] = []
    begin = length = line = 0
    for found in _MARK.finditer(markdown):
        before = markdown[begin : found.start()]
        if "\n" in before:
            line = length + before.rindex("\n") + 1
        parts.append(before)
        length += len(before)
        begin = found.end()
        anchors.append((line, found[1]))
    return "".join([*parts, markdown[begin:]]), tuple(anchors)


def _candidates(element: Any) -> Iterator[str | None]:
    """The ids that link to an element: its own, one inside it, one of an empty element before it, or its section's."""
    yield element.get("id")
    for inside in islice(element.iterdescendants("a", "span", "code", "dfn"), _NEAR):
        yield _own_id(inside)
    for _ in range(_ANCHORS_DEEPEST):
        parent = element.getparent()
        if parent is None or parent.tag in ("body", "html", "main"):
            return
        before = list(islice(element.itersiblings(preceding=True), _NEAR))
        empty = list(takewhile(_is_empty, before))
        is_first = len(empty) == len(before) and not _has_text(parent.text)
        if is_first and parent.tag == "section":
            yield parent.get("id")
        yield from map(_own_id, empty)
        if not is_first:
            return
        yield parent.get("id")
        element = parent


def _own_id(element: Any) -> str | None:
    """The id of an element. Scaladoc writes the types of a signature as `<a name>` with the address of another page."""
    return element.get("id") or (element.get("name") if element.get("href", "#").startswith("#") else None)


def _is_empty(element: Any) -> bool:
    """Whether an element has no text but the sign of a permalink."""
    text = element.text if element.tag != "a" or (element.text or "").strip() not in _PERMALINKS else None
    return not (len(element) or _has_text(text) or _has_text(element.tail))


def _has_text(text: str | None) -> bool:
    return text is not None and not text.isspace()
