"""Calls to the shared state that may fail without failing the caller: an unreadable cache is a miss."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from websearch_gateway.errors import StateUnavailable

T = TypeVar("T")


_log = logging.getLogger(__name__)

WAIT_SECONDS = 0.5
"""The longest wait for the state if the caller already has its result (seconds)."""


class BestEffort:
    """Runs calls to the state. Logs a warning for the first failure of an outage only.

    Args:
        loss: the effect of an outage, which begins the log line: `Answers are cached in this process only`.
    """

    def __init__(self, loss: str) -> None:
        self._loss = loss
        self._is_down = False

    async def __call__(
        self, use: Callable[[], Awaitable[T]], otherwise: T, *, seconds: float | None = WAIT_SECONDS
    ) -> T:
        """The result of `use()`; `otherwise` if the state fails or takes too long.

        `seconds` is the longest wait; with None only the backend's own time limit applies.
        """
        try:
            async with asyncio.timeout(seconds):
                result = await use()
        except StateUnavailable as error:
            return self._failed(error.message, otherwise)
        except TimeoutError:
            return self._failed(f"no answer within {seconds:g} s.", otherwise)
        self._is_down = False
        return result

    def _failed(self, reason: str, otherwise: T) -> T:
        if not self._is_down:
            self._is_down = True
            _log.warning("%s: %s", self._loss, reason)
        return otherwise
