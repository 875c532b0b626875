"""The function words that decide the meaning of a sentence: denials, doubts, amounts, prepositions, conjunctions.

They are English, with a few of other languages. All words are lower case and folded.
"""

from __future__ import annotations

import re

from websearch_gateway.text.retrieval.tokens import STOP_WORDS

_DENIALS = re.compile(
    r"\b(?:not|never|no|none|neither|nor|without|cannot|nobody|nothing|nicht|nie|niemals|kein\w*|ohne|weder|pas|jamais|"
    r"aucun\w*|sans|nunca|jam[aá]s|ning[uú]n\w*|sin|nu|fără|không|chưa|değil|hiç|не|ни|нет|без|δεν|δε|χωρίς|नहीं|لم|لن|"
    r"ليس|ليست|لا)\b|n['’]t\b|\bn['’]|[不没沒無未]|ない|ไม่|않",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"\b(?:rumou?rs?|rumou?red|legend|myths?|allegedly|hoax|conspiracy|fiction\w*|satir\w+|supposedly|falsely|imagin\w+)\b",
    re.IGNORECASE,
)

_OPERATORS = """\
not no never neither nor none nobody nothing nowhere without cannot failed fail fails failing refused refuse refuses \
refusing denied deny denies unable impossible lacked lack lacks lacking nicht nie niemals kein keine keinen ohne weder \
pas jamais aucun aucune sans nunca jamas ningun ninguna sin nu fara khong chua degil hic не ни нет без δεν δε χωρις \
नहीं لم لن ليس ليست لا
hardly barely scarcely rarely seldom
ceased stopped ceases stops cease stop abandoned cancelled canceled
may might possibly perhaps probably allegedly reportedly supposedly apparently likely unlikely potentially
can could
would
should ought
must
will shall
believed thought considered supposed presumed rumoured rumored hypothesised hypothesized
claimed argued suggested alleged asserted claims argues suggests claim falsely wrongly
planned proposed intended expected plans proposes intends expects predicted projected
attempted tried sought attempts tries seeks
only sole solely exclusively merely
all every each entire whole everybody everyone everything
always
most majority
some several certain various partly partially
few
many numerous
often usually generally frequently commonly typically normally mostly
sometimes occasionally
almost nearly virtually
more
less fewer
if unless whether
except
former formerly ex vice deputy acting false fake"""
OPERATORS = {word: row.split()[0] for row in _OPERATORS.splitlines() for word in row.split()}
"""Each operator with the first word of its row, which means the same. Adding or removing one changes the meaning."""

MAY_BE_LEFT_OUT = frozenset(("all", "only", "many"))
"""A statement with one of these operators stays true without it."""

_SAME = (
    "of from to by for with into onto over under after before during until since between among against through across "
    "within towards near than via per beside behind below above beyond despite as"
)
_PREPOSITIONS = {word: word for word in _SAME.split()} | {
    "in": "in",
    "on": "in",
    "at": "in",
    "upon": "in",
    "till": "until",
    "toward": "towards",
}

_JOINS = "and or but nor while whereas although though because which who whom whose that where when so yet"
JOINING = frozenset(_JOINS.split())
"""Words that begin a clause."""

_BETWEEN = """\
and but while whereas although though und aber y pero et mais e ma en maar и но και αλλα ve ama si dar va \
और लेकिन"""
BETWEEN_STATEMENTS = frozenset(_BETWEEN.split())
"""Words that a writer may use to join two statements, in a dozen languages."""

HARMLESS_JOINS = frozenset(("and", "which", "who", "that"))
"""Words that may begin a clause of a claim although the source has another word there."""

PERSONAL = frozenset(("it", "he", "she", "they", "him", "her", "them"))
PRONOUNS = PERSONAL | {"its", "his", "their", "this", "these", "that", "those", "we", "i"}
"""Words that refer to something named before; the personal ones replace a whole noun phrase."""

BEING = frozenset(("is", "are", "was", "were", "be", "been", "being"))

_MINOR = """\
one ones own another other such both either even very quite just still already then now etc eg ie yes don away out off \
up down about around approximately roughly circa also however additionally furthermore moreover therefore thus hence \
respectively example instance minus located situated"""
FUNCTION = (
    frozenset((*STOP_WORDS, *_PREPOSITIONS, *_JOINS.split(), *_BETWEEN.split(), *PRONOUNS, *_MINOR.split()))
    - OPERATORS.keys()
)
"""Words that need not be the same in a claim and its source."""


def prepositions(words: tuple[str, ...]) -> frozenset[str]:
    """The prepositions among these words; one stands for all that mean nearly the same."""
    return frozenset(_PREPOSITIONS[word] for word in words if word in _PREPOSITIONS)


def is_hearsay(sentence: str) -> bool:
    """Whether a sentence reports a rumour, a myth or fiction."""
    return bool(_HEARSAY.search(sentence))


def denies(text: str) -> bool:
    """Whether a sentence in one of a dozen languages contains a denial."""
    return bool(_DENIALS.search(text))
