"""Cuts Markdown along its headings and terms into chunks of about `ENOUGH` to `TARGET` tokens, and finds the names that
a page defines: by an inventory, by ids, in headings, as terms, options, rows or prototypes.

Pure. Pages are untrusted, so a worker process cuts them, right after it has read them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from websearch_gateway.base import Block, blocks, estimate_tokens, lines, plain, word_set
from websearch_gateway.docs.crawl.definitions import headed
from websearch_gateway.docs.crawl.scope import Scope, sorted_out
from websearch_gateway.docs.models import ChunkDraft, Symbol, SymbolKind, values_of
from websearch_gateway.evidence import Piece, pieces

TARGET = 650
"""The most tokens of a chunk (as `estimate_tokens` counts), unless one code block is longer."""
ENOUGH = TARGET // 2
"""A chunk of at least this many tokens ends at the next heading or term; a smaller one takes in its neighbour."""

CACHED_LINKS = 20_000
MOST_LEFT_OUT = 200
"""The most addresses of a page that are named for a reason for which they are left out."""
MAX_TARGET_CHARS = 5_000
"""The most characters of the address that a page names as its canonical one, or sends its readers to."""


def drafted(scope: Scope, defined: Sequence[tuple[str, str]], page: Any) -> dict[str, Any]:
    """The fields of a `Document`: those of the page, its links in and out of scope, its chunks and its symbols, as
    plain values.

    Args:
        defined: the names and anchors that an inventory defines on the page.
        page: as the readers know it, a dataclass.
    """
    text = headed(page.markdown, page.anchors)
    found = list(blocks(text.markdown))
    links, left_out = sorted_out((_placed(scope, link) for link in page.links), MOST_LEFT_OUT)
    chunks = cut(text.markdown, text.anchors, found, text.starts)
    names = (*defined, *text.defined)
    symbols = page_symbols(text.markdown, chunks, text.anchors, names, found, page.title)
    document = values_of(page)
    del document["anchors"]
    return {
        **document,
        "markdown": text.markdown,
        "links": links,
        "left_out": left_out,
        "canonical": page.canonical if len(page.canonical) <= MAX_TARGET_CHARS else "",
        "refresh": page.refresh if len(page.refresh) <= MAX_TARGET_CHARS else "",
        "chunks": list(map(values_of, chunks)),
        "symbols": list(map(values_of, symbols)),
    }


@lru_cache(CACHED_LINKS)
def _placed(scope: Scope, link: str) -> tuple[str, str]:
    """See `Scope.place`. Links are absolute, and most of them are on every page of a site."""
    return scope.place("", link)


def cut(
    markdown: str,
    anchors: Sequence[tuple[int, str]] = (),
    found: Iterable[Block] | None = None,
    definitions: Collection[int] = (),
) -> tuple[ChunkDraft, ...]:
    """The chunks of a page, in order. Code blocks stay whole, and small neighbouring sections share a chunk.

    If a chunk has several sections, its heading path is their common part. A chunk that begins inside a section ends
    with it, so that its anchor is that of all its text.

    Args:
        found: the blocks of `markdown`, if the caller has them.
        definitions: the offsets of headings that always begin a chunk.
    """
    offsets = [offset for offset, _ in anchors]
    chunks = []
    for group in _groups(markdown, set(offsets), set(definitions), found):
        first, last = group[0], group[-1]
        inside = bisect_right(offsets, first.start)
        behind = bisect_right(offsets, last.end)
        anchor = anchors[inside - 1][1] if inside else ""
        shift = len(first.before) - first.start
        inner = tuple((offset + shift, name) for offset, name in anchors[inside:behind])
        path = _common(group)
        chunks.append(
            ChunkDraft(first.start, last.end, path, anchor, first.before, last.after, inner)
        )
    return tuple(chunks)


def _groups(
    markdown: str, starts: set[int], definitions: set[int], found: Iterable[Block] | None
) -> Iterator[list[Piece]]:
    group: list[Piece] = []
    filled = 0
    begins_inside = False
    for piece in pieces(markdown, TARGET, found):
        length = estimate_tokens(markdown[piece.start : piece.end])
        is_start = piece.is_heading or piece.start in starts
        enough = TARGET
        if is_start:  # a chunk that begins inside a section ends with it
            enough = 1 if begins_inside else ENOUGH
        if group:
            is_definition = piece.start in definitions
            if is_definition or not _joins(group[-1], piece, filled, length, enough):
                yield group
                group, filled = [], 0
        if not group:
            begins_inside = not is_start and piece.start > 0
        group.append(piece)
        filled += length
    if group:
        yield group


def _joins(previous: Piece, piece: Piece, filled: int, length: int, enough: int) -> bool:
    """Whether a piece belongs to the chunk that ends with the previous one, which is full with `enough` tokens."""
    if previous.is_heading:  # a heading never stands alone
        return not piece.before
    if piece.page != previous.page:
        return False
    if piece.before or previous.after:
        return False
    return filled + length <= TARGET and filled < enough


def _common(group: Sequence[Piece]) -> tuple[str, ...]:
    """The headings above all pieces; those above the first one if there are none."""
    path = group[0].path
    for piece in group[1:]:
        length = 0
        for heading, other in zip(path, piece.path, strict=False):
            if heading != other:
                break
            length += 1
        path = path[:length]
    return path or group[0].path


MOST_SYMBOLS = 5_000
LONGEST_NAME = 100
LONGEST_TERM = 400
"""The most characters of a line that are searched for a name."""

Found = tuple[str, SymbolKind]

_NAME = r"[A-Za-z_$][\w$]*+(?:(?:\.|::|->|-)[A-Za-z_$][\w$]*+)*+"
_WORD = r"[A-Za-z_$][\w$]*+"
_COMPOUND = re.compile(r"[A-Za-z0-9](?:_|\.|::|-)[A-Za-z0-9]|[a-z][A-Z]")
_DOTTED_ID = re.compile(rf"(?:c\.)?({_NAME})")
_RUST_ID = re.compile(
    r"(?:(?:ty)?method|fn|macro|variant|structfield|associated(?:constant|type))\.([A-Za-z_]\w*+)"
)
_TYPED_ID = re.compile(r"[a-z]+-([A-Za-z_]\w*+)")
_HADDOCK_ID = re.compile(r"[tv]:([A-Za-z_]\w*+'*+)")
_TEXINFO_ID = re.compile(r"index-([^\s\d]\S*?)(?:-\d+)?")
_TEXINFO_CODE = re.compile(r"_00([0-9a-f]{2})")
_DOXYGEN_ID = re.compile(r"g?a[0-9a-f]{32}")
_OPTION = re.compile(
    r"(?<![\w<\[=/-])--?(?:\[no-\])?(?!\d(?:\d|[.,]\d))(?=[A-Za-z0-9])[A-Za-z0-9][\w-]*+(?<!-)"
)
"""`-4` is an option of many commands, `-15` and `-0.5` are numbers, `--Result--` is a comment."""
_OPTION_TERM = re.compile(r"[|`*\s]*+-{1,2}[\w\[?]")
_COMMENT = re.compile(r"\s*+--[A-Za-z]\w*+ [A-Za-z]+ [A-Za-z]+ [a-z]")
"""A comment in SQL that begins right after its sign: `--Return the point of ...`. Options take a value."""
_HEAD = re.compile(r"[^(\[=,:|]{1,60}")
_CALL = re.compile(rf"({_NAME})\((?:\d\w?\).*|.*\))")
_ROW_NAME = re.compile(rf"\|\s*`({_NAME})(`?\s?\()?|\|\s*([A-Z][A-Z\d]*(?:_[A-Z\d]+)++)\s*\|")
_ITEM_NAME = re.compile(rf"[-*+] (?:\*\*)?`({_NAME})(?:\(\))?`(?:\*\*)? ?(?:\(|:|[-–—](?:\*\*)? )")
"""A list item that explains a name: `- `EADDRINUSE` (Address already in use): ...`."""
_CONSTANT = re.compile(r"[A-Z][A-Z\d]{4,}")
_MOST_WORDS = 5
_KIND_HEADING = re.compile(
    r"^##? (?:\[\w+\] )?(?:[A-Z]\w+ ){0,2}"
    r"(?:Class|Interface|Function|Enumeration|Enum|Record|Alias|Variable|Struct|Type):? "
    r"([A-Za-z_$][\w$]*+(?:\.[A-Za-z_$][\w$]*+)*+)(?:\\?<[^\n]*+)?$",
    re.MULTILINE,
)
_DOXYGEN_TITLE = re.compile(
    r"(?:[^:]*: )?([A-Za-z_]\w*+(?:::[A-Za-z_]\w*+)*+)(?:<.*>)? "
    r"(?:Class|Struct|Union|Interface) (?:Template )?Reference"
)
"""The title of doxygen's page of a class: `Gull: gull::Table< T > Class Template Reference`."""
_QDOC_TITLE = re.compile(r"([A-Z]\w*+) (?:Class|Struct|Namespace|QML Type)(?: \| .*)?")
_JAVADOC_TITLE = re.compile(
    r"([A-Z][\w$]*+(?:\.[A-Z][\w$]*+)*+)(?:<.*>)? \((?:.* API|Java SE \d.*)\)"
)
_MODULE_TITLE = re.compile(
    r"(?:Erlang -- |(?=\S+ \N{EM DASH} \S+ v\d)):?([A-Za-z]\w*+(?:\.\w++)*+).*"
)
"""The title of a page of Erlang or Elixir: `Erlang -- ets`, `Enum — Elixir v1.17.3`, `ets — stdlib v6.0`."""
_MEMBER = re.compile(
    r"#{1,6} (?:\(\w{1,20}\) |`\w{1,20}` )?([A-Za-z_$][\w$]*+[?!]?)(?:\(.*| : .*)?"
)
"""The heading of a member, with or without a flag or signature: `(static) run(table)`, `` `Readonly` size``."""
_SIGNATURE = re.compile(
    r"(?:[^\s()]+ ){1,8}[*&]*(?:[A-Za-z_]\w*+::)*([A-Za-z_$][\w$]*+)(?:\[[^()]*\])?(?:\(.*)?"
)
"""The same with words before the name: `abstract def run(table: Table)`, `[slot] void Tables::run(Table table)`."""
_LINK_ALONE = re.compile(r"[*\s]*+\[[^\]\n]++\]\([^)#\s]*+\)[*\s]*+")
_RUST_TITLE = re.compile(r"(\w+) in ([\w:]+)(?: - Rust)?")
"""The title of rustdoc's page of an item: `Vec in std::vec`."""
_PROTOTYPE = re.compile(
    r"^([A-Za-z_][\w \t*&:<>,]{1,120}?[\s*&])([A-Za-z_]\w*+)\s?\([^'\"(){}]{0,2000}+\)[ \t\w]{0,40}+;",
    re.MULTILINE,
)
_STATEMENTS = word_set(
    "alter begin call case create delete drop else explain goto grant insert new pragma return revoke select set throw "
    "update values with"
)
"""The first words of statements that look like a prototype in C: `return`, and those of SQL."""
_SPECIAL_NAME = re.compile(
    r"(?<![\w.])(?:[A-Za-z]\+\+|[A-Z]#|\.[A-Za-z]{2,10}|operator(?:\(\)|\[\]|[-+*/%^&|~!=<>]{1,3}))(?![\w+#.])"
)
"""Names that a search for words cannot find: languages such as C++, C# and .NET, files such as .env, operators."""


