"""The risks of the Firestore backend alone: half-written values, races, silent servers, foreign documents."""

import ast
import asyncio
import itertools
import json
import os
import re
import signal
import tracemalloc
import zlib
from pathlib import Path

import pytest
from google.cloud.firestore import AsyncClient

from tests.state.counting_proxy import CountingProxy
from tools.servers import firestore_emulator
from websearch_gateway.errors import StateUnavailable
from websearch_gateway.state.firestore import DEFAULT_PREFIX, KINDS, OTHER, FirestoreState
from websearch_gateway.state.opening import open_state

ROOT = Path(__file__).parents[2]
PROJECT = "demo-gateway"
PATIENCE = 20.0
NOT_KINDS = {"calls", "text", "took", "usd"}


@pytest.fixture
async def proxy(emulator, monkeypatch):
    """A server that returns the result of an increment, as the real one does and the emulator does not."""
    async with CountingProxy(emulator.host) as started:
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", started.host)
        yield started


@pytest.fixture
async def library(emulator):
    """Google's own client, which reads the documents without the backend."""
    client = AsyncClient(project=PROJECT)
    yield client
    await client._firestore_api.transport.close()


async def documents(library, collection):
    return {
        document.id: document.to_dict()
        async for document in library.collection(collection).stream()
    }


class TestCountersOfTheRealService:
    async def test_an_addition_is_one_request(self, proxy, prefix):
        state = FirestoreState(PROJECT, prefix, timeout_seconds=PATIENCE)
        await state.add("n/1")
        proxy.calls.clear()
        assert [await state.add("n/1"), await state.add("n/1", 5)] == [2, 7]
        assert proxy.calls == {"Commit": 2}
        await state.close()

    async def test_a_hundred_additions_at_once_are_a_handful_of_requests(self, proxy, prefix):
        state = FirestoreState(PROJECT, prefix, timeout_seconds=PATIENCE)
        assert sorted(await asyncio.gather(*(state.add("n/1") for _ in range(100)))) == list(
            range(1, 101)
        )
        assert proxy.calls["Commit"] <= 5
        await state.close()

    @pytest.mark.parametrize("before", ["nothing", "expired counter", "value"])
    async def test_no_addition_of_four_instances_is_lost(self, proxy, prefix, clock, before):
        states = [
            FirestoreState(PROJECT, prefix, clock=clock, timeout_seconds=PATIENCE) for _ in range(4)
        ]
        if before == "expired counter":
            await states[0].add("n/1", 1_000, ttl=5)
            clock.now += 5
        elif before == "value":
            await states[0].put("n/1", b"1000")
        counts = await asyncio.gather(
            *(state.add("n/1", ttl=60) for _ in range(25) for state in states)
        )
        assert sorted(counts) == list(range(1, 101))
        assert await states[0].get("n/1") == b"100"
        clock.now += 60
        assert await states[0].get("n/1") is None
        await asyncio.gather(*(state.close() for state in states))

    async def test_a_write_that_lost_a_race_is_retried(self, proxy, prefix):
        """In Firestore, ABORTED means that nothing was written."""
        state = FirestoreState(PROJECT, prefix, timeout_seconds=PATIENCE)
        for verb in (state.add("n"), state.add("n"), state.put("k", b"v"), state.delete("k")):
            proxy.aborts = 2
            await verb
        assert await state.add("n") == 3
        await state.close()

    async def test_only_the_first_addition_sets_the_ttl(self, proxy, prefix, clock):
        state = FirestoreState(PROJECT, prefix, clock=clock, timeout_seconds=PATIENCE)
        await state.add("n", ttl=10)
        clock.now += 9
        assert await state.add("n", ttl=10) == 2
        clock.now += 1
        assert await state.add("n", -3, ttl=10) == -3
        assert await state.add("n", 1, ttl=10) == -2
        await state.close()


async def test_a_value_that_no_document_holds_is_not_stored(firestore_state):
    await firestore_state.put("page/1", b"old")
    await firestore_state.put("page/1", os.urandom(1_000_000))
    assert await firestore_state.get("page/1") is None


async def test_a_scan_unpacks_one_large_value_at_a_time(firestore_state):
    for number in range(4):
        await firestore_state.put(f"page/{number}", bytes(20_000_000))
    tracemalloc.start()
    sizes = [len(value) async for _, value in firestore_state.scan("page/")]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == [20_000_000] * 4
    assert most < 70_000_000  # its own buffers grow by doubling


