"""The words that decide what a sentence claims: denials, doubts, conditions, causes, superlatives and speakers.

A table is a text of words with blanks between them; `*` stands for any ending, `_` for a blank.
"""

from __future__ import annotations

import re

from websearch_gateway.text.quotes import DENIES, stem_set
from websearch_gateway.text.tokens import stems


def _any_of(table: str) -> re.Pattern[str]:
    words = "|".join(word.replace("*", r"\w*").replace("_", " ") for word in table.split())
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)


DENIED = re.compile(
    DENIES.pattern
    + "|"
    + _any_of(
        "lack* deny denies denied denying refus* declin* reject* fail fails failed failing failure absen* unable "
        "impossible prevent* prohibit* forbid* forbad* forbidden hardly rarely seldom barely lost lose loses stop* "
        "turn_down turns_down turned_down exclud* avoid* unlike unclear unknown disqualif* missing ban bans banned "
        "barred illeg* ended abst* unable unlikely* unsafe* unchanged unhealthy unsuccessful* uncommon* unusual*"
    ).pattern,
    re.IGNORECASE,
)
"""What one writer says with these words another one says with "not"."""

_DOUBTS = "might could perhaps possibl* probabl*"
_CAUSES = "caus* because due"
_CONDITIONS = "if unless except provided as_long_as"
_OPINIONS = (
    "alleg* testif* claims claimed argues argued insist* believe believes believed think thinks thought accus* "
    "suggests suggested speculat*"
)

ADDED = (
    (DENIED, DENIED),
    (
        re.compile(rf"\bmay\b|(?i:{_any_of(_DOUBTS).pattern})"),
        _any_of(f"{_DOUBTS} may can would likely potential* if believ* think* suggest* expect* plan* hop* allow*"),
    ),
    (
        _any_of("caus* because due_to"),
        _any_of(f"{_CAUSES} since as so after from reason* make made by give gives for led lead leads result* thanks"),
    ),
    (
        re.compile(r"\b(?!(?:for|inter|requ|harv|prot|cont|sugg|hon|mod|arr)est\b)[a-z]{3,}est\b"),
        re.compile(rf"\w{{3}}est\b|{_any_of('most least best worst record first top only max* min*').pattern}", re.I),
    ),
    (
        _any_of("must require* obliged obligatory mandatory compulsory forced has_to have_to had_to"),
        _any_of(
            "must require* oblig* mandatory compulsory forc* ha*_to necess* bound need* only demand* shall should law"
        ),
    ),
    (_any_of("exactly precisely"), _any_of("exact* precis*")),
)
"""What a sentence may say only if one of its quotes says it: a denial, a doubt, a cause, a superlative, a duty."""

LEFT_OUT = (
    (
        _any_of(_OPINIONS),
        _any_of(
            f"{_OPINIONS} blam* attribut* warn* predict* say says said told according_to denies denied hopes hoped "
            "fear* view opinion may might could would claim* argu*"
        ),
    ),
    (
        _any_of(_CONDITIONS),
        _any_of(
            f"{_CONDITIONS} only when must may would might could without should has_to have_to solely sole other_than "
            "alone where"
        ),
    ),
)
"""What a sentence may not leave out of its quote, unless it has one of the other words: whose opinion, a condition."""

LOST = {
    "not": DENIED,
    "oneof": _any_of("one_of among some several a an"),
    "may": _any_of(
        f"{_DOUBTS} may can would likely potential* if believ* think* thought suggest* expect* plan* hop* chance option"
    ),
}
"""Signs of a word that a sentence may not lose, unless it has one of the other words: a denial, a choice, a doubt."""

SPEAKERS = stem_set(
    "says said saying tells told claim heard blamed accused argued theory theorized rumour rumor legend myth "
    "dream dreamed imagined asserted suggested according think thought believe believed hope fear doubt suspect"
)
TOLD = SPEAKERS | stem_set("described called reported announced stated blamed warned denied cautioned admitted urged")
"""What shows that a sentence reports what somebody says."""

