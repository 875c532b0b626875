"""A small language for patterns of English words, in which routes recognise questions; and what a question is.

The patterns are laid out in columns: white space in them is ignored, and `_` matches a space. They are matched on the
`query.matching_form` of a query: lower case, no accents, one width.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled on first use: all of them take 30 ms, which would delay the start."""
    return re.compile(pattern, re.IGNORECASE)


def has(pattern: str, form: str) -> bool:
    """Whether a pattern matches anywhere in a query."""
    return compiled(pattern).search(form) is not None


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches a query if `subject` and `cue` (if any) match, and `unless` (if any) does not."""

    subject: str
    cue: str = ""
    unless: str = ""

    def asks(self, form: str) -> bool:
        """Whether the query asks for this rule's data."""
        if not has(self.subject, form) or (self.cue and not has(self.cue, form)):
            return False
        return not (self.unless and has(self.unless, form))


def words(*patterns: str) -> str:
    """Any of the patterns, as whole words."""
    return r"\b(?:" + "".join("|".join(patterns).split()).replace("_", " ") + r")(?!\w)"


GAP = r"[\W\x5f]"


def spelled(word: str) -> str:
    """`word`, also with spaces or dots between its letters: `rss`, `R.S.S`, `r s s`."""
    return f"{GAP}*".join(word)


_PREAMBLE = r"""(?:
    please | hey | hi | hello | ok(?:ay)? | so | and | but | also | well | explain | describe | find_out | tell_me
    | do_you_know | (?:i_)?wonder(?:ing)?(?:_if)? | i_(?:want|need|would_like|'?d_like)_to_(?:know|learn|understand)
    | (?:can|could|would)_you_(?:please_)?(?:explain|describe|tell_me) )"""
QUESTION = words(
    rf"""(?:(?:^|[.!?;]\s)\W*(?:{_PREAMBLE}\W+)*
        (?:what(?:'?s)?|which|who(?:'?s)?|whom|whose|when|where|is|are|am|was|were|do|does|did|can|could|should|would
        |will|has|have|had|may|might|how|why|explain|define|describe))
    | why | what_is_it | what_(?:is|are)_an? | (?:steps|ways?|guide)_to
    | how(?!_(?:likely|many|much|high|low|far|long|soon)\b)"""
)
REQUEST = r"""(?:can|could|would|will)_(?:you|u|we)_(?:please_)?
    (?:get|give|show|fetch|pull|find|list|check|bring|look_up|load|grab|read|tell_me)
    (?!.*\b(?:how|why|whether|articles?|papers?|documentation|tutorials?|explain|about)\b) .*"""
"""A question in form, a request for data in meaning."""
