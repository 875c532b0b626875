"""The hard facts of a sentence, as words in order: numbers, dates, units, names, and what is denied.

Numerals, units and dates have one spelling ("$5.8 million" and "5,800,000 dollars", "May 3" and "3rd of May"), a share
is a percentage ("one in five" is 20%), and a version stays as it is written, so 3.1 is not 3.10. Denials are known in
the languages of `DENIES`, words that may stand for one in English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from websearch_gateway.base import (
    MARKS,
    MONTHS,
    STOP_WORDS,
    UNSPACED,
    fold,
    month_named,
    stems,
    word_set,
    words,
)

_CARDINALS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_FIRST = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_TENS = {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}
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
_COUNTED_NOUNS = frozenset(
    {"president", "amendment", "century", "birthday", "anniversary", "king", "pope", "congress"}
)
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
minute minutes mins, seconds sec secs, decade decades, century centuries, kw kilowatt kilowatts,
mw megawatt megawatts, gw gigawatt gigawatts, tw terawatt terawatts, kwh, mwh, gwh, twh,
kb kilobyte kilobytes, mb megabyte megabytes, gb gigabyte gigabytes, tb terabyte terabytes, kib, mib, gib, tib,
usd dollar dollars, eur euro euros, gbp, jpy yen, inr rupee rupees"""
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
_SHORT_LARGE = {
    "k": "thousand",
    "mn": "million",
    "mio": "million",
    "bn": "billion",
    "tn": "trillion",
}
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
        short, long = sorted(
            (float(number), float(exact)), key=lambda value: len(f"{value:g}".strip("0"))
        )
    except ValueError:
        return False
    digits = len(re.sub(r"\D", "", f"{short:.15g}").strip("0"))
    is_near = digits > 1 or abs(long - short) <= abs(long) / 20
    return abs(short) >= 1_000 and is_near and float(f"{long:.{digits}g}") == short


