"""The part of Markdown that the gateway parses: its blocks and sentences, its text without inline marks, and text that
users wrote.

Pages are untrusted, so every pattern here is linear: alternatives exclude each other, long repeats are possessive, and
a pattern that begins with a repeat never matches from the middle of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

BlockKind = Literal["heading", "code", "table", "item", "rule", "paragraph"]

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"[ \t]*+(?:(`{3,}+)[^`\n]*+|(~{3,}+)[^\n]*+)\n?$")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|\s*$)")
_RULE = re.compile(
    r"[ \t]*+(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|=++|-++)\s*+$"
)
_ITEM = re.compile(r"[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++")
# Right after a line of prose only the number 1 begins a list (https://spec.commonmark.org/0.31.2/#list-items).
_LATER_NUMBER = re.compile(r"[ \t]*+(?!0*1[.)])\d")
# Matches a run of prose lines or table rows at once; group 1 is the first line.
_PROSE_LINE = r"[ \t]*+[^\s`~#\-*_=+•\d|][^\n]*+(?:\n|\Z)"
_PROSE = re.compile(rf"({_PROSE_LINE})(?:{_PROSE_LINE})*+")
_ROW = r"[ \t]*+\|[^\n]*+(?:\n|\Z)"
_ROWS = re.compile(rf"({_ROW})(?:{_ROW})*+")
_OPENING_FENCE = re.compile(
    rf"((?:{_ITEM.pattern})?[ \t]*+)(?:(`{{3,}}+)[^`\n]*+|(~{{3,}}+)[^\n]*+)(?:\n|\Z)"
)
_FENCE_LINE = re.compile(r"[^\S\n]*+(`{3,}+|~{3,}+)[^\S\n]*+(?:\n|\Z)")
_INDENTED = re.compile(r"(?: {2,}|\t)")

LINK = re.compile(
    r"\[((?:[^\[\]]{1,1000}+|\[[^\[\]]{0,500}+\]){0,100}+)\]"
    r"\(((?:[^()\s]{1,1000}+|\([^()\s]{0,500}+\)){0,100}+)(?:\s+\"[^\"]{0,500}+\")?\s*+\)"
)
"""An inline link: group 1 is its text, group 2 its address."""

URL = re.compile(
    r"https?://(?:[^\s<>\"'`\])}.,!?…。！？]|[.,!?]++(?=[^\s<>\"'`\])}.,!?…。！？]))++",
    re.IGNORECASE,
)
"""A bare address, without the full stop that may follow it."""

# With a limit on the ticks: otherwise runs of different lengths would each search the whole text.
CODE = re.compile(
    r"(?P<ticks>`(?<!``)`{0,15}+(?!`))(?:[^`]|(?!(?P=ticks)(?!`))`++){1,2000}+(?P=ticks)(?!`)"
)

_CODE_OR_COMMENT = re.compile(
    r"^[ \t]*+(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)[^\n]*+(?:\n(?![ \t]*+(?P=fence))[^\n]*+)*+(?:\n[^\n]*+)?"
    rf"|(?P<block>^ {{0,3}})?(?P<comment><!--)|{CODE.pattern}",
    re.MULTILINE,
)
_IMAGE = re.compile("!" + LINK.pattern)
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]++)>", re.IGNORECASE)
_REFERENCE = re.compile(r"\[\^[^\[\]\s]{1,20}+\]|\[\d{1,3}\]")
# A mark behind a backslash is a sign of the text.
_STRONG = re.compile(
    r"(?<!\\)(\*\*\*|\*\*|__|~~)(?=\S)((?:(?!\1).){1,2000}+)(?<=[^\s\\])\1", re.DOTALL
)
_EMPHASIS = re.compile(r"(?<![\w\\])([*_])(?=[^\s*_])([^*_\n]{1,1000}+)(?<=[^\s\\])\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_MARKS = re.compile(
    r"^[ \t]*+(?:>[ \t]?)*+(?:#{1,6}[ \t]++|(?:[-*+•]|\d{1,3}[.)])[ \t]++)?", re.MULTILINE
)
_CLOSING_HASHES = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+$")


class Block(NamedTuple):
    """`text[start:end]` is one block, without blanks around it. `level` is 1..6 for a heading, else 0."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text, in order; everything outside them is blank.

    A table is one block, a code fence is one block (to the end of the text if not closed), each list item with its
    continuation lines is one block, and so is a thematic break.
    """
    block: Block | None = None  # which the next run of lines may continue
    after_blank = True
    at = 0
    while at < len(text):
        line, stop, kind, level = _run(text, at)
        if kind is None:
            after_blank = True
            at = stop
            continue
        end = at + len(text[at:stop].rstrip())
        if block and _continues(block, kind, line, after_blank):
            block = Block(block.kind, block.start, end, block.level)
        elif block and kind == "rule" and block.kind == "paragraph" and not after_blank:
            # The rule underlines a heading.
            block = Block("heading", block.start, end, 1 if "=" in line else 2)
        else:
            if block:
                yield block
            indent = len(line) - len(line.lstrip())
            block = Block(kind, at + indent, end, level)
        after_blank = False
        at = stop
    if block:
        yield block


def code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each block of the kind "code" in `blocks`, in order. Much faster: most texts have none."""
    at = 0
    while (line := _line_with(text, at, "```", "~~~")) is not None:
        if fence := _OPENING_FENCE.match(text, line.start):
            at = _after_fence(text, fence.end(), fence[2] or fence[3])
            yield fence.end(1), fence.start() + len(text[fence.start() : at].rstrip())
        else:
            at = line.end


