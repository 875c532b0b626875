"""Fixtures for the tests of every backend: a clock, and real servers for the backends that need one."""

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from tools.servers import FirestoreEmulator, NotHere, firestore_emulator
from websearch_gateway.ports import State
from websearch_gateway.state.firestore import FirestoreState
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import SpareState
from websearch_gateway.state.postgres import PostgresState
from websearch_gateway.state.sqlite import SqliteState

PATIENCE = 20.0
"""Seconds: tests run on busy machines, and those of impatience set their own."""


@pytest.fixture(scope="session")
def _running_emulator() -> Iterator[FirestoreEmulator]:
    try:
        with firestore_emulator() as emulator:
            yield emulator
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture
def emulator(_running_emulator, monkeypatch) -> FirestoreEmulator:
    """The Firestore emulator, which Google's library finds by itself."""
    monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", _running_emulator.host)
    return _running_emulator


@pytest.fixture
def prefix() -> str:
    """Collections that no other test has."""
    return f"test-{uuid.uuid4().hex}"


@pytest.fixture
def memory_state(clock) -> State:
    return MemoryState(clock=clock)


@pytest.fixture
async def sqlite_state(tmp_path, clock) -> AsyncIterator[State]:
    state = SqliteState(tmp_path / "state.db", clock=clock)
    yield state
    await state.close()


@pytest.fixture
async def spare_state(tmp_path, clock) -> AsyncIterator[State]:
    state = SpareState(SqliteState(tmp_path / "state.db", clock=clock), clock=clock)
    yield state
    await state.close()


@pytest.fixture
async def spare_memory_state(tmp_path, clock) -> AsyncIterator[State]:
    """A SpareState whose file cannot be made."""
    (tmp_path / "file").touch()
    state = SpareState(SqliteState(tmp_path / "file" / "state.db", clock=clock), clock=clock)
    yield state
    await state.close()


@pytest.fixture
async def postgresql_state(postgresql_server, clock) -> AsyncIterator[State]:
    state = PostgresState(postgresql_server.url, clock=clock, timeout_seconds=PATIENCE)
    await state._fetch("TRUNCATE websearch_state", {})
    yield state
    await state.close()


@pytest.fixture
async def firestore_state(emulator, prefix, clock) -> AsyncIterator[State]:
    state = FirestoreState("demo-gateway", prefix, clock=clock, timeout_seconds=PATIENCE)
    yield state
    await state.close()


@pytest.fixture
def sqlite_url(tmp_path) -> str:
    return f"sqlite:///{tmp_path / 'state.db'}"


@pytest.fixture
async def postgresql_url(postgresql_state, postgresql_server) -> str:
    """The server's, with an empty table."""
    return postgresql_server.url


@pytest.fixture
def firestore_url(emulator, prefix) -> str:
    return f"firestore://demo-gateway/{prefix}"


@pytest.fixture(params=["sqlite", "postgresql", "firestore"])
def shared_url(request) -> str:
    """STATE_URL of an empty state that several processes can share."""
    return request.getfixturevalue(f"{request.param}_url")
