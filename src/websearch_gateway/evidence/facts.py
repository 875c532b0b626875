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
from typing import Literal, NamedTuple

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
        f"{ten} {ordinal}": str(number + digit)
        for ten, number in {"twenty": 20, **_TENS}.items()
        for digit, ordinal in enumerate(_FIRST.split()[:9], start=1)
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


def is_year(word: str) -> bool:
    """Whether a number is written like a year."""
    return len(word) == 4 and word.isdigit() and "1000" <= word < "2200"


def is_rounding(number: str, exact: str) -> bool:
    """Whether one number is the other with fewer digits: 2.1 million for 2,102,650. Below 1,000 each is exact."""
    try:
        values = [float(number), float(exact)]
    except ValueError:
        return False
    rounded, exact_value = sorted(values, key=lambda value: len(f"{value:g}".strip("0")))
    digits = len(re.sub(r"\D", "", f"{rounded:.15g}").strip("0"))
    is_near = digits > 1 or abs(exact_value - rounded) <= abs(exact_value) / 20
    is_same_digits = float(f"{exact_value:.{digits}g}") == rounded
    return abs(rounded) >= 1_000 and is_near and is_same_digits


class Quantity(NamedTuple):
    """A number in digits, its unit (empty without one), and the position after both.

    An ordinal has the unit `nth`, a month `the month`.
    """

    number: str
    unit: str
    end: int


def quantity(words: Sequence[str], position: int) -> Quantity | None:
    """The number that begins at `position`; None if there is none.

    `words` are folded, with currency signs and `%` as words. "one" and "second" are no numbers, except in "one million"
    and "twenty second".
    """
    currency = _SIGNS.get(words[position], "")
    start = position + bool(currency)
    word, after = [*words[start : start + 2], "", ""][:2]
    if word == "one" and after not in _LARGE:
        return None
    if ordinal := _ordinal(words, start):
        return ordinal
    if word in _ROMAN:
        return Quantity(_ROMAN[word], "", start + 1)
    digits = _DIGITS.fullmatch(word)
    written, suffix = digits.groups() if digits else ("", "")
    if suffix and suffix not in _SHORT_LARGE:
        unit = _unit_of_suffix(suffix)
        if unit is None:
            return Quantity(word, currency, start + 1)
        return Quantity(_plain(written), unit, start + 1)
    behind = (suffix, *words[start + 1 :])
    further = [_SHORT_LARGE.get(part, part) for part in behind if part]
    number, used = _in_words([_plain(written) or word, *further])
    if number is None:
        return None
    end = start + used - bool(suffix)
    unit = currency
    if not currency and end < len(words):
        unit = unit_named(words[end]) or ""
        end += bool(unit)
    if unit in _CURRENCIES and re.fullmatch(r"\d{1,3}\.\d{3}", number):
        number = number.replace(".", "")  # no price has three decimals
    return Quantity(number, unit, end)


def _ordinal(words: Sequence[str], start: int) -> Quantity | None:
    """The ordinal in words that begins here. "Twenty second" may be a time, so it needs a counted noun behind it."""
    word, after = [*words[start : start + 2], "", ""][:2]
    if word != "second" and word in _ORDINALS:
        return Quantity(_ORDINALS[word], "nth", start + 1)
    pair = f"{word} {after}"
    is_counting = not _COUNTED_NOUNS.isdisjoint(words[start + 2 : start + 4])
    if pair in _ORDINALS and (after != "second" or is_counting):
        return Quantity(_ORDINALS[pair], "nth", start + 2)
    return None


def _unit_of_suffix(suffix: str) -> str | None:
    """The unit that letters behind digits name."""
    if suffix in ("st", "nd", "rd", "th"):
        return "nth"
    return None if suffix == "s" else unit_named(suffix)  # "1960s"


def numerals(words: Sequence[str]) -> list[str]:
    """`words` with every number in digits and joined to its unit."""
    written: list[str] = []
    position = 0
    while position < len(words):
        if counted := quantity(words, position):
            number, unit, position = counted
            written.append(number + (_ending(number) if unit == "nth" else unit))
            continue
        word = words[position]
        is_time = bool(written) and written[-1] in ("per", "a", "each", "every")
        if word == "second" and is_time:
            word = "seconds"
        written.append({"one": "1", "second": "2nd"}.get(word, word))
        position += 1
    return written


def _ending(number: str) -> str:
    """The letters that make an ordinal of a number: 1st, 11th."""
    is_teen = number[-2:-1] == "1"
    return "th" if is_teen else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1:], "th")


