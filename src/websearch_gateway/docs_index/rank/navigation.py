"""Distinguishes lists of links, such as tables of contents and indexes, from text. Pure."""

from __future__ import annotations

from websearch_gateway.text.markdown import LINK

SHARE = 0.7
"""A section with at least this share of its letters in links is navigation."""

LEAST_LETTERS = 100
LONGEST_ENTRY = 400
"""The average characters of a link with its address, in a list that could be navigation."""


def is_navigation(markdown: str) -> bool:
    """Whether a section is navigation rather than text."""
    if LONGEST_ENTRY * markdown.count("](") < len(markdown):
        return False
    linked = sum(_letters(text) for text, *_ in LINK.findall(markdown))
    return linked >= LEAST_LETTERS and linked > SHARE * (linked + _letters(LINK.sub("", markdown)))


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
