"""Finds sentence boundaries in prose and in Markdown, without a model and in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from websearch_gateway.text.markdown import CODE, LINK, URL, Block, blocks, item_marker_end, lines

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


def _words(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


# English, then Spanish, French, Italian and German. An abbreviation ends a sentence only before one of _OPENERS.
_ABBREVIATIONS = _words(
    "dr mr mrs ms prof rev hon gen col capt lt sgt sen rep gov st mt ft fig figs eq vol ch sec pp v vs cf viz approx "
    "ca e.g i.e al nos art dept univ inc ltd co corp jr sr etc ph.d bros est "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "sra srta dra dña ud uds pág págs núm mme mlle sig dott nr bzw usw bspw abb"
)
# German writes `am 3. Mai`, `im 19. Jahrhundert`.
_AFTER_ORDINALS = _words(
    "januar februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts"
)
_OPENERS = _words(
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
        if match.lastgroup == "inert" or (match.lastgroup == "stop" and not _is_final(text, match, start, end)):
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
        return text[max(start, stop.start() - 1) : stop.start()] == " "  # words with blanks around each sign
    if stop[0][0] != "." or stop[0].startswith(".."):
        return True
    if _UNSTOPPED.match(word) and _UNSTOPPED.match(text, stop.start() - 1):
        return False
    before = _word_before(text, start, stop.start())
    if _is_initial(before) and _INITIAL.match(text, position, end):
        return False
    return _ends_after(before, word)


def _word_before(text: str, start: int, position: int) -> str:
    last = _LAST_WORD.search(text[max(start, position - 24) : position])
    return last[0].lstrip("'’-.") if last else ""


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
