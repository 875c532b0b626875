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
    rf"^((?:{_ITEM.pattern})?[ \t]*+)(?:(`{{3,}}+)[^`\n]*+|(~{{3,}}+)[^\n]*+)(?:\n|\Z)",
    re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[^\S\n]*+(`{3,}+|~{3,}+)[^\S\n]*+(?:\n|\Z)", re.MULTILINE)
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
    latest: Block | None = None
    after_blank = True
    at = 0
    while at < len(text):
        line, stop, kind, level = _run(text, at)
        if kind is None:
            after_blank = True
        else:
            end = at + len(text[at:stop].rstrip())
            if latest and _continues(latest, kind, line, after_blank):
                latest = Block(latest.kind, latest.start, end, latest.level)
            elif latest and kind == "rule" and latest.kind == "paragraph" and not after_blank:
                latest = Block("heading", latest.start, end, 1 if "=" in line else 2)
            else:
                if latest:
                    yield latest
                latest = Block(kind, at + len(line) - len(line.lstrip()), end, level)
            after_blank = False
        at = stop
    if latest:
        yield latest


def code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """The start and end of each block of the kind "code" in `blocks`, in order. Much faster: most texts have none."""
    at = 0
    if "```" not in text and "~~~" not in text:
        return
    while fence := _OPENING_FENCE.search(text, at):
        at = _after_fence(text, fence.end(), fence[2] or fence[3])
        yield fence.end(1), fence.start() + len(text[fence.start() : at].rstrip())


def _run(text: str, at: int) -> tuple[str, int, BlockKind | None, int]:
    """The line that begins at `at`, the end of its run of lines of one kind, that kind (None: blank), and its level."""
    if run := _PROSE.match(text, at) or _ROWS.match(text, at):
        return run[1], run.end(), "table" if run.re is _ROWS else "paragraph", 0
    match = _LINE.match(text, at)
    line = match[0] if match else ""
    stop = at + len(line)
    if not line or line.isspace():
        return line, stop, None, 0
    if fence := _FENCE.match(line):
        return line, _after_fence(text, stop, fence[1] or fence[2]), "code", 0
    if heading := _HEADING.match(line):
        return line, stop, "heading", len(heading[1])
    if _RULE.match(line):
        return line, stop, "rule", 0
    item = _ITEM.match(line)
    if item and _FENCE.match(line, item.end()):
        # The fence right after a marker opens a code block: otherwise its closing fence would open one.
        return item[0], at + item.end(), "item", 0
    return line, stop, "item" if item else "paragraph", 0


def _after_fence(text: str, at: int, fence: str) -> int:
    """The end of the code block whose opening fence ends at `at`; the end of the text if it is not closed."""
    for line in _FENCE_LINE.finditer(text, at):
        if line[1][0] == fence[0] and len(line[1]) >= len(fence):
            return line.end()
    return len(text)


def _continues(previous: Block, kind: BlockKind, line: str, after_blank: bool) -> bool:
    if after_blank:
        return previous.kind == "item" and kind == "paragraph" and bool(_INDENTED.match(line))
    if previous.kind == "paragraph" and kind == "item":
        return bool(_LATER_NUMBER.match(line))
    return (kind == "table" and previous.kind == "table") or (
        kind == "paragraph" and previous.kind in ("paragraph", "item")
    )


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
    kept, begin, at, last = [], 0, 0, markdown.rfind("-->")
    while match := _CODE_OR_COMMENT.search(markdown, at):
        at = match.end()
        if not match["comment"]:
            continue
        close = markdown.find("-->", at) if at <= last else -1
        if close < 0 and match["block"] is None:
            continue
        kept.append(markdown[begin : match.start()])
        begin = at = close + 3 if close >= 0 else len(markdown)
    return "".join([*kept, markdown[begin:]])


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
    found = list(blocks(markdown))
    for block in found:
        if block.kind == "heading":
            title = _UNDERLINE.sub("", _HASHES.sub("", markdown[block.start : block.end]))
            title = " ".join(_CLOSING.sub("", title).replace("**", "").split())
            parts += [markdown[done : block.start], f"**{title}**" if title else ""]
            done = block.end
    parts.append(markdown[done:])
    if found and found[-1].kind == "code":
        code = markdown[found[-1].start : found[-1].end]
        before, _, last = code.rpartition("\n")
        opening, last = _USER_TEXT_FENCE.match(code), last.strip()
        if opening and not (
            before and len(last) >= len(opening[1]) and not last.strip(opening[1][0])
        ):
            parts.append(f"\n{opening[1]}")
    return "".join(parts)


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
        if match.lastgroup == "inert" or (
            match.lastgroup == "stop" and not _is_final(text, match, start, end)
        ):
            continue
        if match.lastgroup != "blank" and (cited := _CITATIONS.match(text, position, end)):
            position = cited.end()
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
    if cited := _CITATIONS.match(text, position, end):
        position = cited.end()
    elif position < end and not text[position].isspace():
        return False
    following = _NEXT_WORD.match(text, position, end)
    word = following["word"] if following else ""
    if not word or (following and following["inverted"]):
        return True
    if word[0].islower():
        # Words with blanks around each sign.
        return text[max(start, stop.start() - 1) : stop.start()] == " "
    if stop[0][0] != "." or stop[0].startswith(".."):
        return True
    if _UNSTOPPED.match(word) and _UNSTOPPED.match(text, stop.start() - 1):
        return False
    last = _LAST_WORD.search(text[max(start, stop.start() - 24) : stop.start()])
    before = last[0].lstrip("'’-.") if last else ""
    if _is_initial(before) and _INITIAL.match(text, position, end):
        return False
    return _ends_after(before, word)


def _is_initial(word: str) -> bool:
    return len(word) == 1 and word.isalpha() and not word.islower()


def _ends_after(last: str, following: str) -> bool:
    """Whether a full stop ends its sentence, given the words around it; `following` does not start in lower case."""
    if last.casefold() == "no":
        return not following[0].isdigit()
    if last.isdecimal() and len(last) < 3 and following.casefold() in _AFTER_ORDINALS:
        return False
    if _is_initial(last) or _DOTTED.fullmatch(last) or last.casefold() in _ABBREVIATIONS:
        return following.casefold() in _OPENERS
    return True
