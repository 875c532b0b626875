"""Notices a text that gives a language model orders. It may annotate, never block or delete.

Patterns find a small part of real attacks and flag some innocent text, so nothing may depend on them: the defence is
that page text is handed on as quoted data, whatever it says.
"""

from __future__ import annotations

import functools
import re

_EARLIER = (
    r"(?:all|any|the|your|my|these|those|previous|prior|above|earlier|preceding|foregoing|initial|original|system)"
)
_ORDERS = r"(?:instructions?|prompts?|rules|directives|guidelines|constraints)"

_PATTERNS = (
    rf"\b(?:ignore|disregard|forget|override|bypass)\s+(?:{_EARLIER}\s+(?:of\s+)?){{1,4}}{_ORDERS}\b",
    r"\b(?:reveal|print|repeat|output|show|leak)\s+(?:me\s+)?(?:your|the)\s+(?:hidden\s+|initial\s+)?system\s+prompt\b",
    r"\byou\s+are\s+now\s+(?:dan\b|in\s+\w+\s+mode|an?\s+(?:unrestricted|unfiltered|jailbroken)|no\s+longer\s+bound)",
    r"\b(?:enable|enter|activate)\s+(?:developer|dan|god|jailbreak)\s+mode\b.{0,80}\b(?:assistant|model|ai|chatgpt|you)\b",
    r"<\|?(?:im_start|im_end|system|endoftext)\|?>|\[/?INST\]|<</?SYS>>|^\s*#{2,}\s*(?:system|instruction)s?\s*:",
    r"\b(?:do\s+not|don't|never)\s+(?:tell|inform|mention\s+(?:this|it)\s+to)\s+the\s+user\b",
)


@functools.cache
def _any_pattern() -> re.Pattern[str]:
    return re.compile("|".join(_PATTERNS), re.IGNORECASE)


def suspicious(text: str) -> str | None:
    """A warning for the caller when the text reads like orders to a language model; None otherwise."""
    if _any_pattern().search(text):
        return "The text reads like instructions to a language model; it was treated as plain text."
    return None
