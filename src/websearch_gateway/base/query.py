"""Normalises a query without changing its meaning, and reads names and codes of countries and languages.

Plain NFKC is too much for a search query: it makes `10²` into `102`, `½` into `1⁄2` and `ℌ` into `H`. So the text is
composed (NFC), and only typographic variants are folded: full, half and small width, vertical forms, Latin ligatures
and Arabic letter shapes. White space is collapsed and invisible characters are removed.

The codes of countries (ISO 3166-1) and languages (ISO 639-1) are those assigned in November 2026. They are listed here
because every query is checked against them, and Babel would need 6 MB and 0.1 s for that. A test compares them with
Babel's, which is loaded only for an English name.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping

from websearch_gateway.errors import SearchValidationError
from websearch_gateway.models import LONGEST_QUERY, SHORTEST_QUESTION

LONGEST_RAW_QUERY = 10_000  # the most characters; a longer text is rejected before normalisation

_FOLDED_TAGS = frozenset(
    {
        "<wide>",
        "<narrow>",
        "<small>",
        "<vertical>",
        "<initial>",
        "<medial>",
        "<final>",
        "<isolated>",
    }
)
_LATIN_LIGATURES = frozenset("\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06")
_TYPOGRAPHIC_FORMS = range(0xFB00, 0xFFF0)

_WRITES_WORDS = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Kana, ideographs and Hangul syllables."""

_WHITE_SPACE = re.compile(
    r"[\t\n\v\f\r\x85\u2028\u2029 \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+"
)

# White space is already collapsed here.
_FORBIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    + "".join(
        f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17)
    )
    + "]"
)

# Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt and the interlinear annotation marks, less the two
# joiners. Includes variation selectors and tags: both can hide text from a reader; and the marks, embeddings, overrides
# and isolates of UAX #9, which phones put around names, and which can display a text in another order than stored.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)

# A zero-width joiner or non-joiner is part of the spelling in Arabic, Indic and South-East Asian scripts, and joins
# emoji. A single one stays after such a character, but never before a Latin letter or digit.
_JOINERS = "\u200c\u200d"
_JOINING = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ua840-\ua87f\ua8e0-\ua8ff\u2190-\u2bff\U0001f000-\U0001faff"
_STRAY_JOINERS = re.compile(
    f"(?<![{_JOINING}])[{_JOINERS}]+|(?<=[{_JOINERS}])[{_JOINERS}]+|[{_JOINERS}]+(?=[0-9A-Za-z])"
)


@functools.cache
def _typographic_folds() -> dict[int, str]:
    """Each typographic form and its replacement, from Unicode's own decompositions."""
    folds = {}
    for code in _TYPOGRAPHIC_FORMS:
        tag, _, target = unicodedata.decomposition(chr(code)).partition(" ")
        letters = [int(part, 16) for part in target.split()]
        is_word = len(letters) > 3 or 0x20 in letters  # U+FDFA is a whole phrase: keep it
        if chr(code) in _LATIN_LIGATURES:
            folds[code] = unicodedata.normalize("NFKC", chr(code))
        elif tag in _FOLDED_TAGS and not is_word:
            folds[code] = "".join(map(chr, letters))
    return folds


def normalise(text: str, field: str = "query") -> str:
    """The normalised query, or another parameter, which is checked, cached and sent. Idempotent.

    Raises:
        SearchValidationError: it contains a control character, a non-character or a lone surrogate; the message names
            the code point, never the query.
    """
    text = _WHITE_SPACE.sub(" ", text)
    if found := _FORBIDDEN.search(text):
        name = f"U+{ord(found.group()):04X}"
        raise SearchValidationError(
            f"{'The query' if field == 'query' else f'`{field}`'} contains the control character {name}; remove it.",
            details={"field": field, "codePoint": name},
        )
    if not text.isascii():
        text = _INVISIBLE.sub(
            "", unicodedata.normalize("NFC", text).translate(_typographic_folds())
        )
        text = unicodedata.normalize("NFC", text)
        while (fewer := _WHITE_SPACE.sub(" ", _STRAY_JOINERS.sub("", text))) != text:
            text = unicodedata.normalize("NFC", fewer)  # which may reorder marks around a joiner
    return text.strip(" ")