class TestCollections:
    async def test_each_kind_has_its_own_collection_and_odd_keys_share_one(
        self, firestore_state, library, prefix
    ):
        for key in ("cache/exact/1", "limit/2", "plain", "Odd kind/3", "9/4"):
            await firestore_state.put(key, b"v")
        sizes = {
            kind: len(await documents(library, f"{prefix}_{kind}"))
            for kind in ("cache", "limit", "other")
        }
        assert sizes == {"cache": 1, "limit": 1, "other": 3}

    async def test_every_document_expires_by_the_field_of_the_policy(
        self, firestore_state, library, prefix, clock
    ):
        await firestore_state.put("k/value", b"v", ttl=10)
        await firestore_state.add("k/counter", ttl=10)
        await firestore_state.add("k/counter", ttl=10)
        moments = [
            document["expiresAt"].timestamp()
            for document in (await documents(library, f"{prefix}_other")).values()
        ]
        assert moments == [clock.now + 10] * 2

    async def test_documents_of_others_are_ignored(self, firestore_state, library, prefix):
        await firestore_state.put("k/1", b"v")
        ours = (await documents(library, f"{prefix}_other")).popitem()[1]
        strange = [
            {},
            {"key": "k/2"},
            ours | {"value": "text"},
            ours | {"packed": True},
            ours | {"packed": True, "value": zlib.compress(b"half of it")[:-6]},
        ]
        for number, fields in enumerate(strange):
            await library.collection(f"{prefix}_other").document(f"strange{number}").set(fields)
        assert [entry async for entry in firestore_state.scan("k/")] == [("k/1", b"v")]


class TestTrouble:
    async def test_a_silent_server_costs_one_timeout_and_then_nothing_until_it_recovers(
        self, emulator, monkeypatch, prefix
    ):
        """On a separate emulator, which can be stopped; the fixture `emulator` skips the test without one."""
        with firestore_emulator() as own:
            monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", own.host)
            state = FirestoreState(PROJECT, prefix, timeout_seconds=5, cooldown_seconds=600)
            await state.put("k/secret", b"v")
            own.process.send_signal(signal.SIGSTOP)
            with pytest.raises(StateUnavailable, match="did not answer within"):
                await state.get("k/secret")
            for verb in (
                state.add("k/secret"),
                state.put("k/secret", b"w"),
                state.delete("k/secret"),
            ):
                with pytest.raises(StateUnavailable, match="a moment ago") as caught:
                    await verb
                assert "secret" not in str(caught.value)
            own.process.send_signal(signal.SIGCONT)
            state._cooldown_until = 0
            assert await state.get("k/secret") == b"v"
            await state.close()

    async def test_an_absent_server_is_unavailable_and_the_error_does_not_quote_it(
        self, monkeypatch, prefix
    ):
        monkeypatch.setenv("FIRESTORE_EMULATOR_HOST", "127.0.0.1:1")
        state = FirestoreState(PROJECT, prefix)
        for verb in (state.get("k/secret"), state.add("k/secret"), anext(state.scan("k/secret"))):
            with pytest.raises(
                StateUnavailable, match=r"Firestore cannot be used \(ServiceUnavailable\)\.$"
            ):
                await verb
        await state.close()

    async def test_missing_credentials_are_unavailable(self, monkeypatch, prefix, tmp_path):
        monkeypatch.delenv("FIRESTORE_EMULATOR_HOST", raising=False)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
        state = FirestoreState(PROJECT, prefix)
        for _ in range(2):
            with pytest.raises(StateUnavailable, match="DefaultCredentialsError"):
                await state.get("k")
        await state.close()

    async def test_a_caller_who_leaves_breaks_nothing(self, firestore_state):
        waiting = [asyncio.create_task(firestore_state.add("n")) for _ in range(10)]
        getting = asyncio.create_task(firestore_state.get("n"))
        await asyncio.sleep(0)
        waiting[0].cancel()
        getting.cancel()
        counts = await asyncio.gather(*waiting[1:])
        assert counts == list(range(2, 11))


def kinds_in_use():
    """The first parts of the keys that the packages above the state use."""
    package = ROOT / "src" / "websearch_gateway"
    rooms = ("admin", "cache", "pipeline", "upstream")
    for path in itertools.chain.from_iterable((package / room).rglob("*.py") for room in rooms):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Constant(value=str(text)) if found := re.match(r"([a-z]+)/", text):
                    yield found[1]


def test_every_kind_has_its_ttl_policy():
    """A kind that is not in the file stays in the database for ever. `NOT_KINDS` are other texts with a slash."""
    overrides = json.loads((ROOT / "firestore.indexes.json").read_text())["fieldOverrides"]
    ttl = {
        policy["collectionGroup"]
        for policy in overrides
        if policy.get("ttl") and policy["fieldPath"] == "expiresAt"
    }
    assert {*kinds_in_use()} - NOT_KINDS == set(KINDS)
    assert ttl == {f"{DEFAULT_PREFIX}_{kind}" for kind in (*KINDS, OTHER)}


async def test_a_named_database_is_another_one(emulator, prefix):
    default, named = (
        open_state(f"firestore://demo-gateway/{prefix}{query}")
        for query in ("", "?database=websearch")
    )
    await named.put("k", b"v")
    assert await named.get("k") == b"v"
    assert (await named._opened())._database == "websearch"
    assert await default.get("k") is None
    await named.close()
    await default.close()