SPEECH = re.compile(
    r"[\"“„«]\s*([^\"“”„«»]{20,})[\"”“»][,.]?\s*[^\"“”„«»]{0,60}?"
    r"\b(?:sa(?:id|ys)|told|tells|add(?:ed|s)|expla(?:ined|ins)|wr(?:ote|ites)|recall(?:ed|s)|tweeted|insist(?:ed|s))\b"
)
"""What somebody says, between quotation marks."""

_NAME = r"(?!(?:He|She|It|They|We|I|This|These|Who)\b)[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)*"
# What also says other things ("Kubernetes adds a label", "Redis states are kept") is speech only where words follow it.
_SAYS = (
    r"(?:sa(?:ys?|id|ying)|t(?:old|ells?)|claim(?:s|ed)|argue[sd]?|insist(?:s|ed)|warn(?:s|ed)|believe[sd]|thinks?|"
    r"thought|wr(?:ites|ote)|admit(?:s|ted)|according to|"
    r"(?:add(?:s|ed)|state[sd]|suggest(?:s|ed)|expla(?:ins|ined))(?=,|:| that\b| [\"“„«]))"
)
SAYING = re.compile(rf"\b(?:{_SAYS}|view|opinion)\b[^.;!?]*", re.IGNORECASE)
"""A verb of saying, with what follows it in its clause."""
SPEAKER = re.compile(
    rf"\b(?:[Aa]ccording to (?:the )?({_NAME})|[Ii]n (?:the )?({_NAME})['’]s? (?:view|opinion)|"
    rf"({_NAME})(?: (?:has|had|have|also|later|then))* {_SAYS})"
)
"""A named speaker."""

_SOURCE = r"(?:the|this|provided|in this|in the)\s+(?:provided\s+)?(?:passage|text|article|summary|source|document)s?\b"
TALK = re.compile(
    rf"\W*(?:[\w' ]{{0,40}},\s*|it['’]s important to note that\s+)?{_SOURCE}(?!,|(?:\s+\w+)?\s+\w+\s+that\b)",
    re.IGNORECASE,
)
"""What only talks about the source."""
REPORTS = re.compile(
    rf"(?:according to|based on|as (?:stated|mentioned|described) in)?\s*{_SOURCE}(?:\s+(?:also\s+)?\w+\s+that\b)?,?"
    r"|\A\W*it (?:also )?(?:mentions|notes|states|highlights|describes|adds)(?: that\b)?",
    re.IGNORECASE,
)
"""What a sentence may say before its claim: "the passage states that"."""

CHANGES = re.compile(
    r"\b(?:if|unless|provided|except|as long as|but|not|although|though|when|until|according to|sa(?:y|ys|id)|told|"
    r"tells|claim(?:s|ed)?|argue[sd]?|believe[sd]?|suggest(?:s|ed)?|accuse[sd]?|rumou?rs?|dream\w*|imagin\w+)\b",
    re.IGNORECASE,
)
"""What changes the meaning of the words before it."""
HEDGES = re.compile(
    r"\b(?:about|around|approximately|roughly|some|almost|nearly|up to|between|circa|ca|or (?:more|less))\b|~|≈|"
    r"\b(?:(?-i:may)|might|could|would|should|if|unless)\b",
    re.IGNORECASE,
)

PRONOUN = re.compile(
    r"\W*(?:(?:later|then|also|today|however|in addition),?\s+)?"
    r"(?:he|she|it|they|this|these|his|her|its|their|many|both)\b",
    re.IGNORECASE,
)
"""A pronoun at the start."""
ANAPHOR = re.compile(
    r"\b(?:he|she|it|they|them|him|his|her|hers|its|their|this|these|that|those|such)\b", re.IGNORECASE
)
"""A word for what another sentence names."""

_PAIRS = """\
support oppose, accept reject, succeed fail, increase decrease, rise fall, rose fell, win lose, won lost, buy sell,
inside outside, within outside, north south, east west, northern southern, eastern western, open closed, male female,
bought sold, largest smallest, highest lowest, longest shortest, first last, import export, legal illegal, true false,
public private, safe unsafe, above below, cause prevent, allowed forbidden, upheld dismissed, higher lower, gain loss,
larger smaller, early late, advance stagnate"""
OPPOSITES = [tuple(stems(pair.split())) for pair in _PAIRS.split(",")]