def unit_named(word: str) -> str | None:
    """The unit that a word behind a number names."""
    # In "5 in 10", "in" is far more often a preposition than inches.
    return UNITS.get(word) or (None if word == "in" else _AFTER_A_NUMBER.get(word))


def _in_words(words: Sequence[str]) -> tuple[str | None, int]:
    """The number at the start, in digits, and how many words it has."""
    first = words[0]
    if _DIGITS.fullmatch(first):
        large = _LARGE.get(words[1]) if len(words) > 1 else None
        # A version or a date, such as 1.2.3, is not an amount.
        if large and re.fullmatch(r"-?\d+(?:\.\d+)?", first):
            return _without_zeros(f"{float(first) * large:.6f}"), 2
        return first, 1
    if first not in _SMALL:
        return None, 0
    total, current, used = 0, 0, 0
    for word in words:
        small, large = _SMALL.get(word), _LARGE.get(word)
        follows_hundred = current % 100 == 0
        follows_ten = current % 10 == 0
        if small is not None and (follows_hundred or (follows_ten and small < 10)):
            current += small
        elif large is not None and current:
            current *= large
            if large > 100:
                total, current = total + current, 0
        else:
            break
        used += 1
    return str(total + current), used


def _without_zeros(number: str) -> str:
    """A number without zeros at the end of its fraction."""
    return number.rstrip("0").rstrip(".")


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

_OVER = word_set("over more above exceeding least longer")
_UNDER = word_set("under less below fewer most hardly")
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
    percent = 100 * (_SMALL.get(count) or int(count)) / parts
    return f"{_without_zeros(f'{percent:.2f}')} percent"


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


LONGEST_REMEMBERED = 500
"""Characters of a sentence whose words are remembered: nearly all are shorter. Those of a dense text take up to 0.8 MB."""


def read(sentence: str) -> tuple[Word, ...]:
    """The content words of a sentence, of which the first MOST_CHARS are read."""
    if len(sentence) > LONGEST_REMEMBERED:
        return _words_of(sentence)
    return _remembered_words(sentence)


@lru_cache(maxsize=64)  # the next claim has the same passages
def _remembered_words(sentence: str) -> tuple[Word, ...]:
    return _words_of(sentence)


def _words_of(sentence: str) -> tuple[Word, ...]:
    matches = _TOKEN.finditer(spelled(sentence[:MOST_CHARS]))
    pieces = [_Piece(match.lastgroup or "", match[0].strip()) for match in matches]
    content: list[Word] = []
    before: list[str] = []
    at = 0
    is_first = True
    while at < len(pieces):
        piece = pieces[at]
        if piece.kind == "edge":
            before.append(piece.text)
            is_first = is_first or piece.text in ".!?"
            at += 1
            continue
        counted = _number(pieces, at, is_first)
        if counted:
            content.append(_number_word(counted, pieces[at : counted.end], before))
            before = []
        elif _is_function_word(piece, is_first):
            before.append(piece.folded)
        else:
            content += _word(piece.text, frozenset(before), is_first)
            before = []
        at = counted.end if counted else at + 1
        is_first = False
    return tuple(_with_units(content))


class _Piece(NamedTuple):
    """A piece of a sentence: a `number`, a `word`, a `wide` run of a script without spaces, or an `edge` between."""

    kind: str
    text: str

    @property
    def folded(self) -> str:
        return fold(self.text).rstrip(".")


def _number_word(counted: Quantity, pieces: Sequence[_Piece], before: Sequence[str]) -> Word:
    written = " ".join(piece.text for piece in pieces)
    return Word(
        counted.number,
        "number",
        counted.unit,
        bound=_bound(before, counted.unit),
        before=frozenset(before),
        raw=_SIGN_BEFORE.sub(r"\1", written),
    )


def _is_function_word(piece: _Piece, is_first: bool) -> bool:
    """Whether a piece only links others. "IT" is a name, and so is "May" inside of a sentence."""
    if piece.kind != "word" or piece.folded not in _FUNCTION:
        return False
    is_acronym = piece.text.isupper() and len(piece.text) > 1
    is_month = piece.text == "May" and not is_first
    return not is_acronym and not is_month


def _word(text: str, before: frozenset[str], is_first: bool) -> Iterator[Word]:
    bare = re.sub(r"'s?$", "", text)
    point = _DIRECTIONS.get(bare.lower())
    if point:
        yield Word(point, "name", before=before, raw=bare)
        return
    is_name = not is_first and any(letter.isupper() for letter in text)
    is_language = bare[-1:] in "+#"  # C++ and C#
    for stem in [fold(bare)] if is_language else stems(words(bare)):
        yield Word(stem, "name" if is_name else "word", before=before, raw=bare)
        before = frozenset()