def quantity(words: Sequence[str], position: int) -> tuple[str, str, int] | None:
    """The number that begins at `position` in digits, its unit (empty without one), and the position after it.

    `words` are folded, with currency signs and `%` as words. An ordinal has the unit `nth`. None if there is no number;
    "one" and "second" are no numbers, except in "one million" and "twenty second".
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
    rest = [
        _SHORT_LARGE.get(one, one)
        for one in (suffix, *words[start + 1 : start + _LONGEST_NUMBER])
        if one
    ]
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
                unit = (
                    "th"
                    if number[-2:-1] == "1"
                    else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")
                )
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
        if (small := _SMALL.get(word)) is not None and (
            current % 100 == 0 or (current % 10 == 0 and small < 10)
        ):
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


MOST_CHARS = 2_000
"""The most characters of a sentence that are read."""

DENIES = re.compile(
    r"(?<!\w)(?:not|never|no|none|neither|nor|without|cannot|nobody|nothing|nicht|nie|niemals|kein\w*|ohne|weder|pas|jamais|"
    r"aucun\w*|sans|nunca|jam[aá]s|ning[uú]n\w*|sin|nu|fără|không|chưa|değil|hiç|не|ни|нет|без|δεν|δε|χωρίς|नहीं|لم|لن|"
    r"ليس|ليست|لا)(?!\w)|n['’]t\b|\bn['’]|[不没沒無未]|ない|ไม่|않",
    re.IGNORECASE,
)
_SAYS_NO = re.compile(
    DENIES.pattern
    + r"|(?<!\w)(?:lack\w*|den(?:y|ies|ied|ying)|refus\w*|declin\w*|reject\w*|fail(?:s|ed|ing|ure)?|absen\w*|"
    r"impossible|un(?:able|like|likely|known|clear|changed|common|usual|safe|healthy|successful)|prevent\w*|prohibit\w*|"
    r"forbid\w*|forbad\w*|hardly|rarely|seldom|barely|los[et]|loses|stop\w*|turn(?:s|ed)? down|exclud\w*|avoid\w*|"
    r"missing|ban(?:s|ned)?|barred|illegal\w*|ended|"
    r"remov\w*|withdr\w*|drop(?:s|ped)?|free of|ke(?:ep|eps|pt) (?:out|off)|instead|except)(?!\w)",
    re.IGNORECASE,
)
"""What one writer says with these words another one says with "not"."""


def says_no(text: str) -> bool:
    """Whether a text has a denial, or a word that may stand for one."""
    return bool(_SAYS_NO.search(text))


_DENIALS = word_set("not never no none neither nor without nobody nothing")

_OVER, _UNDER = (
    word_set("over more above exceeding least longer"),
    word_set("under less below fewer most hardly"),
)
LINKS = word_set(
    "of in on at to from by with for into onto via as through across among between against within near than per"
)
_LIGHT = word_set("""\
and or but nor while whereas although though because which who whom whose that where when so if unless whether
yet also however moreover thus therefore then upon toward towards very quite just still already now ones other another
even own one s all every each entire whole always everybody everyone everything most mostly majority mainly chiefly
primarily largely some several certain various partly few many much only often usually sometimes may might possibly
perhaps probably could must would except over more above exceeding under less below fewer least nearly almost about
around roughly approximately before after until till since""")
PARTS = word_set(", ; : ( ) | and or but while whereas")
"""Words and marks between the parts of a sentence."""
_FUNCTION = STOP_WORDS | LINKS | _LIGHT | _DENIALS

_DIRECTIONS = {
    form: point
    for point in ("north", "south", "east", "west")
    for form in (point, f"{point}ern", f"{point}wards")
}
"""Points of the compass name places, also without a capital."""

_MONTHS = tuple(month.capitalize() for month in MONTHS)
_MONTH = {short.lower(): name.lower() for name in _MONTHS for short in (name, name[:3])} | {
    "sept": "september"
}
_OTHER_WORDS = frozenset(("may", "march", "mar", "jan", "sep", "dec"))
"""Short names and months that are also other words or names."""
_NAMED_MONTH = rf"(?P<month>{'|'.join((*_MONTHS, *(name[:3] for name in _MONTHS), 'Sept'))})\b\.?"
_MONTH_FIRST = re.compile(
    rf"\b{_NAMED_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?![.:]\d)", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_NAMED_MONTH}", re.IGNORECASE
)
_ISO_DATE = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?(?!\w)")
_FRACTION = re.compile(r"(\d?)([½¼¾])")
_GROUPED = re.compile(r"(?<=\d)['\u00a0\u202f](?=\d{3}\b)")
_POWER = re.compile(r"(?<=\d)(?=[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹])")
"""Between a number and its power, which compatibility forms would make one number: 10⁵ is not 105."""
_SPELLINGS = (
    (re.compile(r"[’‘]"), "'"),
    (re.compile(r"\bcan(?:not|'t)\b|\bwon't\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bno longer\b", re.IGNORECASE), "not"),
    (re.compile(r"\b(?:US|U\.S\.|A|C)(?=\$)"), ""),
    (re.compile(r"\b(?:USA?|U\.S\.(?:A\.)?)(?![\w$])"), "United States"),
    (re.compile(r"\b(?:UK|U\.K\.)(?!\w)"), "United Kingdom"),
    (re.compile(r"\bsq\b\.?", re.IGNORECASE), "square"),
    (re.compile(r"\bsquare mi\b"), "square miles"),
    (re.compile(r"\bpercentage points?\b"), "pp"),
    (re.compile(r"±"), " to "),
    (re.compile(r"(?<=[$€£¥₹]) (?=\d)"), ""),
    (re.compile(r"[~≈](?=\s?\d)"), "about "),
    (re.compile(r"\btwice\b", re.IGNORECASE), "two times"),
    (re.compile(r"\bminus (?=\d)", re.IGNORECASE), "-"),
)
_PARTS = {
    "half": 2,
    "third": 3,
    "quarter": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
}
_PART = re.compile(
    rf"\b(?:(?P<count>one|two|three|four|five|six|seven|eight|nine)[ -](?P<parts>{'|'.join(list(_PARTS)[1:])})s?"
    rf"|an? (?P<part>{'|'.join(list(_PARTS)[1:])})(?= of )|half(?= of )"
    r"|(?P<some>one|two|three|four|five|six|seven|eight|nine|\d) (?:in|out of)(?: every)? "
    r"(?P<all>two|three|four|five|six|seven|eight|nine|ten|10|[2-9]))\b(?!-)",
    re.IGNORECASE,
)
"""A share in words: "two thirds", "a fifth of", "one in five"."""


def _percentage(share: re.Match[str]) -> str:
    """A share in words as a percentage: 66.67 for "two thirds"."""
    count = (share["count"] or share["some"] or "one").lower()
    whole = (share["parts"] or share["part"] or share["all"] or "half").lower()
    parts = _PARTS.get(whole) or _SMALL.get(whole) or int(whole)
    return (
        f"{100 * (_SMALL.get(count) or int(count)) / parts:.2f}".rstrip("0").rstrip(".")
        + " percent"
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
        kind: a number, a name (a capital inside the sentence, or a point of the compass), or any other word.
        unit: of a number; `the month`, `the day` and `the year` of the parts of a date.
        bound: `over` or `under`, where these or words like them stand before a number.
        before: the function words and marks between it and the word before.
        raw: as it is written; a number with its unit.
    """

    text: str
    kind: Kind
    unit: str = ""
    bound: str = ""
    before: frozenset[str] = frozenset()
    raw: str = ""

    @property
    def is_fact(self) -> bool:
        """Whether it is a number or a name."""
        return self.kind != "word"

    @property
    def value(self) -> float | None:
        """The number; None of a word, a month, a version such as 1.2.3."""
        try:
            return float(self.text) if self.kind == "number" else None
        except ValueError:
            return None

    def is_equal(self, other: Word) -> bool:
        """Whether both are the same number, whatever they count."""
        return self.kind == other.kind == "number" and self.text == other.text

    @property
    def is_denied(self) -> bool:
        """Whether a denial stands directly before it."""
        return not _DENIALS.isdisjoint(self.before)


_SIGN_BEFORE = re.compile(r"([-$€£¥₹]) (?=\d)")


