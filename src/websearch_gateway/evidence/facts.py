"""The hard facts of a sentence: numbers, dates, units, versions, names and negations; and the quotes that a passage
offers, its sentences and table rows, with the content words of each in order.

Numerals, units and dates have one spelling ("$5.8 million" and "5,800,000 dollars", "May 3" and "3rd of May"); a
version stays as it is written, so 3.1 is not 3.10. Operators are the words that decide the meaning of the next word:
denials, doubts, amounts. They are English; denials are known in the languages of `DENIES`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import permutations
from typing import Literal

from websearch_gateway.base import (
    MARKS,
    MONTHS,
    STOP_WORDS,
    UNSPACED,
    blocks,
    fold,
    lines,
    month_named,
    plain,
    sentences_of,
    stems,
    word_set,
    words,
)

_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_FIRST = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_TENS = {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_SMALL = {word: number for number, word in enumerate(_CARDINALS.split())} | _TENS
_LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {
    **{word: str(number) for number, word in enumerate(_FIRST.split(), start=1)},
    **{f"{word[:-1]}ieth": str(number) for word, number in _TENS.items()},
    **{
        f"{ten} {one}": str(number + digit)
        for ten, number in {"twenty": 20, **_TENS}.items()
        for digit, one in enumerate(_FIRST.split()[:9], start=1)
    },
    "hundredth": "100",
}
_ROMAN: Mapping[str, str] = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12",
    "xiii": "13", "xiv": "14", "xvi": "16",
}  # fmt: skip
_COUNTED_NOUNS = frozenset({"president", "amendment", "century", "birthday", "anniversary", "king", "pope", "congress"})
_SIGNS: Mapping[str, str] = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy", "₹": "inr"}
_UNIT_SPELLINGS = """\
km kilometer kilometers kilometre kilometres kms, meter meters metre metres,
cm centimeter centimeters centimetre centimetres, mm millimeter millimeters millimetre millimetres, mile miles,
foot feet ft, inch inches, yard yards yd, kg kilogram kilograms kilo kilos kgs, gram grams,
mg milligram milligrams, mcg microgram micrograms, pound pounds lb lbs, ton tons tonne tonnes, acre acres,
hectare hectares, ounce ounces oz, stone stones, liter liters litre litres,
ml milliliter milliliters millilitre millilitres, cup cups, tablespoon tablespoons tbsp, teaspoon teaspoons tsp,
gallon gallons, quart quarts, pint pints, mph, kmh kph km/h, km/s, celsius centigrade °c, fahrenheit °f,
kelvin kelvins, percent % percentage, year years yr yrs, month months, week weeks, day days, hour hours hr hrs,
minute minutes mins, seconds sec secs, kb kilobyte kilobytes, mb megabyte megabytes, gb gigabyte gigabytes,
tb terabyte terabytes, kib, mib, gib, tib, usd dollar dollars, eur euro euros, gbp, jpy yen, inr rupee rupees"""
UNITS: Mapping[str, str] = {
    **{word: group.split()[0] for group in _UNIT_SPELLINGS.split(",") for word in group.split()},
    **{unit: unit for unit in ("watt", "volt", "am", "pm", "iu")},
}
"""Spellings that are units in any position."""
UNIT_NAMES = frozenset(UNITS.values())

_AFTER_A_NUMBER: Mapping[str, str] = {
    "m": "meter", "g": "gram", "l": "liter", "c": "celsius", "f": "fahrenheit", "h": "hour", "s": "seconds",
    "min": "minute", "second": "seconds", "w": "watt", "v": "volt", "p": "p", "in": "inch", "mi": "mile",
}  # fmt: skip
_SHORT_LARGE = {"k": "thousand", "mn": "million", "mio": "million", "bn": "billion", "tn": "trillion"}
_CURRENCIES = frozenset(("usd", "eur", "gbp", "jpy", "inr"))
_DIGITS = re.compile(r"(-?\d+(?:[.,]\d+)*)([a-z°²³/]*)")
_BY_COMMAS = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_BY_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,3}(?:\.\d{3})+,\d+")
_COMMA = re.compile(r"-?\d+,(?:\d{1,2}|\d{4,})")
_LONGEST_NUMBER = 12


def is_year(word: str) -> bool:
    """Whether a number is written like a year."""
    return len(word) == 4 and word.isdigit() and "1000" <= word < "2200"


def is_rounding(number: str, exact: str) -> bool:
    """Whether one number is the other with fewer digits: 2.1 million for 2,102,650. Below 1,000 each is exact."""
    try:
        short, long = sorted((float(number), float(exact)), key=lambda value: len(f"{value:g}".strip("0")))
    except ValueError:
        return False
    digits = len(re.sub(r"\D", "", f"{short:.15g}").strip("0"))
    is_near = digits > 1 or abs(long - short) <= abs(long) / 20
    return abs(short) >= 1_000 and is_near and float(f"{long:.{digits}g}") == short


def quantity(words: Sequence[str], position: int) -> tuple[str, str, int] | None:
    """The number that begins at `position` in digits, its unit (empty without one), and the position after it.

    `words` are folded, with currency signs and `%` as words. An ordinal has the unit `nth`. None if there is no number;
    "one" and "second" are none, except in "one million" and "twenty second".
    """
    sign = _SIGNS.get(words[position], "")
    start = position + bool(sign)
    word, after = [*words[start : start + 2], "", ""][:2]
    if word == "one" and after not in _LARGE:
        return None
    if word != "second" and word in _ORDINALS:
        return _ORDINALS[word], "nth", start + 1
    # "twenty second" may be a time, so it needs a counted noun behind it.
    if (pair := f"{word} {after}") in _ORDINALS and (
        after != "second" or not _COUNTED_NOUNS.isdisjoint(words[start + 2 : start + 4])
    ):
        return _ORDINALS[pair], "nth", start + 2
    if word in _ROMAN:
        return _ROMAN[word], "", start + 1
    written, suffix = found.groups() if (found := _DIGITS.fullmatch(word)) else ("", "")
    if suffix and suffix not in _SHORT_LARGE:
        if suffix in ("st", "nd", "rd", "th"):
            return _plain(written), "nth", start + 1
        unit = None if suffix == "s" else unit_named(suffix)  # "1960s"
        return (_plain(written), unit, start + 1) if unit else (word, sign, start + 1)
    rest = [_SHORT_LARGE.get(one, one) for one in (suffix, *words[start + 1 : start + _LONGEST_NUMBER]) if one]
    number, used = _in_words([_plain(written) or word, *rest])
    if number is None:
        return None
    end = start + used - bool(suffix)
    behind = unit_named(words[end]) if end < len(words) and not sign else None
    unit = sign or behind or ""
    if unit in _CURRENCIES and re.fullmatch(r"\d{1,3}\.\d{3}", number):
        number = number.replace(".", "")  # no price has three decimals
    return number, unit, end + bool(behind)


def numerals(words: Sequence[str]) -> list[str]:
    """`words` with every number in digits and joined to its unit."""
    found: list[str] = []
    position = 0
    while position < len(words):
        if counted := quantity(words, position):
            number, unit, position = counted
            if unit == "nth":
                unit = "th" if number[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")
            found.append(number + unit)
            continue
        word = words[position]
        is_time = word == "second" and found[-1:] and found[-1] in ("per", "a", "each", "every")
        found.append("seconds" if is_time else {"one": "1", "second": "2nd"}.get(word, word))
        position += 1
    return found


def unit_named(word: str) -> str | None:
    """The unit that a word behind a number names."""
    # In "5 in 10", "in" is far more often a preposition than inches.
    return UNITS.get(word) or (None if word == "in" else _AFTER_A_NUMBER.get(word))


def _in_words(words: Sequence[str]) -> tuple[str | None, int]:
    """The number at the start, in digits, and how many words it has."""
    word = words[0]
    if _DIGITS.fullmatch(word):
        # A version or a date, such as 1.2.3, is not an amount.
        if len(words) > 1 and words[1] in _LARGE and re.fullmatch(r"-?\d+(?:\.\d+)?", word):
            return f"{float(word) * _LARGE[words[1]]:.6f}".rstrip("0").rstrip("."), 2
        return word, 1
    if word not in _SMALL:
        return None, 0
    total, current, used = 0, 0, 0
    for word in words:
        if (small := _SMALL.get(word)) is not None and (current % 100 == 0 or (current % 10 == 0 and small < 10)):
            current += small
        elif (large := _LARGE.get(word)) is not None and current:
            current *= large
            if large > 100:
                total, current = total + current, 0
        else:
            break
        used += 1
    return str(total + current), used


def _plain(number: str) -> str:
    """The number without thousands separators and with a point before its fraction; a version keeps every digit."""
    if _BY_COMMAS.fullmatch(number):
        return number.replace(",", "")
    if _BY_POINTS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    return number.replace(",", ".") if _COMMA.fullmatch(number) else number


MOST_CHARS = 2_000  # the most characters of a sentence that are read

DENIES = re.compile(
    r"(?<!\w)(?:not|never|no|none|neither|nor|without|cannot|nobody|nothing|nicht|nie|niemals|kein\w*|ohne|weder|pas|jamais|"
    r"aucun\w*|sans|nunca|jam[aá]s|ning[uú]n\w*|sin|nu|fără|không|chưa|değil|hiç|не|ни|нет|без|δεν|δε|χωρίς|नहीं|لم|لن|"
    r"ليس|ليست|لا)(?!\w)|n['’]t\b|\bn['’]|[不没沒無未]|ない|ไม่|않",
    re.IGNORECASE,
)


def any_of(table: str) -> re.Pattern[str]:
    """A pattern of words; in the table `*` stands for any ending, `_` for a blank."""
    known = "|".join(word.replace("*", r"\w*").replace("_", " ") for word in table.split())
    return re.compile(rf"(?<!\w)(?:{known})(?!\w)", re.IGNORECASE)


DENIED = re.compile(
    DENIES.pattern
    + "|"
    + any_of(
        "lack* deny denies denied denying refus* declin* reject* fail fails failed failing failure absen* unable "
        "impossible prevent* prohibit* forbid* forbad* forbidden hardly rarely seldom barely lost lose loses stop* "
        "turn_down turns_down turned_down exclud* avoid* unlike unclear unknown disqualif* missing ban bans banned "
        "barred illeg* ended abst* unable unlikely* unsafe* unchanged unhealthy unsuccessful* uncommon* unusual*"
    ).pattern,
    re.IGNORECASE,
)
"""What one writer says with these words another one says with "not"."""

_PAIRS = """\
support oppose, accept reject, succeed fail, increase decrease, rise fall, rose fell, win lose, won lost, buy sell,
inside outside, within outside, north south, east west, northern southern, eastern western, open closed, male female,
bought sold, largest smallest, highest lowest, longest shortest, first last, import export, legal illegal, true false,
public private, safe unsafe, above below, cause prevent, allowed forbidden, upheld dismissed, higher lower, gain loss,
larger smaller, early late, advance stagnate"""
OPPOSITES = [tuple(order) for pair in _PAIRS.split(",") for order in permutations(stems(pair.split()))]

_OPERATORS = """\
all every each entire whole always everybody everyone everything, most mostly majority, mainly chiefly primarily
largely, some several certain various partly partially, few, oneof, many numerous much, half, only sole solely
exclusively, often usually generally frequently commonly typically normally, sometimes occasionally, if unless whether
provided, may might possibly perhaps probably could possible potential potentially likely reportedly allegedly
supposedly apparently, must, would, not no never neither none nobody nothing without nor rarely hardly seldom barely
unable, except, over more above exceeding, under less below fewer, least, nearly almost, before, after, until till,
since, plans plan planned proposed propose proposes intends intended expected expects wants wanted promised, believed
believes thought thinks considered supposed claimed claims argued argues suggested suggests alleged theorized"""
OPERATORS: Mapping[str, str] = {word: row.split()[0] for row in _OPERATORS.split(",") for word in row.split()}
"""Each operator with the first word of its row, which means nearly the same."""

_BOUNDS = frozenset(("over", "under", "least"))
"""What bounds a number; before another word it is a preposition."""
LINKS = word_set(
    "of in on at to from by with for into onto via as through across among between against within near than per"
)
_JOINS = word_set("and or but nor while whereas although though because which who whom whose that where when so")
_FILLERS = word_set(
    "yet also however moreover thus therefore then upon toward towards very quite just still already now ones "
    "other another even own one s"
)
_FUNCTION = STOP_WORDS | LINKS | _JOINS | _FILLERS | OPERATORS.keys()

_MONTHS = tuple(month.capitalize() for month in MONTHS)
_MONTH = {short.lower(): name.lower() for name in _MONTHS for short in (name, name[:3])} | {"sept": "september"}
_OTHER_WORDS = frozenset(("may", "march", "mar", "jan", "sep", "dec"))
"""Short names and months that are also other words or names."""
_NAMED_MONTH = rf"(?P<month>{'|'.join((*_MONTHS, *(name[:3] for name in _MONTHS), 'Sept'))})\b\.?"
_MONTH_FIRST = re.compile(rf"\b{_NAMED_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)", re.IGNORECASE)
_DAY_FIRST = re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_NAMED_MONTH}", re.IGNORECASE)
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?(?!\w)")
_FRACTION = re.compile(r"(\d?)([½¼¾])")
_GROUPED = re.compile(r"(?<=\d)['\u00a0\u202f](?=\d{3}\b)")
_POWER = re.compile(r"(?<=\d)(?=[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹])")
"""Between a number and its power, which compatibility forms would make one number: 10⁵ is not 105."""
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
    (re.compile(r"[~≈](?=\s?\d)"), "about "),
    (re.compile(r"\btwice\b", re.IGNORECASE), "two times"),
    (re.compile(r"\bminus (?=\d)", re.IGNORECASE), "-"),
)
_LETTER = rf"[^\W\d_{UNSPACED}]"
EDGES = frozenset(";,:|[].!?-\u2013\u2014")
"""Marks between the parts of a sentence."""
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
        before: the function words and marks before it.
        raw: as it is written.
    """

    text: str
    kind: Kind
    unit: str = ""
    signs: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    raw: str = ""

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
    at, first = 0, True
    while at < len(pieces):
        kind, piece = pieces[at]
        if kind == "edge":
            first, at = first or piece in ".!?", at + 1
            before.append(piece)
            continue
        if counted := _number(pieces, at, first):
            value, unit, at = counted
            signs = _signs(before, fold(piece) not in _FEW)
            found.append(Word(value, "number", unit, signs, frozenset(before), piece))
            before, first = [], False
            continue
        folded, is_acronym = fold(piece).rstrip("."), piece.isupper() and len(piece) > 1
        if kind == "word" and folded in _FUNCTION and not is_acronym and (piece != "May" or first):
            before.append(folded)
            at += 1
        else:
            is_name = not first and any(letter.isupper() for letter in piece)
            bare = re.sub(r"'s?$", "", piece)
            for text in stems(words(bare)) if bare[-1:] not in "+#" else [fold(bare)]:
                found.append(Word(text, "name" if is_name else "word", "", _signs(before), frozenset(before), bare))
                before = []
            before, at = [], at + 1
        first = False
    if before and found:
        found[-1] = replace(found[-1], signs=found[-1].signs | _signs(before))
    for place in range(len(found) - 2, -1, -1):  # "687 and 760 nm"
        word, after = found[place], found[place + 1]
        if word.kind == after.kind == "number" and not word.unit and not after.before.isdisjoint(("and", "or", "to")):
            found[place] = replace(word, unit=after.unit if after.unit not in ("month", "nth") else "")
    return tuple(found)


