"""Divides the tokens of a reply among its results. Pure."""

from __future__ import annotations

from collections.abc import Sequence

LEAST_CONTENT = 60
"""The fewest tokens of text for a useful result."""


def share_out(overheads: Sequence[int], wants: Sequence[int], most: int) -> list[int]:
    """The tokens of text for each result that fits, best first.

    Earlier results get more, in the proportion 1 : 1/2 : 1/3 ... Later results get the tokens that one does not need.

    Args:
        overheads: the tokens of each result besides its text.
        wants: the tokens of each whole text.
        most: the limit for the whole reply.
    """
    count = room = 0
    for overhead in overheads:
        if room + overhead + LEAST_CONTENT > most:
            break
        room += overhead + LEAST_CONTENT
        count += 1
    left = most - sum(overheads[:count])
    shares = []
    for place in range(count):
        weight = 1 / (place + 1) / sum(1 / (later + 1) for later in range(place, count))
        reserved = LEAST_CONTENT * (count - place - 1)
        share = min(wants[place], max(LEAST_CONTENT, min(int(left * weight), left - reserved)))
        shares.append(share)
        left -= share
    return shares
