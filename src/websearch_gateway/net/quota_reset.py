"""Reads from reply headers other than `Retry-After` when an exhausted quota resets."""

from __future__ import annotations

import math
from collections.abc import Mapping

LONGEST_SECONDS = 86_400.0
"""The longest wait for a quota, in seconds. A header with a larger value gives a timestamp, not a duration."""


def seconds_until_reset(headers: Mapping[str, str], now: float) -> float:
    """Seconds until the quota that this reply exhausted resets, at most a day; 0 if no quota is exhausted.

    GitHub sends a timestamp (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), Reddit
    seconds.

    Args:
        headers: keys in lower case, or a case-insensitive mapping.
        now: seconds since the epoch.
    """
    try:
        remaining = float(headers["x-ratelimit-remaining"])
        reset = float(headers["x-ratelimit-reset"])
    except (KeyError, ValueError):
        return 0.0
    if not (remaining < 1 and math.isfinite(reset)):
        return 0.0
    return min(max(reset - now if reset > LONGEST_SECONDS else reset, 0.0), LONGEST_SECONDS)
