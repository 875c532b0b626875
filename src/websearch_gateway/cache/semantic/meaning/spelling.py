"""Text -> words: lower case, contractions written out, symbols and versions kept whole."""

from __future__ import annotations

import re
from collections.abc import Mapping

from websearch_gateway.cache.semantic.meaning.function_words import (
    ARTICLES,
    BE,
    IGNORED,
    MODALS,
    PRONOUNS,
    QUESTION_WORDS,
    ROLES,
    TENSES,
)
from websearch_gateway.cache.semantic.meaning.words import groups
from websearch_gateway.text.retrieval.tokens import fold

_NOT_NAMES = frozenset(
    {*ARTICLES, *BE, *IGNORED, *MODALS, *PRONOUNS, *QUESTION_WORDS, *ROLES, *TENSES, "if", "so", "he"}
)

_CAPITALS = (
    (re.compile(r"\bWHO\b"), "world health organization"),
    (re.compile(r"\bIT\b"), "information technology"),
    (re.compile(r"(?<=[\w)] )A(?=$|[?.,]| [a-z0-9])"), "letter_a"),  # "Hepatitis A vaccine", not "A Vaccine"
    (re.compile(r"\b([KMGT])B(?:/s|ps)\b"), r"\1byteps"),
    (re.compile(r"\b([KMGT])b\b"), r"\1bit"),
)
_ACRONYM = re.compile(r"\b[A-Z]{2,}\b")
_CONTRACTIONS = (
    (re.compile(r"\b(can)(?:not|'?t)\b"), "can not"),
    (re.compile(r"\bwon'?t\b"), "will not"),
    (re.compile(r"\b(do|does|did|is|are|was|were|has|had|could|should|would|must)n'?t\b"), r"\1 not"),
    (re.compile(r"\b(haven)'?t\b"), "have not"),
    (re.compile(r"\b(what|who|where|when|why|how|that|it|there|here)'s\b"), r"\1 is"),
    (re.compile(r"\b(what|where|how)s\b"), r"\1 is"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"'s\b|'"), ""),
)
_CONTRACTED = re.compile(r"'|\b(?:cannot|\w+nt|wont|cant|whats|wheres|hows)\b")
_FREE_OF = re.compile(
    r"\b([a-z]+)-free\b|\b(sugar|gluten|dairy|lactose|nut|egg|soy|caffeine|alcohol|fat|ad|meat|wheat) free\b"
)
_TOKEN = re.compile(
    r"""
    [a-z]+(?:\+\+|\#)(?![a-z0-9])                       # c++  c#
    | (?:[a-z]\.){2,}                                   # u.s.
    | \.net\b | °\ ?[cf]\b
    | \d{1,3}(?:,\d{3})+(?:\.\d+)?                      # 1,000.50
    | \d+(?:[:/]\d+)+ | \d{4}-\d\d-\d\d                 # 5:30  1/2  2024-05-01
    | \b(?:km|mi|m|ft|mb|gb|kb)/(?:s|h|hr|sec|hour)\b
    | (?<![\w)])-(?=\d)                                 # a minus: joined to its number below
    | (?:(?<=\s)|^)-(?=[a-z])                           # jaguar -car
    | [a-z0-9_]+(?:\.[a-z0-9]+)*                        # node.js  22.04  v1.28
    | [=!<>]=+ | && | \|\|
    | [^\s.,;:?!"'()\-–—/…“”‘’«»·]                      # any other sign is a token
    """,
    re.VERBOSE,
)
_LETTERS_THEN_DIGITS = re.compile(r"([a-z]{2,})(\d+(?:\.\d+)*)")
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")


def spell(text: str) -> list[str]:
    """The words and signs of `text`, in order. Letter case is used where it distinguishes words, then dropped."""
    if not text.isupper() and not text.islower():
        for pattern, replacement in _CAPITALS:
            text = pattern.sub(replacement, text)
        text = _ACRONYM.sub(_spelled_acronym, text)
    text = fold(text).replace("’", "'")
    if _CONTRACTED.search(text):
        for pattern, replacement in _CONTRACTIONS:
            text = pattern.sub(replacement, text)
    if "free" in text:
        text = _FREE_OF.sub(lambda found: f"without {found[1] or found[2]}", text)
    return _joined(_TOKEN.findall(text))


def _spelled_acronym(found: re.Match[str]) -> str:
    """The acronym, marked if it would be a function word in lower case: "an ARE form" is not "are"."""
    return f"acronym_{found[0].lower()}" if found[0].lower() in _NOT_NAMES else found[0]


def _joined(pieces: list[str]) -> list[str]:
    """The pieces as words: a minus with its number, "python3" as two, "v1.28" without its v."""
    words: list[str] = []
    minus = False
    for piece in pieces:
        if piece == "-":
            minus = True
            continue
        parts = _parts(piece)
        if minus and piece[0].isdigit():
            parts[0] = f"-{parts[0]}"
        elif minus:
            parts = ["not", *parts]
        words += parts
        minus = False
    return words


def _parts(piece: str) -> list[str]:
    if piece.isalpha():
        return [piece]
    if version := _VERSION.fullmatch(piece):
        return [version[1]]
    if found := _LETTERS_THEN_DIGITS.fullmatch(piece):
        return list(found.groups())
    if piece.endswith((".js", ".")):  # node.js, u.s.
        return [piece.replace(".", "")]
    return [piece.replace(" ", "")] if piece[0] == "°" else [piece]


SPELLINGS: Mapping[str, str] = {
    british: american
    for american, british in groups("""
aging ageing
airplane aeroplane
aluminum aluminium
anemia anaemia
artifact artefact
artifacts artefacts
caliber calibre
canceled cancelled
canceling cancelling
catalog catalogue
center centre
centers centres
cozy cosy
defense defence
dialog dialogue
diarrhea diarrhoea
donut doughnut
donuts doughnuts
draft draught
encyclopedia encyclopaedia
enroll enrol
estrogen oestrogen
fetus foetus
fiber fibre
fibers fibres
fulfill fulfil
gray grey
grayed greyed
jewelry jewellery
judgment judgement
labeled labelled
lasagna lasagne
leukemia leukaemia
license licence
modeling modelling
mold mould
mom mum
moms mums
mustache moustache
offense offence
omelet omelette
orthopedic orthopaedic
pajamas pyjamas
peddler pedlar
pediatric paediatric
plow plough
program programme
programs programmes
skeptic sceptic
skillful skilful
sulfur sulphur
theater theatre
theaters theatres
tire tyre
tires tyres
traveled travelled
traveler traveller
travelers travellers
traveling travelling
whiskey whisky
yogurt yoghurt
""")
}
"""British spellings that no rule turns into the American one."""
