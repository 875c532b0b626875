"""The codes and English names of countries (ISO 3166-1) and languages (ISO 639-1), as assigned in November 2026.

They are listed here because every query is checked against them, and a library would need 6 MB and 0.1 s for that. A
test compares them with Babel's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

# Of each country the alpha-2 code, the alpha-3 code and the name in Unicode's CLDR.
_COUNTRIES = """
AD AND Andorra; AE ARE United Arab Emirates; AF AFG Afghanistan; AG ATG Antigua & Barbuda; AI AIA Anguilla; AL ALB
Albania; AM ARM Armenia; AO AGO Angola; AQ ATA Antarctica; AR ARG Argentina; AS ASM American Samoa; AT AUT Austria; AU
AUS Australia; AW ABW Aruba; AX ALA Åland Islands; AZ AZE Azerbaijan; BA BIH Bosnia & Herzegovina; BB BRB Barbados; BD
BGD Bangladesh; BE BEL Belgium; BF BFA Burkina Faso; BG BGR Bulgaria; BH BHR Bahrain; BI BDI Burundi; BJ BEN Benin; BL
BLM St. Barthélemy; BM BMU Bermuda; BN BRN Brunei; BO BOL Bolivia; BQ BES Caribbean Netherlands; BR BRA Brazil; BS BHS
Bahamas; BT BTN Bhutan; BV BVT Bouvet Island; BW BWA Botswana; BY BLR Belarus; BZ BLZ Belize; CA CAN Canada; CC CCK
Cocos (Keeling) Islands; CD COD Congo - Kinshasa; CF CAF Central African Republic; CG COG Congo - Brazzaville; CH CHE
Switzerland; CI CIV Côte d’Ivoire; CK COK Cook Islands; CL CHL Chile; CM CMR Cameroon; CN CHN China; CO COL Colombia;
CR CRI Costa Rica; CU CUB Cuba; CV CPV Cape Verde; CW CUW Curaçao; CX CXR Christmas Island; CY CYP Cyprus; CZ CZE
Czechia; DE DEU Germany; DJ DJI Djibouti; DK DNK Denmark; DM DMA Dominica; DO DOM Dominican Republic; DZ DZA Algeria;
EC ECU Ecuador; EE EST Estonia; EG EGY Egypt; EH ESH Western Sahara; ER ERI Eritrea; ES ESP Spain; ET ETH Ethiopia; FI
FIN Finland; FJ FJI Fiji; FK FLK Falkland Islands; FM FSM Micronesia; FO FRO Faroe Islands; FR FRA France; GA GAB
Gabon; GB GBR United Kingdom; GD GRD Grenada; GE GEO Georgia; GF GUF French Guiana; GG GGY Guernsey; GH GHA Ghana; GI
GIB Gibraltar; GL GRL Greenland; GM GMB Gambia; GN GIN Guinea; GP GLP Guadeloupe; GQ GNQ Equatorial Guinea; GR GRC
Greece; GS SGS South Georgia & South Sandwich Islands; GT GTM Guatemala; GU GUM Guam; GW GNB Guinea-Bissau; GY GUY
Guyana; HK HKG Hong Kong SAR China; HM HMD Heard & McDonald Islands; HN HND Honduras; HR HRV Croatia; HT HTI Haiti; HU
HUN Hungary; ID IDN Indonesia; IE IRL Ireland; IL ISR Israel; IM IMN Isle of Man; IN IND India; IO IOT British Indian
Ocean Territory; IQ IRQ Iraq; IR IRN Iran; IS ISL Iceland; IT ITA Italy; JE JEY Jersey; JM JAM Jamaica; JO JOR Jordan;
JP JPN Japan; KE KEN Kenya; KG KGZ Kyrgyzstan; KH KHM Cambodia; KI KIR Kiribati; KM COM Comoros; KN KNA St. Kitts &
Nevis; KP PRK North Korea; KR KOR South Korea; KW KWT Kuwait; KY CYM Cayman Islands; KZ KAZ Kazakhstan; LA LAO Laos;
LB LBN Lebanon; LC LCA St. Lucia; LI LIE Liechtenstein; LK LKA Sri Lanka; LR LBR Liberia; LS LSO Lesotho; LT LTU
Lithuania; LU LUX Luxembourg; LV LVA Latvia; LY LBY Libya; MA MAR Morocco; MC MCO Monaco; MD MDA Moldova; ME MNE
Montenegro; MF MAF St. Martin; MG MDG Madagascar; MH MHL Marshall Islands; MK MKD North Macedonia; ML MLI Mali; MM MMR
Myanmar (Burma); MN MNG Mongolia; MO MAC Macao SAR China; MP MNP Northern Mariana Islands; MQ MTQ Martinique; MR MRT
Mauritania; MS MSR Montserrat; MT MLT Malta; MU MUS Mauritius; MV MDV Maldives; MW MWI Malawi; MX MEX Mexico; MY MYS
Malaysia; MZ MOZ Mozambique; NA NAM Namibia; NC NCL New Caledonia; NE NER Niger; NF NFK Norfolk Island; NG NGA
Nigeria; NI NIC Nicaragua; NL NLD Netherlands; NO NOR Norway; NP NPL Nepal; NR NRU Nauru; NU NIU Niue; NZ NZL New
Zealand; OM OMN Oman; PA PAN Panama; PE PER Peru; PF PYF French Polynesia; PG PNG Papua New Guinea; PH PHL
Philippines; PK PAK Pakistan; PL POL Poland; PM SPM St. Pierre & Miquelon; PN PCN Pitcairn Islands; PR PRI Puerto
Rico; PS PSE Palestinian Territories; PT PRT Portugal; PW PLW Palau; PY PRY Paraguay; QA QAT Qatar; RE REU Réunion; RO
ROU Romania; RS SRB Serbia; RU RUS Russia; RW RWA Rwanda; SA SAU Saudi Arabia; SB SLB Solomon Islands; SC SYC
Seychelles; SD SDN Sudan; SE SWE Sweden; SG SGP Singapore; SH SHN St. Helena; SI SVN Slovenia; SJ SJM Svalbard & Jan
Mayen; SK SVK Slovakia; SL SLE Sierra Leone; SM SMR San Marino; SN SEN Senegal; SO SOM Somalia; SR SUR Suriname; SS
SSD South Sudan; ST STP São Tomé & Príncipe; SV SLV El Salvador; SX SXM Sint Maarten; SY SYR Syria; SZ SWZ Eswatini;
TC TCA Turks & Caicos Islands; TD TCD Chad; TF ATF French Southern Territories; TG TGO Togo; TH THA Thailand; TJ TJK
Tajikistan; TK TKL Tokelau; TL TLS Timor-Leste; TM TKM Turkmenistan; TN TUN Tunisia; TO TON Tonga; TR TUR Türkiye; TT
TTO Trinidad & Tobago; TV TUV Tuvalu; TW TWN Taiwan; TZ TZA Tanzania; UA UKR Ukraine; UG UGA Uganda; UM UMI U.S.
Outlying Islands; US USA United States; UY URY Uruguay; UZ UZB Uzbekistan; VA VAT Vatican City; VC VCT St. Vincent &
Grenadines; VE VEN Venezuela; VG VGB British Virgin Islands; VI VIR U.S. Virgin Islands; VN VNM Vietnam; VU VUT
Vanuatu; WF WLF Wallis & Futuna; WS WSM Samoa; YE YEM Yemen; YT MYT Mayotte; ZA ZAF South Africa; ZM ZMB Zambia; ZW
ZWE Zimbabwe
"""
_LANGUAGES = """
aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic; as Assamese; av Avaric;
ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bi Bislama; bm Bambara; bn Bangla; bo Tibetan; br
Breton; bs Bosnian; ca Catalan; ce Chechen; ch Chamorro; co Corsican; cr Cree; cs Czech; cu Church Slavic; cv Chuvash;
cy Welsh; da Danish; de German; dv Divehi; dz Dzongkha; ee Ewe; el Greek; en English; eo Esperanto; es Spanish; et
Estonian; eu Basque; fa Persian; ff Fula; fi Finnish; fj Fijian; fo Faroese; fr French; fy Western Frisian; ga Irish;
gd Scottish Gaelic; gl Galician; gn Guarani; gu Gujarati; gv Manx; ha Hausa; he Hebrew; hi Hindi; ho Hiri Motu; hr
Croatian; ht Haitian Creole; hu Hungarian; hy Armenian; hz Herero; ia Interlingua; id Indonesian; ie Interlingue; ig
Igbo; ii Sichuan Yi; ik Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut; ja Japanese; jv Javanese; ka
Georgian; kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh; kl Kalaallisut; km Khmer; kn Kannada; ko Korean; kr Kanuri; ks
Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish; lg Ganda; li Limburgish; ln Lingala;
lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mg Malagasy; mh Marshallese; mi Māori; mk Macedonian; ml
Malayalam; mn Mongolian; mr Marathi; ms Malay; mt Maltese; my Burmese; na Nauru; nb Norwegian Bokmål; nd North
Ndebele; ne Nepali; ng Ndonga; nl Dutch; nn Norwegian Nynorsk; no Norwegian; nr South Ndebele; nv Navajo; ny Nyanja;
oc Occitan; oj Ojibwa; om Oromo; or Odia; os Ossetic; pa Punjabi; pi Pali; pl Polish; ps Pashto; pt Portuguese; qu
Quechua; rm Romansh; rn Rundi; ro Romanian; ru Russian; rw Kinyarwanda; sa Sanskrit; sc Sardinian; sd Sindhi; se
Northern Sami; sg Sango; sh Serbo-Croatian; si Sinhala; sk Slovak; sl Slovenian; sm Samoan; sn Shona; so Somali; sq
Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese; sv Swedish; sw Swahili; ta Tamil; te Telugu; tg
Tajik; th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; to Tongan; tr Turkish; ts Tsonga; tt Tatar; tw Twi; ty
Tahitian; ug Uyghur; uk Ukrainian; ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo Volapük; wa Walloon; wo Wolof; xh
Xhosa; yi Yiddish; yo Yoruba; za Zhuang; zh Chinese; zu Zulu
"""


def _rows(table: str) -> list[list[str]]:
    return [row.split(maxsplit=1) for row in " ".join(table.split()).split("; ")]


COUNTRIES = frozenset(code for code, _ in _rows(_COUNTRIES))
LANGUAGES = frozenset(code for code, _ in _rows(_LANGUAGES))

_OTHER_COUNTRIES = {
    "bosnia": "BA",
    "bosnia and herzegovina": "BA",
    "britain": "GB",
    "brunei darussalam": "BN",
    "burma": "MM",
    "cabo verde": "CV",
    "congo": "CG",
    "czech republic": "CZ",
    "great britain": "GB",
    "holland": "NL",
    "hong kong": "HK",
    "ivory coast": "CI",
    "korea": "KR",
    "macao": "MO",
    "macau": "MO",
    "macedonia": "MK",
    "myanmar": "MM",
    "russian federation": "RU",
    "swaziland": "SZ",
    "trinidad and tobago": "TT",
    "turkey": "TR",
    "uae": "AE",
    "uk": "GB",
    "united states of america": "US",
    "us": "US",
    "usa": "US",
    "viet nam": "VN",
}
"""Other names in use."""

_OTHER_LANGUAGES = {
    "bengali": "bn",
    "bokmål": "nb",
    "brazilian portuguese": "pt",
    "castilian": "es",
    "farsi": "fa",
    "frisian": "fy",
    "gaelic": "gd",
    "mandarin": "zh",
    "maori": "mi",
    "nynorsk": "nn",
    "oriya": "or",
    "sami": "se",
    "simplified chinese": "zh",
    "sinhalese": "si",
    "traditional chinese": "zh",
    "uighur": "ug",
}


def country_code(text: str) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country's English name or code, in any case; None if it is not a country."""
    name = text.strip().lower()
    return country_named(name) or _country_codes().get(name.upper())


