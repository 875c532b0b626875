"""Times that are long enough for a busy machine: a test must not fail because it got little of the processor.

A test of a deadline sets its own, long enough for what has to happen before it.
"""

from __future__ import annotations

import asyncio

import pytest

from websearch_gateway.admin import cache, doctor, operations
from websearch_gateway.pipeline import fallback, page_reads, web_search
from websearch_gateway.upstream import ledger, search_fallback
from websearch_gateway.upstream.best_effort import BestEffort

PATIENCE = 600.0
"""Seconds: the longest wait for what a healthy system does soon, such as the end of a process or of a request."""

PATIENT = {"SEARCH_DEADLINE_SECONDS": "120", "REQUEST_TIMEOUT_MS": "120000"}
"""Deadlines of a healthy gateway, by their environment names. Longer than `Sandbox.wait_for` waits, so that no deadline
hides its event."""

PATIENT_PROCESS = {"SEARCH_DEADLINE_SECONDS": "300", "REQUEST_TIMEOUT_MS": "300000"}
"""The same for a process that first has to import everything."""


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the parts of a gateway in this process more time than an agent would wait for."""
    # The first of nine providers would have a ninth of the time.
    monkeypatch.setattr(search_fallback, "LEAST_SHARE_SECONDS", 10.0)
    for module, name in (
        (fallback, "PAGE_SECONDS"),
        (web_search, "PAGE_SECONDS"),
        (page_reads, "GRACE_SECONDS"),
        (ledger, "_STATE_SECONDS"),
        (operations, "_STATE_SECONDS"),
        (cache, "COUNTING_SECONDS"),
        (doctor, "PROBE_SECONDS"),
    ):
        monkeypatch.setattr(module, name, 60.0)
    wait_for_state(monkeypatch, 60.0)


def wait_for_state(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Change how long a caller waits for the state if it can do without."""
    monkeypatch.setitem(BestEffort.__call__.__kwdefaults__, "seconds", seconds)


async def nothing_else() -> None:
    """Wait until no other task runs: those that the object under test began in the background have ended."""
    async with asyncio.timeout(PATIENCE):
        while len(asyncio.all_tasks()) > 1:  # noqa: ASYNC110 - nobody gives these tasks out
            await asyncio.sleep(0)
