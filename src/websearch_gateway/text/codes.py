"""The two-letter codes of ISO 3166-1 (countries) and ISO 639-1 (languages), as assigned in November 2026, and the names
of countries.

They are listed here because every query is checked against them, and a library would need 6 MB for that. A test
compares them with Babel's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

_COUNTRIES = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
_LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki
kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no
nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta
te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""

COUNTRIES = frozenset(_COUNTRIES.split())
LANGUAGES = frozenset(_LANGUAGES.split())

_OTHER_NAMES = {
    "bosnia and herzegovina": "BA",
    "brunei darussalam": "BN",
    "cabo verde": "CV",
    "congo": "CG",
    "czech republic": "CZ",
    "myanmar": "MM",
    "russian federation": "RU",
    "trinidad and tobago": "TT",
    "turkey": "TR",
    "uk": "GB",
    "viet nam": "VN",
}
"""Names and codes in addition to those of Unicode's CLDR."""


@lru_cache(maxsize=512)
def country_code(text: str) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country's name or code, in any case; None if it is not a country."""
    from babel.core import get_global

    name = text.strip().lower()
    if code := _OTHER_NAMES.get(name) or _by_name().get(name):
        return code
    code = name.upper()
    aliases = get_global("territory_aliases").get(code, [])  # also the alpha-3 codes
    return next((known for known in (code, *aliases[:1]) if known in COUNTRIES), None)


def country_name(code: str) -> str:
    """The English name of the country with an ISO 3166-1 alpha-2 code, in lower case."""
    known = next((name for name, own in _OTHER_NAMES.items() if own == code and name in _PREFERRED), None)
    return known or next(name for name, own in _by_name().items() if own == code)


_PREFERRED = frozenset(
    ("bosnia and herzegovina", "congo", "czech republic", "myanmar", "trinidad and tobago", "turkey")
)


@cache
def _by_name() -> Mapping[str, str]:
    """English name in lower case -> alpha-2 code. The first call loads Babel's names, in about 0.1 s."""
    from babel import Locale

    names = Locale("en").territories
    return {names[code].lower(): code for code in sorted(COUNTRIES)}