_NO_ID = re.compile(r"[^a-z0-9]+")
"""What docutils leaves out of the id of a heading."""


def page_symbols(
    markdown: str,
    chunks: Sequence[ChunkDraft],
    anchors: Sequence[tuple[int, str]],
    defined: Iterable[tuple[str, str]] = (),
    found_blocks: Iterable[Block] | None = None,
    title: str = "",
) -> tuple[Symbol, ...]:
    """The names that a page defines, each once for each of its ids, or once if it has none.

    Args:
        anchors: ids of headings and terms, each with the offset of its line, in ascending order.
        defined: the names and anchors that an inventory defines on the page.
        found_blocks: the blocks of `markdown`, if the caller has them.
    """
    if not chunks:
        return ()
    starts = [chunk.start for chunk in chunks]
    offsets = {anchor: offset for offset, anchor in anchors}
    found: dict[tuple[str, str], Symbol] = {}

    def add(name: str, kind: SymbolKind, anchor: str, offset: int) -> None:
        if len(name) <= LONGEST_NAME and len(found) < MOST_SYMBOLS:
            ordinal = max(0, bisect_right(starts, offset) - 1)
            found.setdefault((name, anchor), Symbol(name, kind, anchor, ordinal))

    for name, anchor in defined:
        # Where the anchor is an empty element before a heading, the place is that of the heading.
        heading = _NO_ID.sub("-", name.lower()).strip("-")
        place = offsets.get(anchor, offsets.get(heading, 0))
        add(name, "option" if name.startswith("-") else "api", anchor, place)
    rust_item = _RUST_TITLE.fullmatch(title)
    rust_path = f"{rust_item[2]}::{rust_item[1]}" if rust_item else ""
    if rust_path:
        add(rust_path, "api", "", 0)
    owner, joint = _owner(markdown, title)
    if owner:
        add(owner, "api", "", 0)
        for offset, anchor in anchors:
            line = markdown[offset : offset + LONGEST_TERM].partition("\n")[0]
            member = _member(line, anchor)
            if member:
                add(f"{owner}{joint}{member}", "api", anchor, offset)
    listed = blocks(markdown) if found_blocks is None else found_blocks
    is_haskell_module = "." in title and re.fullmatch(_NAME, title)
    for offset, anchor, (name, kind) in _definitions(markdown, dict(anchors), listed):
        is_rust_member = rust_path and _RUST_ID.fullmatch(anchor)
        add(f"{rust_path}::{name}" if is_rust_member else name, kind, anchor, offset)
        if is_haskell_module and _HADDOCK_ID.fullmatch(anchor):
            add(f"{title}.{name}", kind, anchor, offset)
    # The constructors of a class have its name.
    anchored = {name for name, anchor in found if anchor} - {owner}
    return tuple(
        symbol for (name, anchor), symbol in found.items() if anchor or name not in anchored
    )


