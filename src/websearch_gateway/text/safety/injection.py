"""Detects text that gives orders to a language model. A match may cause a warning and exclude the text from answers,
but never blocks or deletes text that a caller reads.

Patterns find a small part of real attacks and flag some innocent text, so nothing may depend on them: the defence is
that all page text is passed on as quoted data.
"""

from __future__ import annotations

import functools
import re

_EARLIER = (
    r"(?:all|any|the|your|my|these|those|previous|prior|above|earlier|preceding|foregoing|initial|original|system)"
)
_ORDERS = r"(?:instructions?|prompts?|rules|directives|guidelines|constraints)"

# A speaker at the beginning of a line or cell, as in chat transcripts.
_ROLE = (
    r"(?:^|[\n|>\"'(\[])[ \t]{0,8}[*_#\[<]{0,4}[ \t]?%s(?:[ \t](?:message|prompt|note|override))?[*_\]>]{0,4}[ \t]?:"
)
_NEW_ROLE = r"(?:ignore|disregard|forget|override|from\s+now\s+on|new\s+(?:instructions?|rules|orders|task|role))\b"

_PATTERNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("gnore", "regard", "forget", "overr", "bypa"),
        rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:{_EARLIER}\s+(?:of\s+)?){{1,4}}{_ORDERS}\b",
    ),
    (
        ("prompt",),
        r"\b(?:reveal|print|repeat|output|show|leak)\s+(?:me\s+)?(?:your|the)\s+(?:hidden\s+|initial\s+)?"
        r"system\s+prompt\b",
    ),
    (
        ("now",),
        r"\byou\s+are\s+now\s+(?:dan\b|in\s+\w+\s+mode|an?\s+(?:unrestricted|unfiltered|jailbroken)|no\s+longer\s+bound)",
    ),
    (
        ("mode",),
        r"\b(?:enable|enter|activate)\s+(?:developer|dan|god|jailbreak)\s+mode\b"
        r".{0,80}\b(?:assistant|model|ai|chatgpt|you)\b",
    ),
    (("<", "[/", "[inst"), r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<</?SYS>>"),
    (("#",), r"^\s*#{2,}\s*(?:system|instruction)s?\s*:"),
    (
        ("the",),
        r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+user\b",
    ),
    (
        ("ystem", "developer"),
        _ROLE % "(?:system|developer)"
        + r"\s{0,8}[*_\"']{0,4}\s?(?:you(?:'re|\s+are|\s+must|\s+will|\s+should|\s+shall|\s+have\s+to)\b|act\s+as\b)",
    ),
    (
        ("now", "new", "gnore", "regard", "forget", "overr"),
        _ROLE % "(?:system|developer|assistant|human|user)" + rf"\s{{0,8}}{_NEW_ROLE}",
    ),
)
"""Patterns of orders, each after words of which every match contains one: searching for a word is much faster."""


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def suspicious(text: str) -> str | None:
    """A warning for the caller if the text reads like orders to a language model, else None."""
    folded = text.casefold()
    for words, pattern in _PATTERNS:
        if any(word in folded for word in words) and _compiled(pattern).search(text):
            return "The text reads like instructions to a language model; it was treated as plain text."
    return None
