"""Dates as vendors write them, in their languages, limits of freshness, and durations in words."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Literal

Bucket = Literal["day", "week", "month", "year"]

_BUCKETS: tuple[tuple[int, Bucket], ...] = (
    (24, "day"),
    (168, "week"),
    (720, "month"),
    (8760, "year"),
)
_LONGEST_SPOKEN_DATE = 40
"""Characters; "Wednesday the twenty-third of September 2026" is about as long as a date is spoken."""
_RFC_5322 = re.compile(r"(?:[A-Za-z]{3}, *)?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)? *[A-Z+-]")
_SPOKEN = re.compile(r"\d{1,2}:\d\d(?::\d\d)?|\d+|[^\W\d_]+")
_MOST_UNITS = 100_000
"""In "N days ago": a larger number is before any calendar, and overflows it."""

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
_RECENT_DAYS = (
    "today heute aujourd hoy oggi hoje vandaag",
    "yesterday gestern hier ayer ieri ontem gisteren",
)
_AGO = frozenset(["ago", "vor", "hace", "fa", "ha", "atras", "geleden"])
_ONE = frozenset(
    [
        "a",
        "an",
        "one",
        "ein",
        "eine",
        "einem",
        "einer",
        "un",
        "une",
        "una",
        "uno",
        "um",
        "uma",
        "een",
    ]
)


def _folded(text: str) -> str:
    """`text` in lower case, without accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in apart if not unicodedata.combining(character))


def _numbers_of_months() -> dict[str, int]:
    """The number of the month that each word names, folded."""
    numbers = {}
    for number, names in enumerate(_MONTHS, start=1):
        numbers.update(dict.fromkeys(map(_folded, names.split()), number))
    for names_of_year in _MORE_MONTHS.splitlines():
        for number, name in enumerate(names_of_year.split(), start=1):
            numbers[_folded(name)] = number
    return numbers


_MONTH_OF = _numbers_of_months()
_UNIT_OF = {_folded(word): unit for unit, words in _UNITS.items() for word in words.split()}
_DAYS_SINCE = {word: days for days, words in enumerate(_RECENT_DAYS) for word in words.split()}


MONTHS = tuple(words.split()[0] for words in _MONTHS)
"""The English names, in lower case."""


def month_named(word: str) -> int | None:
    """The number of the month that a word of any known language names; not short ones such as "out" and "set"."""
    folded = _folded(word)
    is_distinct = len(folded) > 3 or folded == "mai" or not folded.isascii()
    return _MONTH_OF.get(folded) if is_distinct else None


def utc_now() -> datetime:
    """The current time, with its zone."""
    return datetime.now(UTC)


def bucket(hours: int | None) -> Bucket | None:
    """The shortest period of at least so many hours; None without a limit, or for more than a year."""
    if hours is None:
        return None
    for most_hours, name in _BUCKETS:
        if hours <= most_hours:
            return name
    return None


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
    standard = iso_date(text)
    if standard or not isinstance(text, str):
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
    is_french_ago = ["il", "y", "a"] in (words[at : at + 3] for at in range(len(words)))
    if not is_french_ago and _AGO.isdisjoint(words):
        return None
    counts = {}
    for number, word in pairwise(words):
        unit = _UNIT_OF.get(word)
        if unit is None:
            continue
        if number in _ONE:
            counts[unit] = 1
        elif number.isascii() and number.isdigit():
            counts[unit] = min(int(number), _MOST_UNITS)
    if not counts:
        return None
    months = counts.pop("months", 0) + 12 * counts.pop("years", 0)
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    day = min(now.day, monthrange(year, month + 1)[1])  # or the last day of that month
    moment = now.replace(year=year, month=month + 1, day=day)
    moment -= timedelta(**{unit: float(count) for unit, count in counts.items()})
    has_time = not counts.keys().isdisjoint(("seconds", "minutes", "hours"))
    return _in_utc(moment) if has_time else moment.date().isoformat()


def _named(words: Sequence[str], today: date) -> str | None:
    """The date of "May 10, 2026", "10. Mai", "Mai 2026" and "May 10, 2026 6:30 pm"."""
    months = [_MONTH_OF[word] for word in words if word in _MONTH_OF]
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    years = [number for number in numbers if 1000 <= number <= 9999]
    days = [number for number in numbers if 1 <= number <= 31]
    is_clear = len(months) == 1 and len(years) <= 1 and len(days) <= 1
    are_all_known = len(numbers) == len(years) + len(days)
    if not is_clear or not are_all_known or not numbers:
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
    fitting = [row for row in _DURATIONS_UNITS if seconds >= row[0]]
    length, unit = fitting[0] if fitting else _DURATIONS_UNITS[-1]
    number = int(seconds // length)
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"
