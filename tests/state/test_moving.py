"""Entries move from any backend to any other unchanged."""

from websearch_gateway.admin.migration import Migration
from websearch_gateway.models import StateEntry
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.state.opening import open_state


async def test_a_tour_through_all_backends_changes_nothing(
    sqlite_url, postgresql_url, firestore_url, tmp_path
):
    state = MemoryState()
    await state.put("cache/exact/a", bytes(range(256)), ttl=600)
    await state.put("page/b", b"x" * 800_000)
    await state.put("page/c", b"")
    await state.add("ledger/n", -5, ttl=600)
    expected = [entry async for entry in state.entries("")]
    for url in (sqlite_url, postgresql_url, firestore_url, f"sqlite:///{tmp_path / 'last.db'}"):
        result = await Migration(state, "here", open_state, tmp_path).migrate(url, counters=True)
        assert (result.copied, result.counters, result.left_out) == (3, 1, 0)
        await state.close()
        state = open_state(url)
    found = [entry async for entry in state.entries("")]
    await state.close()
    assert [timeless(entry) for entry in found] == [timeless(entry) for entry in expected]
    assert all(entry.ttl is None or 0 <= 600 - entry.ttl < 60 for entry in found)


def timeless(entry: StateEntry) -> tuple[str, bytes, bool, bool]:
    return entry.key, entry.value, entry.counts, entry.ttl is None
