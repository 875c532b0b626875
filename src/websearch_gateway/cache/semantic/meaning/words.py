"""Reads the word lists of this package: words separated by spaces, one group per line."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def groups(text: str) -> list[list[str]]:
    """The words of each line that is not blank."""
    return [line.split() for line in text.splitlines() if line.strip()]
