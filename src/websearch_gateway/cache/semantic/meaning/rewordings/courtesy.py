"""Removes courtesies around a question: greetings, "could you please explain", "thanks"."""

from __future__ import annotations

import re

_HELLO = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|afternoon|evening)|quick question)(?: there| all| everyone)?[,!.:]+ *", re.I
)
_ASKED = r"(?=how|what|why|when|where|who|which)"
_EMBEDDING = re.compile(
    rf"""^(?:
        (?:so|ok|okay|well),\ +
      | please,?\ +(?!please\b)
      | (?:can|could|would|will)\ (?:you|anyone|someone|somebody)\ (?:please\ |kindly\ )*
        (?:explain(?:\ to\ me)?|tell\ me|show\ me|help\ me\ (?:to\ )?(?:find|understand|figure\ out))\ +
      | (?:please\ )?(?:help\ me\ (?:to\ )?(?:understand|figure\ out)|explain\ to\ me)\ +
      | explain\ {_ASKED}
      | i(?:'m|\ am|\ was|\ have\ been|'ve\ been|)\ (?:just\ |also\ )?(?:wondering|wonder|curious)\ +
      | i(?:'d|\ would|)\ (?:like|want|need|wish|love)\ to\ (?:know|find\ out|learn|understand)\ (?:{_ASKED}|(?=the\b))
      | (?:do\ you|does\ any(?:one|body)|do\ any\ of\ you)\ (?:happen\ to\ )?know\ {_ASKED}
      | any\ ideas?\ {_ASKED}
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_EMBEDDED = re.compile(
    r"^(what|who|where|when|why|how(?: (?:tall|old|big|large|long|far|deep|high|heavy|fast|wide|hot|much|many))?) "
    r"(?!to\b|is\b|are\b|was\b|were\b|do\b|does\b|did\b)(.+) (is|are|was|were)$",
    re.IGNORECASE,
)
_HOW_IT_WORKS = re.compile(r"^how (?!to\b|do\b|does\b|did\b)(.+) works$", re.IGNORECASE)
_THANKS = re.compile(
    r"(?:[,.;!?]+ *(?:please|pls|thanks|thank you|thx|cheers)(?: (?:in advance|so much|a lot|very much|all))?)+[ .!]*$",
    re.I,
)


def without_courtesies(text: str) -> str:
    """The question without courtesies.

    An embedded question gets the word order of a direct one: "i was wondering how old x is" -> "how old is x".
    """
    start = text.strip().replace("’", "'")
    bare = _HELLO.sub("", _THANKS.sub("", start))
    while found := _EMBEDDING.match(bare):
        bare = bare[found.end() :]
    direct = _HOW_IT_WORKS.sub(r"how does \1 work", bare.rstrip(" ?.!"))
    if bare == start or not bare:
        return direct if direct.endswith(" work") else text
    return _EMBEDDED.sub(r"\1 \3 \2", direct)