def _owner(markdown: str, title: str) -> tuple[str, str]:
    """The class, module or function that a page of doxygen, qdoc, ExDoc, javadoc or TypeDoc describes, as `# Class
    Table` does, and what its language writes between it and a member; empty for other pages.
    """
    of_cpp = _DOXYGEN_TITLE.fullmatch(title) or _QDOC_TITLE.fullmatch(title)
    if of_cpp:
        return of_cpp[1], "::"
    of_module = _MODULE_TITLE.fullmatch(title) or _JAVADOC_TITLE.fullmatch(title)
    if of_module:
        is_erlang = of_module[1].islower()
        return of_module[1], ":" if is_erlang else "."
    heading = _KIND_HEADING.search(markdown, 0, 3 * LONGEST_TERM)
    if heading is None:
        return "", ""
    title = re.sub(r"^(?:Class|Interface): ", "", title)
    is_title = re.fullmatch(rf"{re.escape(heading[1])}(?: \| .*)?", title)
    return (heading[1], ".") if is_title else ("", "")


def _member(line: str, anchor: str) -> str:
    """The member whose heading a line is, if its id says so too; "" otherwise."""
    named = _MEMBER.fullmatch(line)
    if named is None and not line.startswith("# "):
        named = _SIGNATURE.fullmatch(plain(line))
    if named is None:
        return ""
    name = named[1]
    name_in_id = re.split("[(/-]", anchor.lstrip(".~"))[0]
    return name if name_in_id == name or _DOXYGEN_ID.fullmatch(anchor) else ""