@lru_cache(maxsize=2048)
def read(sentence: str) -> tuple[Word, ...]:
    """The content words of a sentence, of which the first MOST_CHARS are read."""
    pieces = [
        (match.lastgroup or "", match[0].strip())
        for match in _TOKEN.finditer(spelled(sentence[:MOST_CHARS]))
    ]
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
            value, unit, end = counted
            raw = _SIGN_BEFORE.sub(r"\1", " ".join(piece for _, piece in pieces[at:end]))
            found.append(Word(value, "number", unit, _bound(before, unit), frozenset(before), raw))
            at = end
            before, first = [], False
            continue
        folded, is_acronym = fold(piece).rstrip("."), piece.isupper() and len(piece) > 1
        at += 1
        if kind == "word" and folded in _FUNCTION and not is_acronym and (piece != "May" or first):
            before.append(folded)
        else:
            found += _word(piece, frozenset(before), first)
            before = []
        first = False
    return tuple(_with_units(found))


def _word(piece: str, before: frozenset[str], first: bool) -> Iterator[Word]:
    bare = re.sub(r"'s?$", "", piece)
    if point := _DIRECTIONS.get(bare.lower()):
        yield Word(point, "name", "", "", before, bare)
        return
    is_name = not first and any(letter.isupper() for letter in piece)
    for text in stems(words(bare)) if bare[-1:] not in "+#" else [fold(bare)]:
        yield Word(text, "name" if is_name else "word", "", "", before, bare)
        before = frozenset()


_OWN_UNITS = frozenset(("nth", "the month", "the year"))
"""Units that a number does not share with the one before it."""


def _with_units(found: list[Word]) -> list[Word]:
    """The words, where "687 and 760 nm" have one unit, and years and days of a month are known as such."""
    for place in range(len(found) - 1, -1, -1):
        word = found[place]
        if word.kind != "number" or word.unit:
            continue
        after = found[place + 1] if place + 1 < len(found) else None
        is_joined = after is not None and not after.before.isdisjoint(("and", "or", "to"))
        if is_year(word.text):
            found[place] = replace(word, unit="the year")
        elif after is not None and after.unit == "the month" and not after.before:
            found[place] = replace(word, unit="the day")
        elif (
            after is not None
            and after.kind == "number"
            and is_joined
            and after.unit not in ("the month", "nth", "the year")
        ):
            found[place] = replace(word, unit=after.unit)
    return found


_SPANS = word_set("year month week day hour minute seconds decade century")


def _bound(before: Sequence[str], unit: str) -> str:
    """Whether a number is a lower or an upper bound; "within five years" and "after five years" are opposites."""
    is_span = unit in _SPANS
    if not _OVER.isdisjoint(before) or (is_span and "after" in before):
        return "over"
    return "under" if not _UNDER.isdisjoint(before) or (is_span and "within" in before) else ""


def spelled(text: str) -> str:
    """`text` with one spelling of dates, fractions, digits, apostrophes and contractions."""
    text = _FRACTION.sub(
        lambda match: str(int(match[1] or 0) + unicodedata.numeric(match[2])), text
    )
    text = _POWER.sub("^", text)
    text = unicodedata.normalize("NFKC", _GROUPED.sub("", text))
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(one, one)) for one in text)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    text = _PART.sub(_percentage, text)
    text = _ISO_DATE.sub(lambda date: f"{int(date[3])} {_MONTHS[int(date[2]) - 1]} {date[1]}", text)
    return _DAY_FIRST.sub(_date, _MONTH_FIRST.sub(_date, text))


def _date(match: re.Match[str]) -> str:
    return f"{int(match['day'])} {_MONTH[match['month'].lower()].capitalize()}"


def _number(pieces: list[tuple[str, str]], at: int, first: bool) -> tuple[str, str, int] | None:
    """The number or month at this place, its unit, and the place behind it."""
    kind, piece = pieces[at]
    folded = fold(piece).rstrip(".")
    if (
        kind == "word"
        and folded in _MONTH
        and (folded not in _OTHER_WORDS or (piece[0].isupper() and not first))
    ):
        return _MONTH[folded], "the month", at + 1
    beside = {other for other, _ in pieces[max(0, at - 2) : at + 3]}
    if kind in ("word", "wide") and "number" in beside and (month := month_named(piece)):
        return _MONTHS[month - 1].lower(), "the month", at + 1
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


def same_number(word: Word, other: Word) -> bool:
    """Whether two numbers are equal, have one unit, and are not bounds of opposite sides."""
    is_equal = word.is_equal(other) and (word.unit == other.unit or not (word.unit and other.unit))
    return is_equal and {word.bound, other.bound} != {"over", "under"}


def is_same_name(word: Word, other: Word) -> bool:
    """Whether two words are one name: "Canadian" is that of Canada."""
    if word.text == other.text:
        return True
    short, long = sorted((word.text, other.text), key=len)
    root = _OF_A_PLACE.sub("", long)
    return len(root) >= 3 and short.startswith(root) and len(long) <= len(root) + 4


_OF_A_PLACE = re.compile(r"(?:ese|ish|ians?|ans?|ern|ns?|i)$")
