"""The kind of thing that a question asks for, in the languages of `languages`, and patterns for each kind."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from itertools import islice

from websearch_gateway.text.retrieval.english_kinds import english_kind, english_pattern
from websearch_gateway.text.retrieval.tokens import words

_NUMBER_WORD = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|hundreds|"
    "thousand|thousands|million|millions|billion|dozen|half|twice|third|quarter|both|single|none|"
    "zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|"
    "deux|trois|quatre|cinq|sept|huit|neuf|dix|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|"
    "اثنان|اثنين|ثلاث|ثلاثة|أربع|أربعة|خمس|خمسة|ست|ستة|سبع|سبعة|ثمان|ثمانية|تسع|تسعة|عشر|عشرة|"
    "iki|üç|dört|beş|altı|yedi|sekiz|dokuz|yüz|bin|yarısı|δύο|τρεις|τρία|τέσσερις|τέσσερα|πέντε|έξι|επτά|οκτώ|εννέα|δέκα|"
    "hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|trăm|nghìn|triệu|tỷ|doi|două|trei|patru|cinci|șase|șapte|opt|nouă|zece|sute|"
    "mii|milioane|jumătate|half|hälfte|dutzend|hundert|tausend|millionen|milliarden|elfte|zehn|mitad|cien|mil|millones|"
    "половина|сто|тысяч|миллион\\w*|полтора|trois|cent|mille|millions|"
    "दो|तीन|चार|पांच|पाँच|छह|सात|आठ|नौ|दस"
)
_NUMBER = (
    rf"\d|[०-९٠-٩๐-๙]|\b(?:{_NUMBER_WORD})\b|[一二两三四五六七八九十百千万亿兩]|หนึ่ง|สอง|สาม|สี่|ห้า|หก|เจ็ด|แปด|เก้า|สิบ"
)
_YEAR = r"\b\d{3,4}(?:s|er|ern|х|-х|'l[ae]r\w*)?\b|\d{3,4}[年 ]"
_MONTH = (
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|may \d|june|"
    r"july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|centuries|decade|spring|summer|autumn|"
    r"winter|januar|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo|junio|julio|agosto|"
    r"septiembre|octubre|noviembre|diciembre|siglos?|jahrhunderts?|jahrzehnt\w*|ianuarie|februarie|martie|aprilie|iunie|"
    r"iulie|octombrie|noiembrie|decembrie|secol\w*|ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|"
    r"aralık|yüzyıl\w*|\w+ари[ея]|\w+враля|марта|апрел\w|мая|июн\w|июл\w|август\w?|\w+ябр[ья]|\w*ιαν?ου[αά]ρ\w*|φεβρου\w*|"
    r"μαρτίου|απριλίου|μαΐου|ιουν\w*|ιουλ\w*|αυγούστου|\w+εμβρίου|οκτωβρίου|αιώνα\w?|tháng|thế kỷ|thập kỷ)\b"
)
_DATE = (
    rf"{_YEAR}|{_MONTH}|\d{{1,2}}\s*[./:月日]|[०-९]{{3,4}}|[٠-٩]{{3,4}}|[๐-๙]{{3,4}}|век|القرن|शताब्दी|世纪|世紀|"
    "ศตวรรษ"
)
_NAME = r"(?:\w\W+|^|[\"“„«(])[A-ZÀ-ÞА-ЯΑ-Ω][\w.'’-]+"
_MONEY = r"[$€£¥₹]|\d[^.]{0,30}\b(?:dollars?|euros?|pounds?|yen|usd|eur|cents?|million|billion|crowns?|francs?)\b|%"
_DURATION = (
    r"(?:\d|\b(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|half|several)\b)[^.]{0,30}\b(?:seconds?|minutes?|"
    r"hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|nights?|until|from|jahren?|tagen?|años?|días?)\b|"
    r"\b(?:miles?|km|kilomet\w+|met(?:er|re)s?|feet|foot|inch(?:es)?|cm|mm)\b"
)

_ASKED: tuple[tuple[str, str, str], ...] = (
    (
        "money",
        r"\bhow much (?:money|did|does|do|is|are|was|were)\b.*\b(?:cost|costs|pay|paid|spend|spent|earn|"
        r"worth|price|fee|charge|raised?|donat\w+|money)\b|\bhow much money\b|\bwhat (?:is|"
        r"was) the (?:price|cost)\b",
        f"{_MONEY}|{_NUMBER}",
    ),
    (
        "duration",
        r"\bhow long\b|\bwie lange?\b|\bcuánto tiempo\b|\bcombien de temps\b|как долго|多久|多长时间",
        f"{_DURATION}|{_NUMBER}",
    ),
    (
        "date",
        r"\bwhen\b|\b(?:what|which)(?: \w+)? (?:years?|dates?|days?|months?|century|decade)\b|\bcuándo\b|"
        r"\b(?:qué|cuál) (?:año|fecha|día|siglo)\b|\bwann\b|\bwelche[nmrs]? (?:jahr|tag|monat|jahrhundert|"
        r"datum)\w*|\bquand\b|\bquelle année\b|когда|(?:каком|какой|какого|какое) (?:год|век|числ|ден|дат)|"
        r"متى|(?:أي|اي) (?:عام|سنة|تاريخ|يوم|قرن)|कब|किस (?:वर्ष|साल|"
        r"तारीख|दिन|सदी)|什么时候|何时|哪一?年|哪一?天|几月|いつ|"
        r"เมื่อไร|เมื่อไหร่|เมื่อใด|ปีใด|ปีไหน|วันที่เท่า|\bne zaman\b|\bhangi (?:yıl|tarih|gün|ay\b|yüzyıl)\w*|πότε|"
        r"ποι[οα] (?:έτος|χρονιά|ημερομηνία|αιώνα)|\bkhi nào\b|\b(?:năm|ngày|thế kỷ|tháng) (?:nào|mấy)\b|\bcând\b|"
        r"\b(?:în|din|ce) (?:ce )?(?:an|secol|dată|zi)\b",
        _DATE,
    ),
    (
        "number",
        r"\bhow (?:many|much|old|tall|high|far|deep|large|big|fast|often|wide|heavy|hot|cold)\b|"
        r"\bwhat (?:percent\w*|number|portion|fraction|proportion|population|distance|age)\b|"
        r"\bcuánt[oa]s?\b|\bwie ?(?:viele?n?|hoch|groß|alt|weit|oft|schnell)\b|\bcombien\b|сколько|كم|कितन|"
        r"多少|几[个次名位岁]|いくつ|何[人個本年回]|เท่าไร|เท่าใด|เท่าไหร่|กี่|\bkaç\b|πόσ[οεαη]|\bbao nhiêu\b|"
        r"\bcâ[țt][ei]?\b|\bquant[oiae]s?\b|\bhoeveel\b",
        _NUMBER,
    ),
    (
        "person",
        r"\bwho(?:m|se)?\b|\b(?:what|which) (?:person|individual|man|woman|people|president|king|queen|"
        r"author|actor|player|scientist|mathematician|emperor|leader|artist|singer|coach|architect|designer|"
        r"founder|inventor|general|governor|director|producer)\b|\bnamed after\b|\bquién(?:es)?\b|"
        r"\bwe[rmn]\b|\bqui\b|\bchi\b|\bcine\b|\bquem\b|\bwie was\b|\bkim\b|кто|кого|кому|кем",
        _NAME,
    ),
    (
        "place",
        r"\bwhere\b|\b(?:what|which) (?:city|country|state|town|place|region|continent|county|island|river|"
        r"street|location|stadium|venue|university|school|college|company|team|organi[sz]ation)\b|\bdónde\b|"
        r"\bwo\b|\boù\b|\bwelche[rsnm]? (?:stadt|land|team|universität)\b",
        _NAME,
    ),
    (
        "name",
        r"\b(?:what|which) (?:is|was|were|are) the (?:first |last |full |original |official )?names?\b|"
        r"\bwhat names?\b",
        f"{_NAME}|[\"“„«‘']\\w",
    ),
)
"""Kinds, the question words for each, and a pattern of it; the first kind that matches a question counts."""

_CASED = frozenset(("person", "place", "name"))


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of answer."""

    name: str
    given: re.Pattern[str]

    def found_in(self, text: str, asked: frozenset[str]) -> list[re.Match[str]]:
        """The things of this kind in a sentence, other than those whose words are all in the question (`asked`)."""
        found = islice(self.given.finditer(text), _MOST_FOUND)
        return [one for one in found if not asked or not asked >= frozenset(words(one[0]))]


_MOST_FOUND = 20


@functools.cache
def _kinds() -> tuple[tuple[re.Pattern[str], Kind], ...]:
    return tuple(
        (re.compile(asked, re.IGNORECASE), Kind(name, re.compile(given, 0 if name in _CASED else re.IGNORECASE)))
        for name, asked, given in _ASKED
    )


def asked_for(query: str, language: str) -> Kind | None:
    """The kind of thing that a question asks for; None if it is not one of these."""
    if language == "en":
        name = english_kind(query)
        return Kind(name, english_pattern(name)) if name else None
    return next((kind for asked, kind in _kinds() if asked.search(query)), None)