_OWN_UNITS = frozenset(("nth", "the month", "the year"))
"""Units that a number does not share with the one before it."""


def _with_units(content: list[Word]) -> list[Word]:
    """The words, where "687 and 760 nm" have one unit, and years and days of a month are known as such."""
    after: Word | None = None
    for place in reversed(range(len(content))):
        word = content[place]
        if word.kind == "number" and not word.unit:
            word = content[place] = replace(word, unit=_unit_by_place(word, after))
        after = word
    return content


def _unit_by_place(number: Word, after: Word | None) -> str:
    """The unit of a number without one: of a year, a day of a month, or that of the number joined to it."""
    if is_year(number.text):
        return "the year"
    if after is None:
        return ""
    if after.unit == "the month" and not after.before:
        return "the day"
    is_joined = not after.before.isdisjoint(("and", "or", "to"))
    is_shared = after.kind == "number" and after.unit not in _OWN_UNITS
    return after.unit if is_joined and is_shared else ""


_SPANS = word_set("year month week day hour minute seconds decade century")


def _bound(before: Sequence[str], unit: str) -> str:
    """Whether a number is a lower or an upper bound; "within five years" and "after five years" are opposites."""
    is_span = unit in _SPANS
    if not _OVER.isdisjoint(before) or (is_span and "after" in before):
        return "over"
    if not _UNDER.isdisjoint(before) or (is_span and "within" in before):
        return "under"
    return ""


def spelled(text: str) -> str:
    """`text` with one spelling of dates, fractions, digits, apostrophes and contractions."""
    text = _FRACTION.sub(_decimal, text)
    text = _POWER.sub("^", text)
    text = unicodedata.normalize("NFKC", _GROUPED.sub("", text))
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(character, character)) for character in text)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    text = _PART.sub(_percentage, text)
    text = _ISO_DATE.sub(_date_in_words, text)
    text = _MONTH_FIRST.sub(_day_and_month, text)
    return _DAY_FIRST.sub(_day_and_month, text)


def _decimal(fraction: re.Match[str]) -> str:
    whole, part = fraction.groups()
    return str(int(whole or 0) + unicodedata.numeric(part))


def _date_in_words(iso_date: re.Match[str]) -> str:
    year, month, day = iso_date.groups()
    return f"{int(day)} {_MONTHS[int(month) - 1]} {year}"


def _day_and_month(date: re.Match[str]) -> str:
    month = _MONTH[date["month"].lower()]
    return f"{int(date['day'])} {month.capitalize()}"


_AROUND_MONTH = 2
"""How many pieces from a month's name a number stands, in languages whose months are other words too."""


def _number(pieces: Sequence[_Piece], at: int, is_first: bool) -> Quantity | None:
    """The number or month at this place, and the place behind it."""
    piece = pieces[at]
    if month := _month(pieces, at, is_first):
        return Quantity(month, "the month", at + 1)
    is_letter = piece.text.isupper() and len(piece.text) == 1
    if piece.kind not in ("number", "word") or is_letter:
        return None
    run = [part.folded.replace(" ", "") for part in pieces[at : at + 10]]
    minus = run[0] in ("-", "\u2212") and len(run) > 1
    if minus:
        run = [f"-{run[1]}", *run[2:]]
    if run[0][1:2].isdigit():
        run[0] = run[0].removeprefix("v")
    counted = quantity(run, 0)
    if counted is None:
        is_written = run[0][:1].isdigit()  # 04:12
        return Quantity(run[0], "", at + 1 + minus) if is_written else None
    number, unit, used = counted
    end = at + used + minus
    behind, further = [*run[used : used + 2], "", ""][:2]
    if behind in ("square", "cubic") and further in UNITS:
        return Quantity(number, f"{behind} {UNITS[further]}", end + 2)
    if not unit and _SHORT_UNIT.fullmatch(behind) and behind not in _FUNCTION:
        return Quantity(number, behind, end + 1)
    return Quantity(number, unit, end)


def _month(pieces: Sequence[_Piece], at: int, is_first: bool) -> str | None:
    """The English name of the month that a piece names."""
    piece = pieces[at]
    if piece.kind == "word" and piece.folded in _MONTH:
        is_capital = piece.text[0].isupper() and not is_first
        if is_capital or piece.folded not in _OTHER_WORDS:
            return _MONTH[piece.folded]
    around = pieces[max(0, at - _AROUND_MONTH) : at + _AROUND_MONTH + 1]
    has_number = any(near.kind == "number" for near in around)
    if piece.kind not in ("word", "wide") or not has_number:
        return None
    month = month_named(piece.text)
    return _MONTHS[month - 1].lower() if month else None


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
