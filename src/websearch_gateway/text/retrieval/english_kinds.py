"""Recognises the kind of thing that an English question asks for, by its first question word and the noun after it."""

from __future__ import annotations

import functools
import re


def _words(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


_QUESTION_WORD = re.compile(
    r"\b(who|whom|whose|when|where|why|"
    r"how (?:many|much|long|old|tall|high|far|deep|large|big|fast|often|wide|heavy|hot|cold|few|little|"
    r"frequently|close|soon)|how|what|which)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_SIMPLE = {"who": "person", "whom": "person", "whose": "person", "when": "date", "where": "place", "why": "reason"}

_NOUNS = {
    "date": "year years date dates day days month months century centuries decade decades era season time period",
    "number": "percent percentage portion fraction proportion share number numbers amount population age height depth "
    "length width distance size area speed temperature rate score weight total sum value degree degrees volume "
    "capacity frequency ratio rank elevation altitude mass",
    "money": "price cost fee budget salary income revenue worth",
    "person": "person people individual individuals man men woman women president king queen prince emperor ruler "
    "leader author authors writer poet philosopher actor actress actors player players scientist scientists "
    "mathematician mathematicians physicist chemist artist singer musician composer coach architect designer founder "
    "founders inventor engineer general commander officer governor mayor director producer historian theologian pope "
    "saint bishop monk quarterback doctor professor explorer minister politician senator astronauts character",
    "place": "city cities country countries nation nations state states town towns village place places region regions "
    "continent continents county counties province provinces island islands river rivers lake sea ocean street streets "
    "location stadium venue building buildings neighborhood neighborhoods district districts port mountain mountains "
    "area areas park desert valley suburb airport university school college",
    "named": "company companies team teams organization organizations organisation party parties newspaper magazine "
    "network channel book books film movie show series album song band war battle treaty act law acts laws language "
    "languages religion nationality ethnicity group groups tribe tribes denomination dynasty award event agency church "
    "museum palace festival station conference museums faction theory theorem mission program edict empire colony",
    "name": "name names title term terms word words nickname called",
    "color": "color colour colors colours",
}
_KIND_OF_NOUN = {noun: kind for kind, nouns in _NOUNS.items() for noun in nouns.split()}
_TERMED = re.compile(
    r"\b(?:called|termed|referred to as|known as|named|nicknamed|dubbed|stand for|term for|word for)(?: as)?\W*$",
    re.IGNORECASE,
)
_ENDS_NOUN = _words(
    "is was were are did does do has have had can could will would should may might of in on at to for from by with "
    "that which who and or be been being it the a an"
)
_COPULA = _words("is was were are")
_ARTICLES = _words("the a an")
_FARTHEST_NOUN = 4


def english_kind(question: str) -> str | None:
    """The name of the kind; None if the question asks for no known kind."""
    asked = _QUESTION_WORD.search(question)
    if asked is None:
        return None
    if asked[1].lower() in ("when", "where") and (main := _QUESTION_WORD.search(asked[2])):
        asked = main  # "When it rains, what ...?"
    word, rest = asked[1].lower(), asked[2]
    if word in _SIMPLE:
        return _SIMPLE[word]
    if word == "how long":
        return "duration"
    if word == "how much":
        return "money" if re.search(r"\b(?:cost|pay|paid|spen[dt]|earn|worth|price|money|charge)", rest) else "number"
    if word.startswith("how "):
        return "number"
    if word == "how":
        return None
    return _of_noun(rest)


def _of_noun(rest: str) -> str | None:
    """The kind of the first known noun of "what city ..." or "what is the largest city ..."."""
    said = re.findall(r"[a-z]+", rest.lower())
    if said and said[0] in _COPULA:
        if _TERMED.search(rest):
            return "name"
        said = [one for one in said[1:] if one not in _ARTICLES]
    for one in said[:_FARTHEST_NOUN]:
        if one in _ENDS_NOUN:
            break
        if one in _KIND_OF_NOUN:
            return _KIND_OF_NOUN[one]
    return "name" if _TERMED.search(rest) else None


@functools.cache
def english_pattern(kind: str) -> re.Pattern[str]:
    """A pattern that matches things of this kind."""
    flags = re.IGNORECASE if kind in ("date", "number", "money", "duration", "reason", "color") else 0
    return re.compile(_LOOKS[kind], flags)


_NUMBER = (
    r"(?<![\w-])[$€£¥]?\d[\d.,]*(?:%|\b)|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|"
    r"fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    r"hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|twice|thirds?|quarters?|fifths?|tenths?|both|"
    r"single|none|once|several|couple|majority|most)\b"
)
_NAME = (
    r"(?<![.!?]\s)(?<!^)(?<![\w'’-])(?!(?:The|A|An|In|On|At|I)\b)[A-ZÀ-Þ][\w.'’-]*\w"
    r"(?:\s(?:(?:of|the|de|von|and)\s){0,2}[A-ZÀ-Þ][\w.'’-]*)*|"
    r"^(?!(?:The|A|An|In|On|At|It|Its|He|She|They|His|Her|Their|This|These|That|Those|Such|There|After|Before|During|"
    r"While|When|Where|Although|Though|However|For|From|By|With|As|If|Since|Some|Many|Most|Other|Others|One|Two|Three|"
    r"All|Both|Each|Every|Another|Because|But|And|Or|So|To|Of|Under|Over|Among|Between|Until|Despite|Following|"
    r"According|Also|Then|Thus|Therefore|Today|Early|Late|Later|First|Second|Once|Only|Even|Not|No|We|You|I|Our|What|"
    r"Which|Who|How|Why|Upon|Through|Throughout|Several|Various|Like|Unlike|Further|Furthermore|Moreover|Instead|"
    r"Here|Being|Having|Within|Without|Near|More|Less|Much|Few|Any|Same|Additionally|Currently|Originally)\b)"
    r"[A-ZÀ-Þ][\w.'’-]+"
)
_LOOKS = {
    "person": _NAME,
    "place": _NAME,
    "named": _NAME,
    "name": rf"{_NAME}|[\"“„«‘']\w[^\"”“»’']*",
    "number": _NUMBER,
    "money": r"[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:%|(?:thousand|million|billion|trillion)?\s?(?:dollars?|euros?|pounds?|"
    r"cents?|yen|francs?|crowns?|usd|eur))|\b\d[\d.,]*\b",
    "duration": rf"(?:{_NUMBER}|\ban?)\W+(?:\w+\W+){{0,3}}?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|"
    r"decades?|centur(?:y|ies)|nights?|generations?|miles?|km|kilomet\w+|met(?:er|re)s?|feet|foot|inch(?:es)?|cm|mm|"
    r"yards?)\b|\b(?:until|from \d|since)\b",
    "date": r"\b\d{3,4}s?\b|\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|may(?= \d)|june|july|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|monday|tuesday|wednesday|thursday|friday|saturday|"
    r"sunday|century|centuries|decades?|spring|summer|autumn|winter)\b",
    "reason": r"\b(?:because|due to|since|as a result|in order|caused?|reasons?|so that|therefore|thus|to \w+|owing|"
    r"led to|thanks to|hence)\b",
    "color": r"\b(?:red|blue|green|yellow|black|white|orange|purple|violet|brown|gr[ae]y|gold|golden|silver|pink|"
    r"scarlet|crimson|turquoise|colou?rless|pale)\b",
}
