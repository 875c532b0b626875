"""Numerals, ordinals, units and currencies in one spelling ("$1.5 million", "1500000 dollars" -> 1500000usd), and dates
as vendors write them, limits of freshness and durations in words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Literal

_SMALL: Mapping[str, int] = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_LARGE: Mapping[str, int] = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS: Mapping[str, str] = {
    "first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th",
    "seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th", "eleventh": "11th", "twelfth": "12th",
    "thirteenth": "13th", "fourteenth": "14th", "fifteenth": "15th", "sixteenth": "16th", "seventeenth": "17th",
    "eighteenth": "18th", "nineteenth": "19th", "twentieth": "20th", "thirtieth": "30th", "fortieth": "40th",
    "fiftieth": "50th", "sixtieth": "60th", "seventieth": "70th", "eightieth": "80th", "ninetieth": "90th",
    "hundredth": "100th",
}  # fmt: skip
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
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)*)([a-z°²³/]*)")
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_GROUPED_BY_POINTS = re.compile(r"-?\d{1,3}(?:\.\d{3}){2,}|-?\d{1,3}(?:\.\d{3})+,\d+")
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
    word = words[start] if start < len(words) else ""
    if word == "one" and not _LARGE.keys() & set(words[start + 1 : start + 2]):
        return None
    if ordinal := (None if word == "second" else _ORDINALS.get(word)) or _compound_ordinal(words, start):
        return ordinal[:-2], "nth", start + 1 + (word in _SMALL)
    if word in _ROMAN:
        return _ROMAN[word], "", start + 1
    written, suffix = found.groups() if (found := _NUMBER.fullmatch(word)) else ("", "")
    if suffix and suffix not in _SHORT_LARGE:
        if suffix in ("st", "nd", "rd", "th"):
            return _plain(written), "nth", start + 1
        unit = None if suffix == "s" else unit_named(suffix)  # "1960s"
        return (_plain(written), unit, start + 1) if unit else (word, sign, start + 1)
    rest = [_SHORT_LARGE.get(one, one) for one in (suffix, *words[start + 1 : start + _LONGEST_NUMBER]) if one]
    number, used = _number([_plain(written) or word, *rest])
    if number is None:
        return None
    after = start + used - bool(suffix)
    behind = unit_named(words[after]) if after < len(words) and not sign else None
    unit = sign or behind or ""
    if unit in _CURRENCIES and re.fullmatch(r"\d{1,3}\.\d{3}", number):
        number = number.replace(".", "")  # no price has three decimals
    return number, unit, after + bool(behind)


def numerals(words: Sequence[str]) -> list[str]:
    """`words` with every number in digits and joined to its unit."""
    found: list[str] = []
    position = 0
    while position < len(words):
        if counted := quantity(words, position):
            number, unit, position = counted
            found.append(_as_ordinal(number) if unit == "nth" else number + unit)
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


def _as_ordinal(number: str) -> str:
    endings = {"1": "st", "2": "nd", "3": "rd"}
    return number + ("th" if number[-2:-1] == "1" else endings.get(number[-1:], "th"))


def _compound_ordinal(words: Sequence[str], position: int) -> str | None:
    """ "twenty first" -> 21st. "twenty second" may be a time, so it needs a counted noun after it."""
    first, second = [*words[position : position + 2], "", ""][:2]
    ten, one = _SMALL.get(first, 0), _ORDINALS.get(second, "")
    if not 20 <= ten <= 90 or len(one) != 3:
        return None
    if one == "2nd" and _COUNTED_NOUNS.isdisjoint(words[position + 2 : position + 4]):
        return None
    return f"{ten // 10}{one}"


def _number(words: Sequence[str]) -> tuple[str | None, int]:
    """The number at the start, in digits, and how many words it has."""
    word = words[0]
    if _NUMBER.fullmatch(word):
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
    if _GROUPED.fullmatch(number):
        return number.replace(",", "")
    if _GROUPED_BY_POINTS.fullmatch(number):
        return number.replace(".", "").replace(",", ".")
    return number.replace(",", ".") if _COMMA.fullmatch(number) else number


Bucket = Literal["day", "week", "month", "year"]

_BUCKETS: tuple[tuple[int, Bucket], ...] = ((24, "day"), (168, "week"), (720, "month"), (8760, "year"))
_LONGEST_SPOKEN_DATE = 40
_RFC_5322 = re.compile(r"(?:[A-Za-z]{3}, *)?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)? *[A-Z+-]")
_SPOKEN = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|\d+|[^\W\d_]+")
_MOST_UNITS = 100_000

# Vendors write dates in the language of the query: English, German, French, Spanish, Italian, Portuguese, Dutch.
_MONTHS = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari",
    "february feb februar février févr fév febrero febbraio fevereiro fev februari",
    "march mar märz mär mars marzo março maart mrt",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio mei",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août agosto ago augustus",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
)
# Romanian, Turkish, Russian (two cases), Greek, Arabic, Thai.
_MORE_MONTHS = """\
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม"""
_UNITS = {
    "seconds": "second seconds sec secs s sekunde sekunden seconde secondes segundo segundos secondo secondi seconden",
    "minutes": "minute minutes min mins m minuten minuto minutos minuti minuut",
    "hours": "hour hours hr hrs h std stunde stunden heure heures hora horas ora ore uur uren",
    "days": "day days d tag tage tagen jour jours día días dia dias giorno giorni dag dagen",
    "weeks": "week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane weken",
    "months": "month months mo monat monate monaten mois mes meses mese mesi mês maand maanden",
    "years": "year years yr yrs jahr jahre jahren an ans année années año años anno anni ano anos jaar jaren",
}
_RECENT_DAYS = ("today heute aujourd hoy oggi hoje vandaag", "yesterday gestern hier ayer ieri ontem gisteren")
_AGO = frozenset(["ago", "vor", "hace", "fa", "ha", "atras", "geleden"])
_ONE = frozenset(["a", "an", "one", "ein", "eine", "einem", "einer", "un", "une", "una", "uno", "um", "uma", "een"])


def _folded(text: str) -> str:
    """`text` in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


