"""Rate limits: may this caller ask now?

A window begins with the first call in it and lasts its whole length; then the count starts anew. That is exact with one
atomic addition per call, however many processes share the state. Its price is known: whoever waits for the end of a
window can make up to twice the limit in a short time, once. A refused call is not counted towards the next window.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import Caller
from websearch_gateway.pipeline.tracing import stage
from websearch_gateway.ports import State

if TYPE_CHECKING:
    from websearch_gateway.pipeline.quota import Quota

_log = logging.getLogger(__name__)


class Admission:
    """The gate before every search. When the state is out of reach it counts in this process alone.

    Args:
        per_user: calls of one user, as `N/PERIOD` (`20/10minutes`); empty for no limit.
        overall: calls of all users together, likewise.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        state: State,
        per_user: str = "20/10minutes",
        overall: str = "",
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._state = state
        self._per_user = per_user
        self._overall = overall
        self._clock = clock
        self._quota: Quota | None = None
        self._outage_told = False

    @stage("admit")
    async def admit(self, caller: Caller) -> None:
        """Count one call of `caller`.

        Raises:
            SearchRateLimitError: the limit is reached; `retry_after` is the rest of the window in whole seconds.
            SearchNotConfiguredError: RATE_LIMIT or GLOBAL_RATE_LIMIT is not of the form `N/PERIOD`.
        """
        if not self._per_user and not self._overall:
            return
        quota = await self._loaded()
        # Nobody should read who asked out of the state.
        user = hashlib.blake2b(caller.user.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        try:
            await quota.charge(user)
        except StateUnavailable as error:
            if not self._outage_told:
                self._outage_told = True
                _log.warning("Rate limits are counted in this process only: %s", error.message)
            await quota.charge_here(user)

    async def warm_up(self) -> None:
        """Load what the first call would wait for.

        Raises:
            SearchNotConfiguredError: as `admit`.
        """
        await self._loaded()

    async def _loaded(self) -> Quota:
        if self._quota is None:
            quota = await asyncio.to_thread(self._make_quota)
            self._quota = self._quota or quota
        return self._quota

    def _make_quota(self) -> Quota:
        # In a thread, and with the first call: `limits` takes its time to import.
        from websearch_gateway.pipeline.quota import Quota

        return Quota(self._state, self._per_user, self._overall, self._clock)
