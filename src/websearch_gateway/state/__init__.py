"""Backends for the five verbs of `ports.State`, each in one file, file prefix or folder; only BACKENDS lists them.

To add one, follow docs/adding-a-state-backend.md. Policy (limits, caches, budgets) belongs elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from websearch_gateway.errors import SearchNotConfiguredError
from websearch_gateway.ports import State
from websearch_gateway.state.firestore import FirestoreState
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.postgres import PostgresState
from websearch_gateway.state.sqlite import SqliteState

_log = logging.getLogger(__name__)

BACKENDS: Mapping[str, Callable[[str], State]] = {
    "memory": MemoryState.from_location,  # one process, lost when it ends
    "sqlite": SqliteState.from_location,  # one machine, any number of processes
    "postgresql": PostgresState.from_location,  # any number of machines; needs the extra `postgres`
    "firestore": FirestoreState.from_location,  # machines and Cloud Functions, any number; needs the extra `firestore`
}
"""Creates a backend from the part of `STATE_URL` after `://`; the key is the scheme."""


def open_state(url: str) -> State:
    """The backend that `url` names, such as `sqlite:///PATH` or `memory://`. The first verb opens it.

    Raises:
        SearchNotConfiguredError: the scheme is unknown, its extra is not installed, or the URL lacks a part.
    """
    scheme, _, location = url.partition("://")
    backend = BACKENDS.get(scheme.lower())
    if backend is None:  # the message omits the URL, which may hold a password
        known = ", ".join(f"{name}://" for name in BACKENDS)
        raise SearchNotConfiguredError(f"STATE_URL must begin with one of {known}.")
    _log.debug("state: %s", scheme.lower())
    return backend(location)
