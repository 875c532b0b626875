"""The promises of ports.State, checked on every backend. A new backend adds a fixture to conftest."""

import asyncio
import contextlib
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from websearch_gateway.errors import StateUnavailable
from websearch_gateway.models import StateEntry
from websearch_gateway.ports import State
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import BACKENDS
from websearch_gateway.state.postgres import PostgresState

EVERY_STATE = [*BACKENDS, "spare", "spare_memory"]

ODD_KEYS = ["plain/key", "100%/_", "a b/c~", "'\";--", "k/" + "x" * 498]

keys = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=8)


@pytest.fixture(params=EVERY_STATE)
def state(request) -> State:
    return request.getfixturevalue(f"{request.param}_state")


async def scanned(state: State, prefix: str) -> list[tuple[str, bytes]]:
    return [entry async for entry in state.scan(prefix)]


def test_every_backend_is_a_state(state):
    assert isinstance(state, State)


class TestValues:
    async def test_an_absent_key_has_no_value(self, state):
        assert await state.get("nothing") is None

    @pytest.mark.parametrize("key", ODD_KEYS)
    async def test_no_character_of_a_key_is_special(self, state, key):
        await state.put(key, b"value")
        assert await state.get(key) == b"value"
        assert await scanned(state, key) == [(key, b"value")]
        assert await state.delete(key)

    @pytest.mark.parametrize(
        "value",
        [
            b"",
            b"\0",
            bytes(range(256)),
            b"12",
            "ü".encode(),
            os.urandom(900_000),
            b"long answer " * 100_000,
        ],
        ids=len,
    )
    async def test_any_bytes_come_back_unchanged(self, state, value):
        await state.put("k", value)
        assert await state.get("k") == value
        assert await scanned(state, "") == [("k", value)]

    async def test_a_second_put_replaces_value_and_ttl(self, state, clock):
        await state.put("k", b"old", ttl=10)
        await state.put("k", b"new")
        clock.now += 1_000_000
        assert await state.get("k") == b"new"

    async def test_a_value_given_as_a_buffer_does_not_change_with_the_buffer(self, state):
        buffer = bytearray(b"before")
        await state.put("k", buffer)
        buffer[:] = b"after!"
        assert await state.get("k") == b"before"

    async def test_delete_returns_whether_there_was_an_entry(self, state):
        await state.put("k", b"v")
        assert await state.delete("k") is True
        assert await state.delete("k") is False
        assert await state.get("k") is None


class TestExpiry:
    async def test_an_entry_lives_until_its_ttl_and_not_longer(self, state, clock):
        await state.put("k", b"v", ttl=10)
        clock.now += 9.5
        assert await state.get("k") == b"v"
        clock.now += 0.5
        assert await state.get("k") is None
        assert await scanned(state, "") == []
        assert await state.delete("k") is False

    @pytest.mark.parametrize("ttl", [0, -1])
    async def test_an_entry_with_a_ttl_of_zero_is_never_seen(self, state, ttl):
        await state.put("k", b"v", ttl=ttl)
        assert await state.get("k") is None

    async def test_a_key_can_be_used_again_after_it_expired(self, state, clock):
        await state.put("k", b"old", ttl=1)
        clock.now += 2
        await state.put("k", b"new", ttl=1)
        assert await state.get("k") == b"new"

    @pytest.mark.parametrize("state", ["memory", "sqlite", "postgresql"], indirect=True)
    async def test_expired_entries_do_not_pile_up(self, state, clock):
        """How a backend cleans up is its own choice, but it must. Firestore has a TTL policy."""
        for number in range(2_000):
            await state.put(f"old/{number}", b"v", ttl=1)
        clock.now += 2
        for number in range(1_100):
            await state.put(f"new/{number}", b"v", ttl=1)
        assert await stored(state) < 2_500


async def stored(state: State) -> int:
    """Entries that take up room, expired or not."""
    if isinstance(state, MemoryState):
        return len(state._entries)
    if isinstance(state, PostgresState):
        ((count,),) = await state._fetch("SELECT count(*) FROM websearch_state", {})
    else:
        ((count,),) = await state._read("SELECT count(*) FROM entries", {})
    return count


