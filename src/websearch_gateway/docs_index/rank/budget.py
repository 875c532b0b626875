"""Divides the tokens of a reply among its results. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import add

LEAST_CONTENT = 60
"""The fewest tokens of text for a useful result."""

FIRST_SHARE = 0.15
"""The text of the first result gets at least this part of the reply: it should answer, not only point to an answer."""


def share_out(overheads: Sequence[int], wants: Sequence[int], most: int) -> list[int]:
    """The tokens of text for each result that fits, best first.

    Earlier results get more, in the proportion 1 : 1/2 : 1/3 ... Later results get the tokens that one does not need.
    The last results are left out if the first would get too little.

    Args:
        overheads: the tokens of each result besides its text.
        wants: the tokens of each whole text.
        most: the limit for the whole reply.
    """
    least = [min(want, max(LEAST_CONTENT, int(most * FIRST_SHARE / place))) for place, want in enumerate(wants, 1)]
    needs = accumulate(map(add, overheads, least))
    count = sum(need <= most for need in needs)
    left = most - sum(overheads[:count])
    shares = []
    for place in range(count):
        weight = 1 / (place + 1) / sum(1 / (later + 1) for later in range(place, count))
        reserved = sum(least[place + 1 : count])
        share = min(wants[place], max(least[place], min(int(left * weight), left - reserved)))
        shares.append(share)
        left -= share
    return shares