def matching_form(text: str) -> str:
    """A normalised text reduced for matching only: full NFKC, lower case, no accents, joiners or look-alike letters."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_WHOLE_PHRASES))
    letters = "".join(c for c in decomposed if not unicodedata.combining(c) and c not in _JOINERS)
    return unicodedata.normalize("NFKC", letters).casefold().translate(_LOOK_ALIKES)


def matching_letters(text: str) -> str | None:
    """A text with each non-ASCII character in its `matching_form`, to search it for English words. Much faster than
    `matching_form`.

    None if no character becomes ASCII: then the result would have the same English words as the text.
    """
    shapes = {
        ord(character): matching_form(character)
        for character in set(text)
        if not character.isascii()
    }
    return text.translate(shapes) if any(map(str.isascii, shapes.values())) else None


# Each of these characters expands to 8 to 18 letters, which would make a text of them expensive.
_WHOLE_PHRASES = {0xFDFA: " ", 0xFDFB: " "}
# Cyrillic and Greek letters that look like Latin ones.
_LOOK_ALIKES = str.maketrans("аеорсухіѕјкмтԁοραεκντι", "aeopcyxisjkmtdopaekvti")


def checked_query(text: str, shortest: int = SHORTEST_QUESTION) -> str:
    """The normalised query.

    Raises:
        SearchValidationError: not text, or outside `shortest` (1 with a Chinese, Japanese or Korean character, which
            may be a word) to `LONGEST_QUERY` characters.
    """
    if not isinstance(text, str):
        raise SearchValidationError(
            "`query` must be text.", details={"field": "query", "allowed": "text"}
        )
    if len(text) <= LONGEST_RAW_QUERY:
        text = normalise(text)
    least = 1 if _WRITES_WORDS.search(text) else shortest
    if not least <= len(text) <= LONGEST_QUERY:
        raise SearchValidationError(
            f"`query` must be {shortest} to {LONGEST_QUERY} characters long, white space collapsed; one "
            "character is enough in Chinese, Japanese and Korean.",
            details={"field": "query", "allowed": f"{shortest}-{LONGEST_QUERY} characters"},
        )
    return text


_COUNTRIES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES = frozenset(_COUNTRIES.split())

_LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_LANGUAGES.split())


# Beside the names of Unicode's CLDR, which Babel has: those to use in place of one of them, and further ones.
_USUAL_NAMES = "BA Bosnia and Herzegovina; CG Congo; CZ Czech Republic; MM Myanmar; TR Turkey; TT Trinidad and Tobago"
_OTHER_NAMES = """
AE UAE; BA Bosnia; BN Brunei Darussalam; CI Ivory Coast; CV Cabo Verde; GB Britain; GB Great Britain; GB UK; HK Hong
Kong; KR Korea; MK Macedonia; MM Burma; MO Macao; MO Macau; NL Holland; RU Russian Federation; SZ Swaziland; US United
States of America; US USA; VN Viet Nam
"""


def country_code(text: str) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country by its English name or code, in any case; None if it is not a country.

    A name may be a common abbreviation or have an article, such as "the Netherlands", "U.S.".
    """
    name = text.strip()
    return (
        name.upper()
        if name.upper() in COUNTRIES
        else _codes_of_countries().get(_key(name).removeprefix("the "))
    )


def country_name(code: str) -> str:
    """The usual English name of the country with an ISO 3166-1 alpha-2 code, in lower case."""
    from babel import Locale

    return (dict(_rows(_USUAL_NAMES)).get(code) or Locale("en").territories[code]).lower()


def _rows(table: str) -> list[tuple[str, str]]:
    return [(row[:2], row[3:]) for row in " ".join(table.split()).split("; ")]


_OTHER_LANGUAGES = """
bengali bn; bokmål nb; castilian es; farsi fa; frisian fy; gaelic gd; mandarin zh; maori mi; nynorsk nn; oriya or;
sami se; sinhalese si; uighur ug
"""


def language_code(text: str) -> str | None:
    """The ISO 639-1 code of a language's code, English name or tag (`de-AT`), in any case; None if it is neither."""
    name = " ".join(text.lower().split())
    code = name.replace("_", "-").partition("-")[0]
    return code if code in LANGUAGES else _codes_of_languages().get(name)


@functools.cache
def _codes_of_languages() -> Mapping[str, str]:
    from babel import Locale

    names = {name.lower(): code.partition("_")[0] for code, name in Locale("en").languages.items()}
    others = dict(row.split() for row in _OTHER_LANGUAGES.split(";"))
    return {name: code for name, code in (names | others).items() if code in LANGUAGES}


@functools.cache
def _codes_of_countries() -> Mapping[str, str]:
    from babel import Locale

    territories = Locale("en").territories
    names = ((code, territories[code]) for code in COUNTRIES)
    return {
        _key(name): code
        for code, name in (*names, ("US", "US"), *_rows(_USUAL_NAMES), *_rows(_OTHER_NAMES))
    }


def _key(name: str) -> str:
    """A name as it is looked up: without dots, with `and` for `&`."""
    return " ".join(name.lower().replace(".", "").replace("&", " and ").replace("’", "'").split())