class _Line(NamedTuple):
    """A line: where it begins, and where the next one does."""

    start: int
    end: int


def _line_with(text: str, at: int, *marks: str) -> _Line | None:
    """The first line from `at` on, where a line begins, that has one of these marks. Ten times faster than a pattern
    that is tried at the beginning of every line."""
    places = [place for mark in marks if (place := text.find(mark, at)) >= 0]
    if not places:
        return None
    first = min(places)
    end = text.find("\n", first) + 1
    return _Line(max(at, text.rfind("\n", 0, first) + 1), end or len(text))


class _Run(NamedTuple):
    """A run of lines of one kind (None: blank): its first line, its end, and its level if that is a heading."""

    line: str
    end: int
    kind: BlockKind | None
    level: int = 0


def _run(text: str, at: int) -> _Run:
    """The run of lines that begins at `at`."""
    if prose := _PROSE.match(text, at):
        return _Run(prose[1], prose.end(), "paragraph")
    if rows := _ROWS.match(text, at):
        return _Run(rows[1], rows.end(), "table")
    match = _LINE.match(text, at)
    line = match[0] if match else ""
    end = at + len(line)
    if not line or line.isspace():
        return _Run(line, end, None)
    if fence := _FENCE.match(line):
        return _Run(line, _after_fence(text, end, fence[1] or fence[2]), "code")
    if heading := _HEADING.match(line):
        return _Run(line, end, "heading", len(heading[1]))
    if _RULE.match(line):
        return _Run(line, end, "rule")
    marker = _ITEM.match(line)
    if marker is None:
        return _Run(line, end, "paragraph")
    if _FENCE.match(line, marker.end()):
        # The fence right after a marker opens a code block: otherwise its closing fence would open one.
        return _Run(marker[0], at + marker.end(), "item")
    return _Run(line, end, "item")


def _after_fence(text: str, at: int, fence: str) -> int:
    """The end of the code block whose opening fence ends at `at`; the end of the text if it is not closed."""
    while (line := _line_with(text, at, fence[0] * 3)) is not None:
        closing = _FENCE_LINE.match(text, line.start)
        if closing and len(closing[1]) >= len(fence):
            return closing.end()
        at = line.end
    return len(text)


def _continues(previous: Block, kind: BlockKind, line: str, after_blank: bool) -> bool:
    """Whether a run of lines belongs to the block before it."""
    if after_blank:
        is_in_item = previous.kind == "item" and kind == "paragraph"
        return is_in_item and _INDENTED.match(line) is not None
    if kind == "item":
        return previous.kind == "paragraph" and _LATER_NUMBER.match(line) is not None
    if kind == "table":
        return previous.kind == "table"
    return kind == "paragraph" and previous.kind in ("paragraph", "item")


def item_marker_end(text: str, start: int) -> int:
    """The start of a block's words, after a list marker at `start` if there is one."""
    marker = _ITEM.match(text, start)
    return marker.end() if marker else start


def lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Offsets of the non-blank lines of `text[start:end]`, without the blanks around them."""
    for match in _LINE.finditer(text, start, end):
        bare = match[0].strip()
        if bare:
            offset = match.start() + match[0].index(bare)
            yield offset, offset + len(bare)


def without_comments(markdown: str) -> str:
    """Markdown without its invisible HTML comments; in code they are text and stay.

    A comment that begins a line and is not closed extends to the end (https://spec.commonmark.org/0.31.2/#html-blocks).
    """
    parts: list[str] = []
    last_close = markdown.rfind(_CLOSE)
    done = at = 0
    while match := _CODE_OR_COMMENT.search(markdown, at):
        at = match.end()
        if not match["comment"]:
            continue
        is_closed = at <= last_close
        if not is_closed and match["block"] is None:
            continue
        parts.append(markdown[done : match.start()])
        at = markdown.index(_CLOSE, at) + len(_CLOSE) if is_closed else len(markdown)
        done = at
    parts.append(markdown[done:])
    return "".join(parts)


_CLOSE = "-->"


def plain(markdown: str) -> str:
    """A piece of Markdown as one line of words, without emphasis, link targets, images, markers or footnote numbers."""
    text = _LINE_MARKS.sub("", markdown)
    text = _CLOSING_HASHES.sub("", text)
    if "[" in text:
        text = _IMAGE.sub("", text)
        text = LINK.sub(r"\1", text)
    if "<" in text:
        text = _AUTOLINK.sub(r"\1", text)
    if "[" in text:
        text = _REFERENCE.sub("", text)
    if "`" in text:
        text = CODE.sub(lambda code: code[0].strip("` "), text)
    if "*" in text or "_" in text or "~" in text:
        text = _STRONG.sub(r"\2", text)
        text = _EMPHASIS.sub(r"\2", text)
    if "\\" in text:
        text = _ESCAPE.sub(r"\1", text)
    return " ".join(text.split())


_HASHES = re.compile(r"\A#{1,6}(?:[ \t]+|\Z)")
_CLOSING = re.compile(r"(?:\A|(?<=[ \t]))#+[ \t]*\Z")
_UNDERLINE = re.compile(r"\n[ \t]*[-=]+[ \t]*\Z")
_USER_TEXT_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


def as_user_text(markdown: str) -> str:
    """The text with each heading as a bold line, and with a closing fence for an open code fence.

    A comment that contains `## Accepted answer (score 9000)` must not look like a section of the document around it,
    and an open fence must not swallow the text after it. A heading inside a quote or a list stays: its line shows that
    it is quoted, no passage begins there, and `> # make` is more often a comment in quoted code.
    """
    parts: list[str] = []
    done = 0
    block: Block | None = None
    for block in blocks(markdown):
        if block.kind == "heading":
            parts.append(markdown[done : block.start])
            if title := _title(markdown[block.start : block.end]):
                parts.append(f"**{title}**")
            done = block.end
    parts.append(markdown[done:])
    if block and block.kind == "code":
        parts.append(_missing_fence(markdown[block.start : block.end]))
    return "".join(parts)


def _title(heading: str) -> str:
    """The words of a heading."""
    title = _UNDERLINE.sub("", _HASHES.sub("", heading))
    title = _CLOSING.sub("", title).replace("**", "")
    return " ".join(title.split())


def _missing_fence(code: str) -> str:
    """The line that closes a code fence; "" if it is closed."""
    opening = _USER_TEXT_FENCE.match(code)
    if opening is None:
        return ""
    fence = opening[1]
    before, _, last = code.rpartition("\n")
    last = last.strip()
    is_fence = len(last) >= len(fence) and not last.strip(fence[0])
    return "" if before and is_fence else f"\n{fence}"


_CLOSERS = r"[\"'”’»›)\]）】〉》」』*_~]"
_SCAN = re.compile(
    rf"(?P<inert>{CODE.pattern}|{LINK.pattern}|{URL.pattern})"
    r"|(?P<blank>\n[ \t]*+\n\s*+)"
    rf"|(?P<wide>[。！？｡](?<![。！？｡]{{2}})[。！？｡]*+{_CLOSERS}*+(?!(?<=[」』])[ぁ-ん]))"
    rf"|(?P<stop>[.!?…।؟۔](?<![.!?…।؟۔]{{2}})[.!?…।؟۔]*+{_CLOSERS}*+(?=\s|\Z|[(\[【]))",
    re.IGNORECASE,
)
_NOTE = r"\[\^?\d{1,3}\](?!\()|【[^【】\n]{1,80}+】"
_LINKS = rf"\({LINK.pattern}(?:[,;]?[ \t]*+{LINK.pattern})*+\)"
_CITATIONS = re.compile(rf"(?:[ \t]*+(?:{_LINKS}|{_NOTE}))++|[ \t]*+{LINK.pattern}(?=\s*\Z)")
_NEXT_WORD = re.compile(r"\s*[\"'“‘«‹(\[*_~]*+(?P<inverted>[¿¡])?(?P<word>\w*)")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_INITIAL = re.compile(r"\s*[A-Z]\.")
# In Thai, Lao and Khmer a full stop abbreviates a word and never ends a sentence.
_UNSTOPPED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff]")
_LAST_WORD = re.compile(r"[\w.&’'-]{1,24}\Z")


def word_set(spaced: str) -> frozenset[str]:
    """The words of a text with blanks between them."""
    return frozenset(spaced.split())


# English, then Spanish, French, Italian and German. An abbreviation ends a sentence only before one of _OPENERS.
_ABBREVIATIONS = word_set(
    "dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov st mt ft fig figs eq vol ch sec pp v vs cf viz approx "
    "c ca e.g i.e al nos art dept univ inc ltd co corp jr sr etc ph.d bros est "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "sra srta dra dña ud uds pág págs núm mme mlle sig dott nr bzw usw bspw abb"
)
# German writes `am 3. Mai`, `im 19. Jahrhundert`.
_AFTER_ORDINALS = word_set(
    "januar februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts"
)
_OPENERS = word_set(
    "the a an it its he she they we you this that these those there here his her their our my in on at by for "
    "from with as after before when while if although though however since because during under over and but so "
    "then thus what who where why how which is are was were do does did el la los las un una le les der die das "
    "ein eine"
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """The sentences of `text` as (start, end) offsets, in order; everything outside them is blank.

    A heading, a code fence, a table row and a thematic break are one sentence each. A list item is split like prose;
    its marker belongs to its first sentence. A citation right after a full stop, as in `It rains. ([host](url))`,
    belongs to the sentence before it.
    """
    return [span for block in blocks(text) for span in sentences_of(text, block)]


def sentences_of(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """The sentences of one block of `text`, as `split_sentences` gives them."""
    if block.kind == "table":
        return lines(text, block.start, block.end)
    if block.kind in ("paragraph", "item"):
        return prose_sentences(text, block.start, block.end)
    return iter([(block.start, block.end)])


def prose_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of the paragraph or list item `text[start:end]`."""
    position = item_marker_end(text, start)
    while match := _SCAN.search(text, position, end):
        position = match.end()
        sign = match.lastgroup
        if sign == "inert":
            continue
        if sign == "stop" and not _is_final(text, match, start, end):
            continue
        if sign != "blank" and (citations := _CITATIONS.match(text, position, end)):
            position = citations.end()
        yield _stripped(text, start, position)
        start = position
    if text[start:end].strip():
        yield _stripped(text, start, end)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _is_final(text: str, stop: re.Match[str], start: int, end: int) -> bool:
    """Whether this full stop (or `?`, `!`, `…`) ends its sentence, and not only an abbreviation or an aside."""
    position = stop.end()
    if citations := _CITATIONS.match(text, position, end):
        position = citations.end()
    elif position < end and not text[position].isspace():
        return False
    following = _NEXT_WORD.match(text, position, end)
    if following is None or not following["word"] or following["inverted"]:
        return True
    word = following["word"]
    sign = stop[0]
    if word[0].islower():
        # Words with blanks around each sign.
        return text[max(start, stop.start() - 1) : stop.start()] == " "
    is_full_stop = sign[0] == "." and not sign.startswith("..")
    if not is_full_stop:
        return True
    if _UNSTOPPED.match(word) and _UNSTOPPED.match(text, stop.start() - 1):
        return False
    last = _word_before(text, start, stop.start())
    if _is_initial(last) and _INITIAL.match(text, position, end):
        return False
    return _ends_after(last, word)


_WORD_LENGTH = 24


def _word_before(text: str, start: int, stop: int) -> str:
    """The word that ends at `stop`; "" if a long one does."""
    word = _LAST_WORD.search(text[max(start, stop - _WORD_LENGTH) : stop])
    return word[0].lstrip("'’-.") if word else ""


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and not word.islower()


def _ends_after(last: str, following: str) -> bool:
    """Whether a full stop ends its sentence, given the words around it; `following` does not start in lower case."""
    if last.casefold() == "no":
        return not following[0].isdigit()
    may_be_ordinal = last.isdecimal() and len(last) < 3
    if may_be_ordinal and following.casefold() in _AFTER_ORDINALS:
        return False
    is_abbreviation = _DOTTED.fullmatch(last) is not None or last.casefold() in _ABBREVIATIONS
    if is_abbreviation or _is_initial(last):
        return following.casefold() in _OPENERS
    return True