def _definitions(
    markdown: str, anchors: dict[int, str], found_blocks: Iterable[Block]
) -> Iterator[tuple[int, str, Found]]:
    for block in found_blocks:
        if block.kind == "rule":
            continue
        if block.kind == "code":
            yield from _prototypes(markdown, block)
            continue
        read_line = _READ_LINE.get(block.kind, _of_text)
        for start, end in lines(markdown, block.start, block.end):
            anchor = anchors.get(start, "")
            if anchor:
                # A list of links defines nothing.
                if _LINK_ALONE.fullmatch(markdown, start, end):
                    continue
            elif read_line in (_of_text, _of_item) and _defines_nothing(markdown, start, end):
                is_term = block.kind == "item" and _ITEM_NAME.match(markdown, start)
                if not is_term:
                    continue
            for found in read_line(markdown[start : min(end, start + LONGEST_TERM)], anchor):
                yield start, anchor, found


def _prototypes(markdown: str, block: Block) -> Iterator[tuple[int, str, Found]]:
    """The functions that a code block of declarations in C declares. One with braces is an example."""
    has_prototype = markdown.find(");", block.start, block.end) >= 0
    if not has_prototype or markdown.find("{", block.start, block.end) >= 0:
        return
    for prototype in _PROTOTYPE.finditer(markdown, block.start, block.end):
        types, name = prototype[1], prototype[2]
        if _COMPOUND.search(name) and types.split()[0].lower() not in _STATEMENTS:
            yield prototype.start(), "", (name, "heading")


def _defines_nothing(markdown: str, start: int, end: int) -> bool:
    """Whether a line without an id is prose or a link: it does not begin with an option, and has a blank or a link."""
    if markdown.find("](", start, end) >= 0:
        return True
    if markdown.find(" ", start, end) < 0:
        return False
    begins_with_option = markdown[start : start + 20].lstrip("`* ").startswith("-")
    return not begins_with_option