def spelled(text: str) -> str:
    """`text` with one spelling of dates, fractions, digits, apostrophes and contractions."""
    text = _FRACTION.sub(lambda match: str(int(match[1] or 0) + unicodedata.numeric(match[2])), text)
    text = _POWER.sub("^", text)
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


def _signs(before: Sequence[str], counts: bool = False) -> frozenset[str]:
    found = frozenset(OPERATORS[one] for one in before if one in OPERATORS)
    return found if counts or "half" in found else found - _BOUNDS


_FEW = word_set("two three four five six seven eight nine ten first third fourth fifth sixth seventh eighth ninth")
NO_UNITS = frozenset(("", "month", "nth"))


def names_of(said: Sequence[Word], passage: Quotable) -> set[int]:
    """The places of names. A sentence's first word is one if it is one elsewhere in the passage, or before a name."""
    found = {place for place, word in enumerate(said) if word.kind == "name"}
    for place, word in enumerate(said):
        if word.kind == "word" and word.raw[:1].isupper():
            after = said[place + 1] if place + 1 in found else None
            if (after and not after.before) or word.text in passage.names:
                found.add(place)
    return found


def same_number(word: Word, other: Word) -> bool:
    """Whether two numbers are equal, have one unit, and are not bounds of opposite sides."""
    return (
        word.text == other.text
        and (word.unit in ("", other.unit) or {word.unit, other.unit} <= NO_UNITS)
        and not word.signs ^ other.signs >= {"over", "under"}
    )