def country_named(name: str) -> str | None:
    """The alpha-2 code of a country by its English name or a common abbreviation, such as "the Netherlands", "U.S."."""
    key = _key(name).removeprefix("the ")
    return _OTHER_COUNTRIES.get(key) or _names_of_countries().get(key)


def country_name(code: str) -> str:
    """The English name of the country with an ISO 3166-1 alpha-2 code, in lower case."""
    known = next((name for name, own in _OTHER_COUNTRIES.items() if own == code and name in _PREFERRED), None)
    return known or next(rest.split(maxsplit=1)[1].lower() for own, rest in _rows(_COUNTRIES) if own == code)


def language_code(text: str) -> str | None:
    """The ISO 639-1 code of a language's code, English name or tag (`de-AT`), in any case; None if it is neither."""
    name = " ".join(text.lower().split())
    tag = name.replace("_", "-").partition("-")[0]
    return tag if tag in LANGUAGES else _OTHER_LANGUAGES.get(name) or _names_of_languages().get(name)


_PREFERRED = frozenset(
    ("bosnia and herzegovina", "congo", "czech republic", "myanmar", "trinidad and tobago", "turkey")
)


@cache
def _names_of_countries() -> Mapping[str, str]:
    return {_key(rest.split(maxsplit=1)[1]): code for code, rest in _rows(_COUNTRIES)}


def _key(name: str) -> str:
    """A name as it is looked up: without dots, with `and` for `&`."""
    return " ".join(name.lower().replace(".", "").replace("&", " and ").replace("’", "'").split())


@cache
def _country_codes() -> Mapping[str, str]:
    """The alpha-2 code of each alpha-2 and alpha-3 code."""
    return {known: code for code, rest in _rows(_COUNTRIES) for known in (code, rest.split(maxsplit=1)[0])}


@cache
def _names_of_languages() -> Mapping[str, str]:
    return {name.lower(): code for code, name in _rows(_LANGUAGES)}
