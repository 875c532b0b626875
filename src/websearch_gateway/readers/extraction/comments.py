"""Finds the blocks of a page that are comments of its readers, by the classes and ids of the elements around them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import Outline

if TYPE_CHECKING:
    from websearch_gateway.readers.extraction.select import Mask

_NAMES = re.compile(r"comment|disqus|respond\b|replies", re.IGNORECASE)
_BLOCKS = frozenset(("div", "section", "article", "aside", "ol", "ul", "li"))


def in_comments(page: Outline) -> Mask:
    """For each block, whether an element around it has a class or id for comments."""
    import numpy as np

    inside: list[bool] = []
    for place, container in enumerate(page.containers):
        around = container.parent != place and inside[container.parent]
        inside.append(around or _holds_comments(container.element))
    return np.array([inside[block.place] for block in page.blocks], dtype=np.bool_)


def _holds_comments(element: Any) -> bool:
    return element.tag in _BLOCKS and bool(_NAMES.search(f"{element.get('class', '')} {element.get('id', '')}"))
