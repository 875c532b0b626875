"""Finds the blocks of a page that are comments or ask for consent, by the classes and ids of the elements around."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import Outline

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.select import Mask

_COMMENTS = re.compile(r"comment|disqus|respond\b|replies", re.IGNORECASE)
_CONSENT = re.compile(
    r"(?<![\w-])(?:cookie(?!s?(?:\s|$))|onetrust|cybot|didomi|gdpr|cmplz|borlabs|usercentrics|iubenda)", re.IGNORECASE
)
"""The names that managers of consent give to their boxes; a shop of cookies has names that only end in it."""

_BLOCKS = frozenset(("div", "section", "article", "aside", "ol", "ul", "li"))


def in_comments(page: Outline) -> Mask:
    """For each block, whether an element around it has a class or id for comments."""
    return _inside(page, _COMMENTS, len(page.blocks))


def in_consent(page: Outline) -> Mask:
    """For each block, whether an element around it, with at most half of all blocks, asks for consent to cookies."""
    return _inside(page, _CONSENT, len(page.blocks) // 2)


def _inside(page: Outline, names: re.Pattern[str], most: int) -> Mask:
    import numpy as np

    inside = np.zeros(len(page.blocks), dtype=np.bool_)
    for container in page.containers:
        if container.end - container.start <= most and _is_named(container.element, names):
            inside[container.start : container.end] = True
    return inside


def _is_named(element: Any, names: re.Pattern[str]) -> bool:
    return element.tag in _BLOCKS and bool(names.search(f"{element.get('class', '')} {element.get('id', '')}"))
