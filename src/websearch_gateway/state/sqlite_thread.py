"""The one thread that talks to SQLite, so that the event loop never waits for a disk or a lock.

Verbs that wait at the same time run in one transaction, so a hundred take little longer than ten.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.sqlite_file import SqliteFile, is_damaged, is_locked, unusable

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

_MOST_PER_TRANSACTION = 128  # limits how long other processes wait for the lock


@dataclass(frozen=True, slots=True)
class _Job:
    """A verb to run on the connection, and the future for its result. A job without a verb ends the thread."""

    verb: Callable[[sqlite3.Connection], Any] | None
    writes: bool
    future: asyncio.Future[Any]


class SqliteThread:
    """Runs verbs in order on one connection. The first verb starts the thread.

    Args:
        path: the absolute path of the file.
        timeout_seconds: seconds to wait for another process's lock.
        cooldown_seconds: how long all verbs fail at once after such a timeout; otherwise the waiting verbs would time
            out one after the other.
    """

    def __init__(self, path: Path, *, timeout_seconds: float, cooldown_seconds: float) -> None:
        self._file = SqliteFile(path, timeout_seconds=timeout_seconds)
        self._cooldown_seconds = cooldown_seconds
        self._cooldown_until = 0.0
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def run(self, verb: Callable[[sqlite3.Connection], T], *, writes: bool) -> T:
        """Run `verb` and return its result. If the caller is cancelled, the verb still completes.

        Raises:
            StateUnavailable: the file cannot be used, or the thread was closed.
        """
        job = _Job(verb, writes, asyncio.get_running_loop().create_future())
        with self._lock:
            if self._closed:
                raise StateUnavailable("The state is closed.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="sqlite-state", daemon=True)
                self._thread.start()
            self._jobs.put(job)
        result: T = await job.future
        return result

    async def close(self) -> None:
        """Finish the waiting verbs, then close the file and end the thread. Idempotent."""
        with self._lock:
            if self._closed or self._thread is None:
                self._closed = True
                return
            self._closed = True
            end = _Job(None, False, asyncio.get_running_loop().create_future())
            self._jobs.put(end)
        await end.future

    def _work(self) -> None:
        while self._run_waiting_jobs():
            pass

    def _run_waiting_jobs(self) -> bool:
        """Run all waiting jobs. False after the job that ends the thread, which is always the last job."""
        jobs = self._next_jobs()
        verbs = [job for job in jobs if job.verb is not None]
        _deliver(verbs, self._outcomes(verbs))
        if len(verbs) == len(jobs):
            return True
        self._file.close()
        _deliver(jobs[-1:], [None])
        return False

    def _next_jobs(self) -> list[_Job]:
        """The next job and those queued behind it, up to _MOST_PER_TRANSACTION. Waits for the first."""
        jobs = [self._jobs.get()]
        while len(jobs) < _MOST_PER_TRANSACTION and not self._jobs.empty():
            jobs.append(self._jobs.get())
        return jobs

    def _outcomes(self, jobs: Sequence[_Job]) -> list[Any]:
        """The result of each job, or its exception."""
        together = self._in_one_transaction(jobs) if sum(job.writes for job in jobs) > 1 else None
        return [self._alone(job) for job in jobs] if together is None else together

    def _in_one_transaction(self, jobs: Sequence[_Job]) -> list[Any] | None:
        """All results; None if one job failed, which rolls all of them back."""
        if self._is_paused():
            return None
        try:
            connection = self._file.connection()
            with connection:  # commits, or rolls back
                connection.execute("BEGIN IMMEDIATE")
                return [job.verb(connection) for job in jobs if job.verb]
        except Exception as error:  # noqa: BLE001 - thread boundary; each job then runs alone and fails by itself
            self._translated(error)
            return None

    def _alone(self, job: _Job) -> Any:
        if self._is_paused():
            return StateUnavailable("The state file is locked by another process.")
        try:
            return job.verb(self._file.connection()) if job.verb else None
        except Exception as error:  # noqa: BLE001 - thread boundary; the caller gets the error
            return self._translated(error)

    def _is_paused(self) -> bool:
        return time.monotonic() < self._cooldown_until

    def _translated(self, error: Exception) -> Exception:
        """The error for the caller. Remembers a lock timeout or damage for the next verb."""
        import sqlite3

        if not isinstance(error, (sqlite3.Error, OSError)):
            return error
        if isinstance(error, sqlite3.Error) and is_locked(error):
            self._cooldown_until = time.monotonic() + self._cooldown_seconds
        if isinstance(error, sqlite3.Error) and is_damaged(error):
            self._file.close(damaged=True)
        unavailable = unusable(error)
        unavailable.__cause__ = error
        return unavailable


def _deliver(jobs: Sequence[_Job], outcomes: Sequence[Any]) -> None:
    """Pass the outcomes to the waiting event loops, waking each loop once."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
    for job, outcome in zip(jobs, outcomes, strict=True):
        by_loop.setdefault(job.future.get_loop(), []).append((job.future, outcome))
    for loop, settled in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed, so its callers are gone
            loop.call_soon_threadsafe(_settle, settled)


def _settle(settled: Sequence[tuple[asyncio.Future[Any], Any]]) -> None:
    for future, outcome in settled:
        if future.done():  # its caller was cancelled
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