class TestCounters:
    async def test_a_counter_starts_at_zero_and_returns_the_new_value(self, state):
        assert await state.add("n") == 1
        assert await state.add("n", 5) == 6
        assert await state.add("n", -7) == -1
        assert await state.add("n", 0) == -1

    async def test_a_counter_reads_as_its_decimal_digits(self, state):
        await state.add("n", -12)
        assert await state.get("n") == b"-12"
        assert await scanned(state, "n") == [("n", b"-12")]

    async def test_only_the_first_addition_sets_the_ttl(self, state, clock):
        await state.add("n", ttl=10)
        clock.now += 9
        assert await state.add("n", ttl=10) == 2
        clock.now += 1
        assert await state.get("n") is None
        assert await state.add("n", ttl=10) == 1

    async def test_a_counter_without_a_ttl_does_not_expire(self, state, clock):
        await state.add("n")
        clock.now += 1_000_000
        assert await state.add("n", ttl=1) == 2
        clock.now += 1_000_000
        assert await state.add("n") == 3

    async def test_adding_to_a_value_starts_a_new_counter(self, state):
        await state.put("k", b"41")
        assert await state.add("k") == 1

    async def test_a_put_ends_a_counter(self, state):
        await state.add("k", 41)
        await state.put("k", b"41")
        assert await state.get("k") == b"41"
        assert await state.add("k") == 1

    async def test_no_addition_is_lost_among_many_at_once(self, state):
        counts = await asyncio.gather(*(state.add("n") for _ in range(800)))
        assert sorted(counts) == list(range(1, 801))


class TestScan:
    async def test_only_the_prefix_and_in_key_order(self, state):
        for key in ["b/2", "a", "b/10", "b", "b/1", "c", "b0", "B/1"]:
            await state.put(key, key.encode())
        assert [key for key, _ in await scanned(state, "b/")] == ["b/1", "b/10", "b/2"]

    async def test_wildcards_are_plain_characters(self, state):
        for key in ["a%b", "axb", "a_b", "a%c"]:
            await state.put(key, b"")
        assert [key for key, _ in await scanned(state, "a%")] == ["a%b", "a%c"]
        assert [key for key, _ in await scanned(state, "a_")] == ["a_b"]

    async def test_more_entries_than_fit_one_page(self, state):
        expected = [(f"k/{number:04}", b"v") for number in range(150)]
        for key, value in reversed(expected):
            await state.put(key, value)
        assert await scanned(state, "k/") == expected

    async def test_entries_may_be_deleted_while_scanning(self, state):
        for number in range(100):
            await state.put(f"k/{number:03}", b"v")
        async for key, _ in state.scan("k/"):
            await state.delete(key)
        assert await scanned(state, "") == []

    async def test_an_abandoned_scan_blocks_nothing(self, state):
        for number in range(100):
            await state.put(f"k/{number:03}", b"v")
        async with contextlib.aclosing(state.scan("k/")) as entries:
            async for _ in entries:
                break
        await state.put("k/000", b"w")
        assert await state.get("k/000") == b"w"

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(present=st.sets(keys, max_size=12), prefix=keys)
    async def test_a_scan_gives_the_same_as_a_filter_and_sort_in_python(
        self, state, present, prefix
    ):
        async for key, _ in state.scan(""):
            await state.delete(key)
        for key in present:
            await state.put(key, b"v")
        expected = sorted(key for key in present if key.startswith(prefix))
        assert [key for key, _ in await scanned(state, prefix)] == expected


class TestEntries:
    async def test_an_entry_has_its_remaining_ttl_and_says_whether_it_counts(self, state, clock):
        await state.put("k/a", b"5", ttl=10)
        await state.put("k/b", b"for ever")
        await state.add("k/c", 5, ttl=20)
        await state.put("k/d", b"gone", ttl=3)
        clock.now += 4
        assert [entry async for entry in state.entries("k/")] == [
            StateEntry("k/a", b"5", 6.0, counts=False),
            StateEntry("k/b", b"for ever", None, counts=False),
            StateEntry("k/c", b"5", 16.0, counts=True),
        ]

    async def test_it_continues_after_any_key(self, state):
        names = [f"k/{number:03}" for number in range(100)]
        for name in ["a", *names, "z"]:
            await state.put(name, b"v")
        assert [entry.key async for entry in state.entries("k/", after="k/041")] == names[42:]
        assert [entry.key async for entry in state.entries("k/", after="k/041x")] == names[42:]
        assert [entry.key async for entry in state.entries("", after="k/099")] == ["z"]
        assert [entry.key async for entry in state.entries("k/", after="a")] == names


class TestClose:
    async def test_closing_twice_is_closing_once(self, state):
        await state.put("k", b"v")
        await state.close()
        await state.close()

    async def test_a_state_that_was_never_used_can_be_closed(self, state):
        await state.close()

    async def test_every_verb_is_refused_afterwards(self, state):
        await state.close()
        for verb in (
            state.get("k"),
            state.put("k", b"v"),
            state.delete("k"),
            state.add("k"),
            scanned(state, ""),
        ):
            with pytest.raises(StateUnavailable):
                await verb

    async def test_running_verbs_finish_first(self, state):
        additions = [asyncio.create_task(state.add("n")) for _ in range(50)]
        await asyncio.sleep(0)
        await state.close()
        assert sorted(await asyncio.gather(*additions)) == list(range(1, 51))
