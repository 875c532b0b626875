"""Words that reverse or weaken a statement: denials, doubts, and words with an opposite."""

from __future__ import annotations

import re

_DENIALS = re.compile(
    r"\b(?:not|never|no|none|neither|nor|without|cannot|nobody|nothing|nowhere|hardly|barely|scarcely|fail(?:s|ed|ing)?|"
    r"refus(?:e|es|ed|ing)|den(?:y|ies|ied)|unable|impossible|unlikely|false|untrue|incorrect|wrong(?:ly)?|myth|"
    r"lack(?:s|ed|ing)?|absent|ceased?|stopped|abandoned|cancell?ed|except(?:ing)?|unless|rather than|instead of|"
    r"nicht|nie|niemals|kein\w*|ohne|weder|pas|jamais|aucun\w*|sans|nunca|jamas|ningun\w*|sin)\b|n['’]t\b|"
    r"\bn['’]|\bno longer\b",
    re.IGNORECASE,
)
_DOUBTS = re.compile(
    r"\b(?:might|possibly|perhaps|probably|alleged(?:ly)?|rumou?r(?:s|ed)?|reportedly|supposed(?:ly)?|purported(?:ly)?|"
    r"propos(?:e|es|ed|al|als)|plan(?:s|ned)?|expected|predict(?:s|ed)?|forecasts?|projected|hypothe\w+|if|would|"
    r"disputed|claim(?:s|ed)?|conspiracy|fiction\w*|satir\w+|hoax)\b|\bmay\b(?!\s+\d)"
)
_OPPOSITES = """\
more most above over exceeding higher greater larger bigger|less least below under fewer lower smaller
rise rises rose risen increase increases increased grew grow grown growth gain gained|fall falls fell fallen decrease \
decreases decreased decline declined shrank shrink drop dropped loss
before prior earlier until|after following later since
largest biggest highest tallest longest greatest|smallest lowest shortest least
oldest older|youngest newest newer younger
first|last final
best|worst
win wins won winner winners defeat defeats defeated beat beats|lose loses lost loser losers
open opens opened opening|close closes closed closing shut
start starts started began begin begins beginning|end ends ended finish finished
north northern|south southern
east eastern|west western
left|right
allow allows allowed permit permitted legal|forbid forbidden ban bans banned prohibit prohibited illegal
success successful succeeded|failure unsuccessful
safe|unsafe dangerous
true|false
always|never sometimes rarely
all every each|some few several many
hot hotter warm|cold colder cool
fast faster quick|slow slower
rich wealthy|poor
strong stronger|weak weaker
dead died killed death|alive survived born
husband|wife
father|mother
son|daughter
brother|sister
king|queen
male man men|female woman women
buy bought purchased|sell sold
import imports imported|export exports exported
maximum|minimum
up|down
majority|minority
support supported favour|oppose opposed against
today|yesterday tomorrow
present current currently|former formerly previous
ancient|modern
inside within|outside
entered arrived joined|left departed quit
positive|negative"""
_SIDES: dict[str, list[frozenset[str]]] = {}
for _row in _OPPOSITES.splitlines():
    _one, _other = (frozenset(side.split()) for side in _row.split("|"))
    for _words, _against in ((_one, _other), (_other, _one)):
        for _word in _words:
            _SIDES.setdefault(_word, []).append(_against)


_GRADES = [
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("largest biggest highest tallest longest greatest", "smallest lowest shortest least"),
        ("oldest", "youngest newest"),
        ("best", "worst"),
        ("maximum", "minimum"),
        ("northern north", "southern south"),
        ("eastern east", "western west"),
    )
]

_STRICT = {
    word: row.split("|")
    for row in """\
all|every|each|everyone|everybody
only|solely|exclusively|sole
always
most|majority
today|tonight
yesterday
tomorrow
hour|hours|hourly
day|days|daily
week|weeks|weekly|weekend
month|months|monthly
year|years|yearly|annual|annually
decade|decades
century|centuries
spring
summer
autumn|fall
winter""".splitlines()
    for word in row.split("|")
}
"""Words that change how much or when: the passage must have a word of the same row."""

_HEARSAY = re.compile(
    r"\b(?:rumou?rs?|legend|myths?|allegedly|hoax|conspiracy|fiction\w*|satir\w+|supposedly|falsely|imagin\w+)\b",
    re.IGNORECASE,
)


def is_hearsay(sentence: str) -> bool:
    """Whether a whole sentence reports a rumour, a myth or fiction."""
    return bool(_HEARSAY.search(sentence))


def overstates(claim: frozenset[str], passage: frozenset[str]) -> bool:
    """Whether a claim (lower-case words) says how much or when although the passage has no such word."""
    return any(passage.isdisjoint(_STRICT[word]) for word in claim & _STRICT.keys())


def is_off_the_scale(claim: frozenset[str], passage: frozenset[str]) -> bool:
    """Whether a claim has a grade or direction of which the passage has only the opposite; both as lower-case words."""
    return any(
        claim & one and passage.isdisjoint(one) and passage & other and claim.isdisjoint(other)
        for one, other in (pair for grade in _GRADES for pair in (grade, grade[::-1]))
    )


def denies(text: str) -> bool:
    """Whether a clause says that something is not so."""
    return bool(_DENIALS.search(text))


def doubts(text: str) -> bool:
    """Whether a clause only supposes, plans or reports something."""
    return bool(_DOUBTS.search(text))


def contradicts(claim: frozenset[str], passage: frozenset[str]) -> bool:
    """Whether one clause has the opposite of a word of the other, but not the word itself; both as lower-case words."""
    return any(
        not word_is_there and against & passage and not against & claim
        for word in claim & _SIDES.keys()
        for word_is_there in [word in passage]
        for against in _SIDES[word]
    )