def parts_of(some: Sequence[Word]) -> list[list[Word]]:
    """The words between commas and other marks. A date has one in itself, and "In the US," belongs to what follows."""
    parts: list[list[Word]] = [[]]
    for word in some:
        last = parts[-1]
        is_date = last and last[-1].kind == word.kind == "number" and word.before == {","}
        if not (EDGES.isdisjoint(word.before) or is_date or all(one.is_fact for one in last)):
            parts.append([])
        parts[-1].append(word)
    return parts


def unmatched(some: Sequence[Word], others: Sequence[Word]) -> list[Word]:
    """The numbers of one sentence that the other does not have."""
    return [word for word in some if word.kind == "number" and not any(same_number(word, one) for one in others)]


def kind_of(number: Word) -> str:
    """The unit of a number, or "year"; empty for a word."""
    if number.kind != "number":
        return ""
    return "year" if is_year(number.text) and not number.unit else number.unit or "1"


def is_small_number(word: Word) -> bool:
    """Whether it is a word such as "two" or "ninth", which often counts without being a fact."""
    return word.kind == "number" and word.raw.lower() in _FEW


def compared(said: Sequence[Word], theirs: Sequence[Word]) -> list[tuple[Sequence[Word], Sequence[Word]]]:
    """Two sentences side by side: words that both have in a row, and between them what only one of them has there."""
    ours, other = ([word.text for word in some] for some in (said, theirs))
    steps = SequenceMatcher(None, ours, other, autojunk=False).get_opcodes()
    return [(said[one:two], theirs[three:four]) for _, one, two, three, four in steps]


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

    def holding(self, copied: str) -> list[Quote]:
        """The sentences and rows in which words copied from the passage stand; empty if they do not.

        Differences of Unicode, blanks, quotation marks and punctuation do not count.
        """
        wanted = _folded(copied)
        is_long = wanted.count(" ") - 1 >= LEAST_WORDS
        texts = [_folded(quote.text) for quote in self.quotes]
        for quote, text in zip(self.quotes, texts, strict=True):
            if wanted in text and (is_long or wanted in (text, *(_folded(cell) for _, cell in quote.cells))):
                return [quote]
        start, end = f" {''.join(text[1:] for text in texts)}".find(wanted), 1
        found = []
        for quote, text in zip(self.quotes, texts, strict=True):
            begin, end = end - 1, end + len(text) - 1
            if is_long and start >= 0 and begin < start + len(wanted) - 1 and end - 1 > start:
                found.append(quote)
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
            table = [[plain(cell.strip()) for cell in row.strip().strip("|").split("|")] for row in rows]
            numbered = [any(letter.isdigit() for letter in row) for row in rows]
            ruled = len(rows) > 1 and not words(rows[1])
            # Without a rule below, it alone has no digit.
            header = table[0] if ruled or (len(rows) > 2 and not numbered[0] and all(numbered[1:])) else []
            for row, cells in [*zip(rows, table, strict=True)][1 + ruled if header else 0 :]:
                yield Quote(row.strip(), tuple(zip([*header, *[""] * len(cells)], cells, strict=False)))
        else:
            for start, end in sentences_of(markdown, block):
                yield Quote(plain(markdown[start:end]))


