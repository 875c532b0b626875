"""When a quota that is used up is there again, as replies tell it beside `Retry-After`."""

from __future__ import annotations

import math
from collections.abc import Mapping

LONGEST_SECONDS = 86_400.0
"""More than this is a moment and not a while, and no quota is waited for any longer."""


def seconds_until_reset(headers: Mapping[str, str], now: float) -> float:
    """Seconds until a quota that this reply used up is there again, at most a day; 0 when none is used up.

    GitHub tells the moment (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api), Reddit the
    seconds.

    Args:
        headers: keys in lower case, or without regard to case.
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
