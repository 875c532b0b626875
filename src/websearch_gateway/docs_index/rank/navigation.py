"""Distinguishes lists of links, such as tables of contents and indexes, from text. Pure."""

from __future__ import annotations

from websearch_gateway.text.markdown import LINK

SHARE = 0.7
"""A section with at least this share of its letters in links is navigation."""

LEAST_LETTERS = 100
MOST_CHARS_PER_LINK = 400
"""A text with more characters for each of its links is not navigation."""


def is_navigation(markdown: str) -> bool:
    """Whether a section is navigation rather than text."""
    if MOST_CHARS_PER_LINK * markdown.count("](") < len(markdown):
        return False
    texts: list[str] = []
    rest = LINK.sub(lambda link: texts.append(link[1]) or "", markdown)  # type: ignore[func-returns-value]
    linked = _letters("".join(texts))
    return linked >= LEAST_LETTERS and linked > SHARE * (linked + _letters(rest))


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
