"""Copying a state: everything arrives, nothing is lost on the way, and not everybody may say where to."""

import pytest

from tests.clock import Clock
from websearch_gateway.admin import Migration
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError, StateUnavailable
from websearch_gateway.models import Caller, StateEntry
from websearch_gateway.state import open_state
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.sqlite import SqliteState

REMOTE = Caller("somebody", frozenset({"admin"}))


class Kept(MemoryState):
    """A target that can be read after the run."""

    async def close(self) -> None:
        """Stays."""


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture
def source(clock) -> MemoryState:
    return MemoryState(clock=clock)


@pytest.fixture
def target(clock) -> Kept:
    return Kept(clock=clock)


@pytest.fixture
def migration(source, target, tmp_path) -> Migration:
    return Migration(source, "memory://", lambda _: target, tmp_path)


async def content(state) -> list[StateEntry]:
    return [entry async for entry in state.entries("")]


async def filled(source, entries: int) -> None:
    for number in range(entries):
        await source.put(f"cache/exact/{number:04}", b"%d" % number, ttl=100)


async def test_every_live_entry_arrives_with_the_rest_of_its_time(migration, source, target, clock):
    await source.put("cache/exact/a", b"answer", ttl=300)
    await source.put("page/b", b"page")
    await source.put("cache/old", b"gone", ttl=5)
    await source.add("limit/c", 7, ttl=600)
    clock.now += 100
    before = await content(source)
    result = await migration.migrate("sqlite:///elsewhere.db")
    assert (result.copied, result.left_out, result.target) == (2, 0, "sqlite")
    assert await content(target) == [
        StateEntry("cache/exact/a", b"answer", 200.0),
        StateEntry("page/b", b"page", None),
    ]
    assert await content(source) == before


async def test_the_next_complete_run_brings_what_changed(migration, source, target):
    await filled(source, 50)
    await migration.migrate("firestore://elsewhere/x")
    await source.put("cache/exact/0007", b"newer", ttl=100)
    assert (await migration.migrate("firestore://elsewhere/x")).copied == 50
    assert await content(target) == await content(source)


async def test_an_entry_that_does_not_arrive_whole_ends_the_run(migration, source, target, monkeypatch):
    await source.put("cache/exact/secret", b"answer")
    monkeypatch.setattr(target, "get", _always(b"answ"))
    with pytest.raises(StateUnavailable, match="differs in the target") as caught:
        await migration.migrate("firestore://elsewhere/x")
    assert "secret" not in caught.value.message


def _always(value: bytes):
    async def get(key: str) -> bytes | None:
        return value

    return get


async def test_an_entry_that_expires_under_way_is_no_loss(migration, source, clock, target, monkeypatch):
    await source.put("cache/exact/a", b"answer", ttl=1)
    entries = source.entries

    async def late(prefix: str):
        async for entry in entries(prefix):
            yield StateEntry(entry.key, entry.value, 0.0)

    monkeypatch.setattr(source, "entries", late)
    result = await migration.migrate("firestore://elsewhere/x")
    assert (result.copied, result.left_out) == (0, 1)


async def test_the_state_in_use_is_no_target(migration):
    with pytest.raises(SearchValidationError, match="in use"):
        await migration.migrate(" memory:// ")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@db.example/x",
        "firestore://other-project/x",
        "memory://",
        "sqlite:////etc/cron.d/x",
        "sqlite:///../x.db",
        "sqlite:///folder/x.db",
        "sqlite:///.hidden",
    ],
)
async def test_a_caller_from_elsewhere_cannot_send_the_cache_anywhere(source, tmp_path, url):
    """Ours: all that the users asked would go to any database that the caller names."""
    migration = Migration(source, "sqlite:///here.db", open_state, tmp_path)
    with pytest.raises(ForbiddenUrlError, match="data folder") as caught:
        await migration.migrate(url, REMOTE)
    assert "hunter2" not in caught.value.message
    assert list(tmp_path.iterdir()) == []


async def test_a_caller_from_elsewhere_can_name_a_file_in_the_data_folder(source, tmp_path):
    await source.put("cache/a", b"v")
    result = await Migration(source, "memory://", open_state, tmp_path).migrate("sqlite:///copy-2.db", REMOTE)
    assert (result.copied, result.target) == (1, "sqlite")
    copy = SqliteState(tmp_path / "copy-2.db")
    assert await content(copy) == [StateEntry("cache/a", b"v")]
    await copy.close()