_MONTH_OF = {_folded(word): number for number, words in enumerate(_MONTHS, 1) for word in words.split()} | {
    _folded(word): number for line in _MORE_MONTHS.splitlines() for number, word in enumerate(line.split(), 1)
}
_UNIT_OF = {_folded(word): unit for unit, words in _UNITS.items() for word in words.split()}
_DAYS_SINCE = {word: days for days, words in enumerate(_RECENT_DAYS) for word in words.split()}


def month_named(word: str) -> int | None:
    """The number of the month that a word of any known language names; not short ones such as "out" and "set"."""
    folded = _folded(word)
    return _MONTH_OF.get(folded) if len(folded) > 3 or folded == "mai" or not folded.isascii() else None


def utc_now() -> datetime:
    """The current time, with its zone."""
    return datetime.now(UTC)


def bucket(hours: int | None) -> Bucket | None:
    """The shortest period of at least so many hours; None without a limit, or for more than a year."""
    return next((name for most, name in _BUCKETS if hours <= most), None) if hours is not None else None


def iso_date(text: object) -> str | None:
    """An ISO 8601 or RFC 5322 date as `YYYY-MM-DD`, or with its time as `YYYY-MM-DDTHH:MM:SS+00:00`.

    A time without a zone is taken as UTC. None for anything else.
    """
    if not isinstance(text, str):
        return None
    try:
        return date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        pass
    # The reader of RFC 5322 takes half past six in the evening for the morning, where it is written with "PM".
    read = parsedate_to_datetime if _RFC_5322.match(text.strip()) else datetime.fromisoformat
    try:
        return _in_utc(read(text.strip()))
    except (ValueError, OverflowError):
        return None


def spoken_date(text: object, now: datetime) -> str | None:
    """As `iso_date`, and dates in words: "May 10, 2026", "vor 2 Stunden", "3 weeks ago".

    Only the date, unless the words give a time of day or count hours or minutes. Bare numbers are not a date: whether
    10/05 is in May depends on the country.
    """
    if (standard := iso_date(text)) or not isinstance(text, str):
        return standard
    if not 3 <= len(text) <= _LONGEST_SPOKEN_DATE:
        return None
    words = _SPOKEN.findall(_folded(text))
    today = now.astimezone(UTC)
    try:
        return _since(words, today) or _named(words, today.date())
    except (ValueError, OverflowError):  # no such day
        return None


def _since(words: Sequence[str], now: datetime) -> str | None:
    """The date of "3 weeks ago" and "yesterday"."""
    for word in words:
        if word in _DAYS_SINCE:
            return (now.date() - timedelta(_DAYS_SINCE[word])).isoformat()
    marked = [word in _AGO or words[place : place + 3] == ["il", "y", "a"] for place, word in enumerate(words)]
    if not any(marked):
        return None
    counts = {}
    for number, word in pairwise(words):
        unit = _UNIT_OF.get(word)
        if unit and (number in _ONE or (number.isascii() and number.isdigit())):
            counts[unit] = 1 if number in _ONE else min(int(number), _MOST_UNITS)
    if not counts:
        return None
    months = counts.pop("months", 0) + 12 * counts.pop("years", 0)
    moment = _months_before(now, months) - timedelta(**{unit: float(count) for unit, count in counts.items()})
    return _in_utc(moment) if counts.keys() & {"seconds", "minutes", "hours"} else moment.date().isoformat()


def _months_before(moment: datetime, months: int) -> datetime:
    """The same day that many months before, or the last day of that month."""
    years, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    for day in range(moment.day, 27, -1):
        try:
            return moment.replace(year=years, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=years, month=month + 1)


def _named(words: Sequence[str], today: date) -> str | None:
    """The date of "May 10, 2026", "10. Mai", "Mai 2026" and "May 10, 2026 6:30 pm"."""
    months = [_MONTH_OF[word] for word in words if word in _MONTH_OF]
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    years = [number for number in numbers if 1000 <= number <= 9999]
    days = [number for number in numbers if 1 <= number <= 31]
    if len(months) != 1 or len(years) > 1 or len(days) > 1 or len(numbers) != len(years) + len(days) or not numbers:
        return None
    day = date(years[0] if years else today.year, months[0], days[0] if days else 1)
    if not years and day > today:
        day = day.replace(year=day.year - 1)
    times = [word for word in words if ":" in word]
    if not times or not days:
        return day.isoformat()
    hour, minute, second = (*map(int, times[0].split(":")), 0)[:3]
    if "pm" in words or "am" in words:
        hour = hour % 12 + 12 * ("pm" in words)
    return _in_utc(datetime(day.year, day.month, day.day, hour, minute, second, tzinfo=UTC))


def _in_utc(moment: datetime) -> str:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat(timespec="seconds")


_DURATIONS_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def in_words(seconds: float) -> str:
    """A duration in its largest unit, rounded down: `3 hours`, `1 minute`, `0 seconds`."""
    length, unit = next(
        ((length, unit) for length, unit in _DURATIONS_UNITS if seconds >= length), _DURATIONS_UNITS[-1]
    )
    number = int(seconds // length)
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