def _folded(text: str) -> str:
    """The words with a blank before and behind each."""
    return f" {_NOT_WORDS.sub(' ', fold(plain(text))).strip()} "


_CHANGES = any_of(
    "if unless provided except as_long_as but not although though when until according_to say says said told tells "
    "claim claims claimed argue* believe* suggest* accuse* rumour* rumor* dream* imagin*"
)
"""What changes the meaning of the words before it."""
_EDGES = frozenset(",;:.!?()，；：。！？（）")
_TOKENS = re.compile(r"(?:(?<!\w)[-\u2212](?=\d))?\w+(?:['’.,]\w+)*|[,;:.!?()，；：。！？（）]")


def is_verbatim(sentence: str, quote: str) -> bool:
    """Whether the words of the sentence are a run of the quote's, and nothing beside them changes their meaning.

    The run begins where the quote begins, and ends where a part of the quote ends that no condition, denial or speaker
    follows. A question makes no statement.
    """
    said, theirs = (_TOKENS.findall(text.replace("’", "'").lower()) for text in (sentence, quote))
    if len(words(sentence)) < LEAST_WORDS or theirs[-1:] == ["?"]:
        return False
    said = said[:-1] if said[-1] in _EDGES else said
    behind = theirs[len(said) :]
    return theirs[: len(said)] == said and (not behind or behind[0] in _EDGES) and not _CHANGES.search(" ".join(behind))
