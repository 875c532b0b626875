"""Logs, once a day each, that 80% and 100% of the daily budget are spent."""

from __future__ import annotations

import logging

LEVELS = (0.8, 1.0)
"""The shares of the budget that trigger an alert."""

_log = logging.getLogger(__name__)


class BudgetAlert:
    """Watches how much of `daily_usd` is spent per day (UTC). One per process; each process logs for itself."""

    def __init__(self, daily_usd: float) -> None:
        self._daily_usd = daily_usd
        self._logged: tuple[str, float] = ("", 0.0)

    def check(self, day: str, usd: float) -> None:
        """Log if the cost of `day`, including calls in flight, reaches a new level."""
        level = max((level for level in LEVELS if usd >= level * self._daily_usd), default=0.0)
        known_day, known_level = self._logged
        if level <= (known_level if day == known_day else 0.0):
            return
        self._logged = (day, level)
        _log.warning(
            "budget_%d_percent: $%.2f of DAILY_BUDGET_USD $%g is spent or reserved. It resets at 00:00 UTC.",
            round(level * 100),
            usd,
            self._daily_usd,
        )