_NUMBER = re.compile(r"(?:\(\d+\)|\d+(?:\.\d+)*\.?)\s+")
"""The number of a section or a code before its name: `3.2. app_open`, `(5) APP_BUSY`."""


def _of_heading(line: str, anchor: str) -> Iterator[Found]:
    title = plain(line)
    if number := _NUMBER.match(title):
        title = title[number.end() :]
    yield from ((name, "heading") for name in _SPECIAL_NAME.findall(title))
    if title.startswith("-"):
        yield from ((name, "option") for name in _options(title))
    elif "." in anchor and (name := _named_by(anchor, title)):
        yield name, "api"
    elif match := _CALL.fullmatch(title):
        yield match[1], "heading"
    elif "(" in title and (name := _member(line, anchor)):
        yield name, "heading"
    elif re.fullmatch(_NAME, title) and (_COMPOUND.search(title) or "`" in line):
        yield title, "heading"


def _of_text(line: str, anchor: str) -> Iterator[Found]:
    title = plain(line)
    if _OPTION_TERM.match(line) and (anchor or not _COMMENT.match(line)):
        yield from ((name, "option") for name in _options(title))
    elif name := _named_by(anchor, title):
        yield name, "api"
    elif anchor and (term := _term(title)):
        yield term, "api"
    elif re.fullmatch(_NAME, title) and _COMPOUND.search(title):
        yield title, "api"


def _term(title: str) -> str:
    """The few words at the beginning of a line that it explains; "" if they are no term."""
    head = _HEAD.match(title)
    if head is None or len(head[0].split()) > _MOST_WORDS or not re.search(r"\w", head[0]):
        return ""
    return head[0].strip()


def _of_item(line: str, anchor: str) -> Iterator[Found]:
    match = _ITEM_NAME.match(line)
    if match and not anchor and (_COMPOUND.search(match[1]) or _CONSTANT.fullmatch(match[1])):
        yield match[1], "heading"
    else:
        yield from _of_text(line, anchor)


def _of_row(line: str, anchor: str) -> Iterator[Found]:
    match = _ROW_NAME.match(line)
    if match and match[3]:
        yield match[3], "heading"  # other pages list the words of a language so
    elif match and (match[2] or _COMPOUND.search(match[1]) or _CONSTANT.fullmatch(match[1])):
        yield match[1], "api"
    elif _OPTION_TERM.match(line):
        yield from ((name, "option") for name in _options(plain(line[1:].partition("|")[0])))


_READ_LINE = {"heading": _of_heading, "table": _of_row, "item": _of_item}


def _named_by(anchor: str, title: str) -> str | None:
    """The name in an id whose last part the text repeats: `asyncio.timeout`, `c.PyObject`, `opcode-NOP`.

    All are what Sphinx makes of a definition (https://www.sphinx-doc.org/en/master/usage/domains/). Of rustdoc's
    `method.with_capacity` the name is the last part, as of haddock's `v:insertWith` and of texinfo's `index-max-3`.
    """
    of_rust = _RUST_ID.fullmatch(anchor)
    if of_rust:
        return of_rust[1] if of_rust[1] in title else None
    of_index = _HADDOCK_ID.fullmatch(anchor) or _TEXINFO_ID.fullmatch(anchor)
    if of_index:
        name = _TEXINFO_CODE.sub(_as_character, of_index[1])
        return name if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", title) else None
    if "." in anchor and "-inherited-from-" not in anchor:
        dotted = _DOTTED_ID.fullmatch(anchor)
        if dotted:
            last_part = re.split(r"[.:>-]", dotted[1])[-1]
            return dotted[1] if last_part in title else None
    if re.fullmatch(_WORD, anchor) and re.search(rf"(?<!\w){re.escape(anchor)}(?!\w)", title):
        return anchor
    typed = _TYPED_ID.fullmatch(anchor)
    if typed is None or not title.startswith(typed[1][0]):
        return None
    return typed[1] if typed[1] in re.sub(r"[()]", "", title) else None


def _as_character(code: re.Match[str]) -> str:
    """What texinfo writes as `_0024` in an id."""
    return chr(int(code[1], 16))


def _options(term: str) -> Iterator[str]:
    """The options before the first sentence of a term, `--[no-]x` as both."""
    for match in _OPTION.finditer(term):
        bare = match[0].replace("[no-]", "")
        yield bare
        if bare != match[0]:
            yield match[0].replace("[", "").replace("]", "")
