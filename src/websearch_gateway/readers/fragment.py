"""HTML that is all content, such as a comment or an encyclopaedia's article, as Markdown. Pure.

Pages with menus and advertisements around their text are for `extract`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

_BLANKS = re.compile(r"[ \t\r\n\f]+")
_FENCES = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source)-([\w+#-]{1,30})")
_HIDDEN = {"script", "style", "noscript", "template", "svg", "head", "title", "button", "form", "iframe", "object"}
_BLOCKS = re.compile(
    "address|article|aside|blockquote|body|caption|center|d[dlt]|details|div|fieldset|figcaption|figure|footer|h[1-6r]"
    "|header|html|li|main|nav|[ou]l|p|pre|section|summary|table|t[dhr]|tbody|tfoot|thead"
)
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`", "kbd": "`", "samp": "`", "tt": "`", "del": "~~"}
# A cell that claims more rows times columns than this, or holds more text, would make a page a thousand times larger.
_LARGEST_CELL = 100
_REPEATED_CHARS = 100
_MOST_CELLS = 500_000


def parse_html(html: str) -> Any:
    """The tree of a piece of HTML, under one root element of lxml; an empty one for no HTML."""
    import lxml.html

    # As bytes: lxml refuses a str that declares an encoding. Halves of surrogate pairs cannot be encoded.
    data = html.encode("utf-8", "replace")
    parser = lxml.html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    return lxml.html.fromstring(b"<div>" + data + b"</div>", parser=parser)


def to_markdown(html: str, base_url: str = "") -> str:
    """A piece of HTML as Markdown. Links are absolute if `base_url` is given, and images are left out."""
    return tree_to_markdown(parse_html(html), base_url)


def tree_to_markdown(tree: Any, base_url: str = "") -> str:
    """As `to_markdown`, from a tree of `parse_html`."""
    if base_url:
        tree.make_links_absolute(base_url, handle_failures="ignore")
    return "\n\n".join(_flow(tree))


def _flow(element: Any) -> list[str]:
    """The blocks inside an element; loose text between them is a paragraph."""
    blocks: list[str] = []
    line = [_text(element.text)]
    for child in element:
        if _is_block(child):
            blocks += [_tidy(line), *_block(child)]
            line = []
        else:
            line.append(_inline(child))
        line.append(_text(child.tail))
    return [block for block in (*blocks, _tidy(line)) if block]


def _is_block(element: Any) -> bool:
    return bool(_BLOCKS.fullmatch(element.tag)) or (
        element.tag not in _HIDDEN and any(_BLOCKS.fullmatch(inner.tag) for inner in element.iterdescendants())
    )


def _block(element: Any) -> list[str]:
    tag = element.tag
    if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
        title = " ".join(_inside(element).split())
        return [f"{'#' * int(tag[1])} {title}"] if title else []
    if tag == "pre":
        return _code(element)
    if tag in ("ul", "ol"):
        return _list(element)
    if tag == "blockquote":
        return [_prefixed("\n\n".join(_flow(element)), "> ", "> ")]
    if tag == "table":
        return _table(element)
    if tag == "hr":
        return ["---"]
    if tag == "dt":
        return [f"**{title}**"] if (title := " ".join(_inside(element).split())) else []
    return _flow(element)


def _code(element: Any) -> list[str]:
    text = str(element.text_content()).strip("\n")
    if not text.strip():
        return []
    fence = max((*_FENCES.findall(text), "``"), key=len) + "`"
    classes = [element.get("class", ""), *(inner.get("class", "") for inner in element.iter("code"))]
    language = _LANGUAGE.search(" ".join(classes))
    return [f"{fence}{language[1] if language else ''}\n{text}\n{fence}"]


def _list(element: Any) -> list[str]:
    items = []
    for number, item in enumerate(element.iterchildren("li", "ul", "ol"), 1):
        marker = f"{number}. " if element.tag == "ol" else "- "
        blocks = _flow(item) if item.tag == "li" else _list(item)
        if blocks:
            items.append(_prefixed("\n".join(blocks), marker, " " * len(marker)))
    return ["\n".join(items)] if items else []


def _table(table: Any) -> list[str]:
    caption = [f"**{_cell(caption)}**" for caption in table.iterchildren("caption") if _cell(caption)]
    rows = [row for row in _grid(table) if any(row)]
    if not rows:
        return caption
    width = max(map(len, rows))
    if width == 1 or width * len(rows) > _MOST_CELLS:  # a box, or nothing that could be drawn
        return caption + [block for cell in _cells(table) for block in _flow(cell)]
    columns = list(zip_longest(*rows, fillvalue=""))
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    return [*caption, "\n".join([lines[0], "|" + " --- |" * len(columns), *lines[1:]])]


def _rows(table: Any) -> Iterator[Any]:
    for part in table.iterchildren("thead", "tbody", "tfoot", "tr"):
        yield from [part] if part.tag == "tr" else part.iterchildren("tr")


def _cells(table: Any) -> Iterator[Any]:
    for row in _rows(table):
        yield from row.iterchildren("td", "th")


def _grid(table: Any) -> Iterator[list[str]]:
    """The rows of a table as text. The text of a cell that spans several columns or rows is in each."""
    hanging: dict[int, tuple[int, str]] = {}  # column: rows still to fill, text
    for row in _rows(table):
        line: list[str] = []
        for cell in row.iterchildren("td", "th"):
            _hang(line, hanging)
            text = _cell(cell)
            across = _span(cell, "colspan", _LARGEST_CELL)
            down = _span(cell, "rowspan", _LARGEST_CELL // across)
            repeated = text if len(text) <= _REPEATED_CHARS else ""
            for column in range(len(line), len(line) + across):
                if down > 1:
                    hanging[column] = (down - 1, repeated)
            line += [text, *[repeated] * (across - 1)]
        _hang(line, hanging)
        yield line


def _hang(line: list[str], hanging: dict[int, tuple[int, str]]) -> None:
    while (column := len(line)) in hanging:
        left, text = hanging.pop(column)
        line.append(text)
        if left > 1:
            hanging[column] = (left - 1, text)


def _span(cell: Any, attribute: str, most: int) -> int:
    value = cell.get(attribute, "")
    return min(max(int(value), 1), most) if value.isascii() and value.isdecimal() else 1


def _cell(cell: Any) -> str:
    return " ".join(" ".join(_flow(cell)).split()).replace("|", "\\|")


def _inline(element: Any) -> str:
    tag = element.tag
    if tag in _HIDDEN:
        return ""
    if tag == "br":
        return "\n"
    if tag == "math":
        return f"${formula}$" if (formula := element.get("alttext", "").strip()) else ""
    inside = _inside(element)
    bare = inside.strip()
    if not bare:
        return inside
    if tag == "a" and element.get("href", "").startswith(("http://", "https://")):
        return _around(inside, f"[{bare}](", f"{element.get('href').replace(' ', '%20')})", "")
    if tag == "sup" and bare.isascii() and bare.isdecimal():
        return f"^{bare}"
    mark = _MARKS.get(tag, "")
    return _around(inside, mark, mark, bare) if mark else inside


def _around(inside: str, before: str, after: str, bare: str) -> str:
    """`bare` between two marks, and outside of them the blanks that `inside` has at its ends."""
    lead = inside[: len(inside) - len(inside.lstrip())]
    trail = inside[len(inside.rstrip()) :]
    return f"{lead}{before}{bare}{after}{trail}"


def _inside(element: Any) -> str:
    return _text(element.text) + "".join(_inline(child) + _text(child.tail) for child in element)


def _text(text: str | None) -> str:
    return _BLANKS.sub(" ", text or "")


def _tidy(parts: list[str]) -> str:
    lines = ("".join(parts)).split("\n")
    return "\n".join(bare for line in lines if (bare := " ".join(line.split(" ")).strip(" ")))


def _prefixed(text: str, first: str, others: str) -> str:
    head, *tail = text.split("\n")
    return "\n".join([f"{first}{head}".rstrip(), *(f"{others}{line}".rstrip() for line in tail)])
