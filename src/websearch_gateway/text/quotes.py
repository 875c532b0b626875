"""The quotes that a passage offers, its sentences and table rows, and the content words of each in order.

Numbers and dates have one spelling ("$5.8 million" and "5,800,000 dollars", "May 3" and "3rd of May"); a version stays
as it is written, so 3.1 is not 3.10. Operators are the words that decide the meaning of the next word: denials, doubts,
amounts. They are English; denials are known in the languages of `DENIES`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from websearch_gateway.text.markdown import blocks, lines, plain, sentences_of, word_set
from websearch_gateway.text.numbers import UNITS, month_named, quantity
from websearch_gateway.text.tokens import MARKS, STOP_WORDS, UNSPACED, fold, stems, words


def stem_set(spaced: str) -> frozenset[str]:
    """The stems of the words of a text with blanks between them."""
    return frozenset(stems(spaced.split()))


MOST_CHARS = 2_000  # the most characters of a sentence that are read

DENIES = re.compile(
    r"(?<!\w)(?:not|never|no|none|neither|nor|without|cannot|nobody|nothing|nicht|nie|niemals|kein\w*|ohne|weder|pas|jamais|"
    r"aucun\w*|sans|nunca|jam[aá]s|ning[uú]n\w*|sin|nu|fără|không|chưa|değil|hiç|не|ни|нет|без|δεν|δε|χωρίς|नहीं|لم|لن|"
    r"ليس|ليست|لا)(?!\w)|n['’]t\b|\bn['’]|[不没沒無未]|ない|ไม่|않",
    re.IGNORECASE,
)

_OPERATORS = """\
all every each entire whole always everybody everyone everything
most mostly majority
mainly chiefly primarily largely
some several certain various partly partially
few
oneof
many numerous much
half
only sole solely exclusively
often usually generally frequently commonly typically normally
sometimes occasionally
if unless whether provided
may might possibly perhaps probably could possible potential potentially likely reportedly allegedly supposedly \
apparently
must
would
not no never neither none nobody nothing without nor rarely hardly seldom barely unable
except
plans plan planned proposed propose proposes intends intended expected expects wants wanted promised
believed believes thought thinks considered supposed claimed claims argued argues suggested suggests alleged \
theorized"""
OPERATORS: Mapping[str, str] = {word: row.split()[0] for row in _OPERATORS.splitlines() for word in row.split()}
"""Each operator with the first word of its row, which means nearly the same."""

_NEARLY = frozenset(("almost", "nearly"))
_BOUNDS = {
    **dict.fromkeys(("over", "more", "above", "exceeding"), "over"),
    **dict.fromkeys(("under", "less", "below", "fewer"), "under"),
    **dict.fromkeys(_NEARLY, "nearly"),
    "least": "least",
}
_TIMES = frozenset(("before", "after", "until", "till", "since"))
_LINKS = word_set(
    "of in on at to from by with for into onto via as through across among between against within near than per"
)
_JOINS = word_set("and or but nor while whereas although though because which who whom whose that where when so")
_FILLERS = word_set(
    "yet also however moreover thus therefore then upon toward towards very quite just still already now ones "
    "other another even own one s"
)
_FUNCTION = STOP_WORDS | _TIMES | _LINKS | _JOINS | _FILLERS | _BOUNDS.keys()

_MONTHS = tuple(
    word.capitalize()
    for word in re.findall(
        r"\w+", "january february march april may june july august september october november december"
    )
)
_MONTH = {short.lower(): name.lower() for name in _MONTHS for short in (name, name[:3])} | {"sept": "september"}
_OTHER_WORDS = frozenset(("may", "march", "mar", "jan", "sep", "dec"))
"""Short names and months that are also other words or names."""
_NAMED_MONTH = rf"(?P<month>{'|'.join((*_MONTHS, *(name[:3] for name in _MONTHS), 'Sept'))})\b\.?"
_MONTH_FIRST = re.compile(rf"\b{_NAMED_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_NAMED_MONTH}", re.IGNORECASE)
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?(?!\w)")
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_FRACTION = re.compile(r"(\d?)([½¼¾])")
_GROUPED = re.compile(r"(?<=\d)['\u00a0\u202f](?=\d{3}\b)")
_SPELLINGS = (
    (re.compile(r"[’‘]"), "'"),
    (re.compile(r"\bcan(?:not|'t)\b|\bwon't\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(?:US|U\.S\.|A|C)(?=\$)"), ""),
    (re.compile(r"\b(?:USA?|U\.S\.(?:A\.)?)(?![\w$])"), "United States"),
    (re.compile(r"\b(?:UK|U\.K\.)(?!\w)"), "United Kingdom"),
    (re.compile(r"\bsq\b\.?", re.IGNORECASE), "square"),
    (re.compile(r"\bsquare mi\b"), "square miles"),
    (re.compile(r"\bpercentage points?\b"), "pp"),
    (re.compile(r"\bone of (?=the|its|his|her|their|our)\b", re.IGNORECASE), "oneof "),
    (re.compile(r"±"), " to "),
    (re.compile(r"\btwice\b", re.IGNORECASE), "two times"),
    (re.compile(r"\bminus (?=\d)", re.IGNORECASE), "-"),
)
_LETTER = rf"[^\W\d_{UNSPACED}]"
_TOKEN = re.compile(
    rf"""(?P<number>(?<![\w.])[-\u2212](?=\d) | [$€£¥₹%] | °\s?[cfCF]\b
            | v?\d+(?:[.,:]\d+)*(?:{_LETTER}{{1,4}}(?:[²³]|/[a-z]{{1,3}})?(?!\w)|['’]?s\b)?)
    | (?P<word>(?:{_LETTER}\.){{2,}} | {_LETTER}{{1,3}}\d?/[a-z]{{1,3}}(?!\w)
            | {_LETTER}[\w{MARKS}]*(?:['.&]\w+)*[+\#]{{0,2}})
    | (?P<wide>[{UNSPACED}]+)
    | (?P<edge>[;,:()|\[\]] | [.!?](?=\s|$) | \s[-\u2013\u2014]\s | \u2014)""",
    re.VERBOSE,
)

_SHORT_UNIT = re.compile(r"[a-zµ]{2}|[a-zµ]{1,3}[0-9](?:/[a-z]{1,3})?|[a-zµ]{1,3}/[a-z]{1,3}")
"""A unit that no table needs to know: "nm", "kW", "m3/s"."""

Kind = Literal["word", "name", "number"]


@dataclass(frozen=True, slots=True)
class Word:
    """A content word of a sentence.

    Attributes:
        text: the stem; a number in digits, without its `unit`; a month's English name.
        kind: a number, a name (a capital inside the sentence), or any other word.
        signs: the operators before it; of the last word also those behind it.
        bounds: "over", "under" or "nearly" before a number.
        times: before, after, until or since.
        links: the prepositions before it.
        part: the number of commas and other edges so far.
        raw: as it is written.
        joins: whether a conjunction or relative pronoun is before it.
    """

    text: str
    kind: Kind
    unit: str = ""
    signs: frozenset[str] = frozenset()
    bounds: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    part: int = 0
    raw: str = ""
    joins: bool = False

    @property
    def is_fact(self) -> bool:
        """Whether it must stand in the source as it is."""
        return self.kind != "word"


@lru_cache(maxsize=512)
def read(sentence: str) -> tuple[Word, ...]:
    """The content words of a sentence, of which the first MOST_CHARS are read."""
    pieces = [(match.lastgroup or "", match[0].strip()) for match in _TOKEN.finditer(spelled(sentence[:MOST_CHARS]))]
    found: list[Word] = []
    before: list[str] = []
    part, at, first = 0, 0, True
    while at < len(pieces):
        kind, piece = pieces[at]
        if kind == "edge":
            part, first, at = part + 1, first or piece in ".!?", at + 1
            continue
        if counted := _number(pieces, at, first):
            value, unit, at = counted
            found.append(_with_operators(Word(value, "number", unit, part=part, raw=piece), before))
            before = []
        elif kind == "word" and _is_function_word(piece, first):
            before.append(fold(piece).rstrip("."))
            at += 1
        else:
            is_name = not first and any(letter.isupper() for letter in piece)
            bare = re.sub(r"'s?$", "", piece)
            for text in stems(words(bare)) if bare[-1:] not in "+#" else [fold(bare)]:
                found.append(_with_operators(Word(text, "name" if is_name else "word", part=part, raw=bare), before))
                before = []
            before, at = [], at + 1
        first = False
    if before and found:
        found[-1] = replace(found[-1], signs=found[-1].signs | _signs(before))
    for place in range(len(found) - 2, -1, -1):  # "687 and 760 nm"
        word, after = found[place], found[place + 1]
        if word.kind == after.kind == "number" and not word.unit and (after.joins or "to" in after.links):
            found[place] = replace(word, unit=after.unit if after.unit not in ("month", "nth") else "")
    return tuple(found)


def spelled(text: str) -> str:
    """`text` with one spelling of dates, fractions, digits, apostrophes and contractions."""
    text = _FRACTION.sub(lambda match: (match[1] or "0") + _FRACTIONS[match[2]], text)
    text = unicodedata.normalize("NFKC", _GROUPED.sub("", text))
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(one, one)) for one in text)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    text = _ISO_DATE.sub(lambda date: f"{int(date[3])} {_MONTHS[int(date[2]) - 1]} {date[1]}", text)
    return _DAY_FIRST.sub(_date, _MONTH_FIRST.sub(_date, text))


def _date(match: re.Match[str]) -> str:
    return f"{int(match['day'])} {_MONTH[match['month'].lower()].capitalize()}"


def _number(pieces: list[tuple[str, str]], at: int, first: bool) -> tuple[str, str, int] | None:
    """The number or month at this place, its unit, and the place behind it."""
    kind, piece = pieces[at]
    folded = fold(piece).rstrip(".")
    if kind == "word" and folded in _MONTH and (folded not in _OTHER_WORDS or (piece[0].isupper() and not first)):
        return _MONTH[folded], "month", at + 1
    beside = {other for other, _ in pieces[max(0, at - 2) : at + 3]}
    if kind in ("word", "wide") and "number" in beside and (month := month_named(piece)):
        return _MONTHS[month - 1].lower(), "month", at + 1
    if kind not in ("number", "word") or (piece.isupper() and len(piece) == 1):
        return None
    run = [fold(one).rstrip(".").replace(" ", "") for _, one in pieces[at : at + 10]]
    minus = run[0] in ("-", "\u2212") and len(run) > 1
    if minus:
        run = [f"-{run[1]}", *run[2:]]
    run[0] = run[0].removeprefix("v") if run[0][1:2].isdigit() else run[0]
    if not (found := quantity(run, 0)):
        return (run[0], "", at + 1 + minus) if run[0][:1].isdigit() else None  # 04:12
    value, unit, used = found
    after = at + used + minus
    behind = [*run[used : used + 2], "", ""]
    if behind[0] in ("square", "cubic") and (named := UNITS.get(behind[1])):
        return value, f"{behind[0]} {named}", after + 2
    if not unit and _SHORT_UNIT.fullmatch(behind[0]) and behind[0] not in _FUNCTION:
        return value, behind[0], after + 1
    return value, unit, after


def _is_function_word(piece: str, first: bool) -> bool:
    if (piece.isupper() and len(piece) > 1) or (piece == "May" and not first):
        return False
    folded = fold(piece).rstrip(".")
    return folded in _FUNCTION or folded in OPERATORS


def _with_operators(word: Word, before: list[str]) -> Word:
    counts = word.kind == "number" or "half" in before
    counting = before if counts else _NEARLY.intersection(before)
    return replace(
        word,
        signs=_signs(before),
        bounds=frozenset(_BOUNDS[one] for one in counting if one in _BOUNDS),
        times=_TIMES.intersection(before),
        links=_LINKS.intersection(before),
        joins=not _JOINS.isdisjoint(before),
    )


def _signs(before: list[str]) -> frozenset[str]:
    return frozenset(OPERATORS[one] for one in before if one in OPERATORS)


MOST_QUOTES = 4
LONGEST_QUOTE = 500  # the most characters of a quote that is shown
LONGEST_PASSAGE = 20_000  # the most characters of a passage that are read
LEAST_WORDS = 4  # a shorter quote must be a whole cell, heading or sentence

_NOT_WORDS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence, or a table row with the header and text of each of its cells."""

    text: str
    cells: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> tuple[Word, ...]:
        """Its content words; in a row each cell follows its header."""
        return read("; ".join(f"{head} {cell}" for head, cell in self.cells) or self.text)

    @property
    def shown(self) -> str:
        """Its words as the page shows them, cut to LONGEST_QUOTE characters."""
        text = " ".join(cell for _, cell in self.cells if cell) or self.text
        return text if len(text) <= LONGEST_QUOTE else text[:LONGEST_QUOTE].rpartition(" ")[0]


@dataclass(frozen=True, slots=True)
class Quotable:
    """A passage prepared for quoting.

    `quotes` are its sentences and table rows, `context` the words of its headings and of the question, `names` its
    names.
    """

    quotes: tuple[Quote, ...]
    context: frozenset[str] = frozenset()
    names: frozenset[str] = field(default=frozenset(), repr=False)

    @classmethod
    def of(cls, markdown: str, *context: str) -> Quotable:
        """Read a passage. `context` are its headings, and the question."""
        quotes = tuple(_quotes(markdown[:LONGEST_PASSAGE]))
        every = [word for quote in quotes for word in quote.words]
        above = [word for text in context for word in read(text)]
        return cls(
            quotes,
            context=frozenset(word.text for word in above),
            names=frozenset(word.text for word in (*above, *every) if word.kind == "name"),
        )

    @classmethod
    def joined(cls, passages: Sequence[Quotable]) -> Quotable:
        """Several passages as one."""
        return cls(
            tuple(quote for one in passages for quote in one.quotes),
            frozenset[str]().union(*(one.context for one in passages)),
            frozenset[str]().union(*(one.names for one in passages)),
        )

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        wanted = _folded(copied)
        texts = [_folded(quote.text) for quote in self.quotes]
        for place, text in enumerate(texts):
            cells = [_folded(cell) for _, cell in self.quotes[place].cells]
            if wanted in text and (wanted.count(" ") - 1 >= LEAST_WORDS or wanted in (text, *cells)):
                return [self.quotes[place]]
        joined = "".join(text[1:] for text in texts)
        start = f" {joined}".find(wanted) if wanted.count(" ") - 1 >= LEAST_WORDS else -1
        if start < 0:
            return []
        found, at = [], 0
        for quote, text in zip(self.quotes, texts, strict=True):
            if at < start + len(wanted) - 1 and at + len(text) - 1 > start:
                found.append(quote)
            at += len(text) - 1
        return found[:MOST_QUOTES]


def best_quotes(sentence: str, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes that together hold most facts and words of the sentence, best first, at most MOST_QUOTES."""
    said = read(sentence)
    left = {word.text: 2 if word.is_fact else 1 for word in said}
    rest = []
    for quote in quotes:  # of rows those whose first cell, which names them, is among the words
        name = [word.text for word in read(quote.cells[0][1])] if quote.cells else []
        if not name or not left.keys().isdisjoint(name):
            rest.append((quote, {word.text for word in quote.words}))
    found: list[Quote] = []
    while rest and len(found) < MOST_QUOTES:
        best = max(rest, key=lambda one: (sum(left.get(text, 0) for text in one[1]), -len(one[1])))
        if found and not any(text in left for text in best[1]):
            break
        found.append(best[0])
        rest.remove(best)
        left = {text: weight for text, weight in left.items() if text not in best[1]}
    return found


def _quotes(markdown: str) -> Iterator[Quote]:
    for block in blocks(markdown):
        if block.kind == "table":
            rows = [markdown[start:end] for start, end in lines(markdown, block.start, block.end)]
            ruled = len(rows) > 1 and not words(rows[1])
            header = _cells(rows[0]) if ruled or _is_header(rows) else []
            for row in rows[1 + ruled if header else 0 :]:
                cells = _cells(row)
                yield Quote(row.strip(), tuple(zip([*header, *[""] * len(cells)], cells, strict=False)))
        else:
            for start, end in sentences_of(markdown, block):
                yield Quote(plain(markdown[start:end]))


def _is_header(rows: Sequence[str]) -> bool:
    """Whether the first row names the columns of a table without a rule: it alone has no digit."""
    numbered = [any(letter.isdigit() for letter in row) for row in rows]
    return len(rows) > 2 and not numbered[0] and all(numbered[1:])


def _cells(row: str) -> list[str]:
    return [plain(cell.strip()) for cell in row.strip().strip("|").split("|")]


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    return f" {_NOT_WORDS.sub(' ', fold(plain(text))).strip()} "
