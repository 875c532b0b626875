"""Copying a state: everything arrives, nothing is lost on the way, and not everybody may say where to."""

import asyncio
import subprocess
import sys

import pytest

from tests.clock import Clock
from websearch_gateway.admin.migration import Migration
from websearch_gateway.errors import ForbiddenUrlError, SearchValidationError, StateUnavailable
from websearch_gateway.models import LOCAL, Caller, StateEntry
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import open_state
from websearch_gateway.state.sqlite import SqliteState

REMOTE = Caller("somebody", frozenset({"admin"}))


class Failing(MemoryState):
    """A target that breaks off after so many values, and counts them."""

    puts = 0
    allowed = 10**9

    async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
        self.puts += 1
        if self.puts > self.allowed:
            raise StateUnavailable("The target is gone.")
        await super().put(key, value, ttl)

    async def close(self) -> None:
        """Stays for the next run."""


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000.0)


@pytest.fixture
def source(clock) -> MemoryState:
    return MemoryState(clock=clock)


@pytest.fixture
def target(clock) -> Failing:
    return Failing(clock=clock)


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
    assert (result.copied, result.counters, result.resumed, result.target) == (
        2,
        0,
        False,
        "sqlite",
    )
    assert await content(target) == [
        StateEntry("cache/exact/a", b"answer", 200.0),
        StateEntry("page/b", b"page", None),
    ]
    assert await content(source) == before


async def test_counters_go_along_when_asked_and_replace_none(migration, source, target):
    await source.add("ledger/1", 7, ttl=600)
    await source.add("ledger/2", 8, ttl=600)
    await target.add("ledger/2", 100)
    for _ in range(2):
        result = await migration.migrate("postgresql://elsewhere", counters=True)
    assert (result.counters, result.already_there) == (0, 2)
    assert await content(target) == [
        StateEntry("ledger/1", b"7", 600.0, counts=True),
        StateEntry("ledger/2", b"100", None, counts=True),
    ]


async def test_an_interrupted_run_goes_on_where_it_was(migration, source, target):
    await filled(source, 200)
    target.allowed = 120
    with pytest.raises(StateUnavailable, match="gone"):
        await migration.migrate("firestore://elsewhere/x")
    target.puts, target.allowed = 0, 10**9
    result = await migration.migrate("firestore://elsewhere/x")
    assert result.resumed
    assert result.copied <= 200 - 96
    assert await content(target) == await content(source)


async def test_a_target_that_was_emptied_meanwhile_gets_everything_again(migration, source, target):
    await filled(source, 200)
    target.allowed = 120
    with pytest.raises(StateUnavailable):
        await migration.migrate("firestore://elsewhere/x")
    async for key, _ in target.scan(""):
        await target.delete(key)
    target.allowed = 10**9
    result = await migration.migrate("firestore://elsewhere/x")
    assert (result.copied, result.resumed) == (200, False)


async def test_the_next_complete_run_brings_what_changed(migration, source, target):
    await filled(source, 50)
    await migration.migrate("firestore://elsewhere/x")
    await source.put("cache/exact/0007", b"newer", ttl=100)
    assert (await migration.migrate("firestore://elsewhere/x")).copied == 50
    assert await content(target) == await content(source)


async def test_an_entry_that_does_not_arrive_whole_ends_the_run(
    migration, source, target, monkeypatch
):
    await source.put("cache/exact/secret", b"answer")
    monkeypatch.setattr(target, "get", _always(b"answ"))
    with pytest.raises(StateUnavailable, match="differs in the target") as caught:
        await migration.migrate("firestore://elsewhere/x")
    assert "secret" not in caught.value.message


def _always(value: bytes):
    async def get(key: str) -> bytes | None:
        return None if key.startswith("migration/") else value

    return get


async def test_an_entry_that_expires_under_way_is_no_loss(
    migration, source, clock, target, monkeypatch
):
    await source.put("cache/exact/a", b"answer", ttl=1)
    entries = source.entries

    async def late(prefix: str, after: str):
        async for entry in entries(prefix, after):
            yield StateEntry(entry.key, entry.value, 0.0)

    monkeypatch.setattr(source, "entries", late)
    result = await migration.migrate("firestore://elsewhere/x")
    assert (result.copied, result.expired) == (0, 1)


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
    result = await Migration(source, "memory://", open_state, tmp_path).migrate(
        "sqlite:///copy-2.db", REMOTE
    )
    assert (result.copied, result.target) == (1, "sqlite")
    copy = SqliteState(tmp_path / "copy-2.db")
    assert await content(copy) == [StateEntry("cache/a", b"v")]
    await copy.close()


KILLED = """
import asyncio, pathlib, sys
from websearch_gateway.admin.migration import Migration
from websearch_gateway.state.opening import open_state

async def main():
    source = open_state(sys.argv[1])
    print("begun", flush=True)
    await Migration(source, sys.argv[1], open_state, pathlib.Path()).migrate(sys.argv[2])

asyncio.run(main())
"""


async def test_a_run_that_is_killed_goes_on_too(tmp_path):
    source_url, target_url = (f"sqlite:///{tmp_path / name}" for name in ("source.db", "target.db"))
    source, target = open_state(source_url), open_state(target_url)
    await asyncio.gather(*(source.put(f"page/{number:05}", b"v" * 500) for number in range(5_000)))
    command = [sys.executable, "-c", KILLED, source_url, target_url]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert await child.stdout.readline() == b"begun\n"
    while not [key async for key, _ in target.scan("migration/")]:
        assert child.returncode is None
    child.kill()
    await child.communicate()
    result = await Migration(source, source_url, open_state, tmp_path).migrate(target_url, LOCAL)
    assert result.resumed
    assert 0 < result.copied < 5_000
    assert await content(target) == await content(source)
    await asyncio.gather(source.close(), target.close())
