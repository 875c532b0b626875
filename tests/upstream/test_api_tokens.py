"""Tokens that an operator creates, over a state whose verbs can be counted and can fail."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.clock import Clock
from websearch_gateway.errors import SearchProviderError, SearchValidationError, StateUnavailable
from websearch_gateway.models import CallerLimits, StateEntry
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.api_tokens import (
    FRESH_SECONDS,
    KEPT_SECONDS,
    RELOAD_SECONDS,
    STALE_SECONDS,
    ApiTokens,
    digest,
    new_secret,
)

NO_LIMITS = CallerLimits()


class WatchedState(MemoryState):
    """Counts the verbs, and fails all of them while it is `down`."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock=clock)
        self.verbs: Counter[str] = Counter()
        self.down = False

    def _note(self, verb: str) -> None:
        self.verbs[verb] += 1
        if self.down:
            raise StateUnavailable("The state is down.")

    async def get(self, key: str) -> bytes | None:
        if key.startswith("token/"):  # not those of its own scan
            self._note("get")
        return await super().get(key)

    async def entries(self, prefix: str, after: str = "") -> AsyncIterator[StateEntry]:
        self._note("scan")
        verbs = self.verbs.copy()
        async for entry in super().entries(prefix, after):
            yield entry
        self.verbs = verbs


@pytest.fixture
def state(clock: Clock) -> WatchedState:
    return WatchedState(clock)


@pytest.fixture
def admin(state: WatchedState, clock: Clock) -> ApiTokens:
    return ApiTokens(state, clock, clock)


@pytest.fixture
def server(state: WatchedState, clock: Clock) -> ApiTokens:
    return ApiTokens(state, clock, clock)


async def test_only_the_secret_finds_its_token(admin: ApiTokens, server: ApiTokens) -> None:
    limits = CallerLimits("100/10minutes", 2.0)
    secret, made = await admin.create("ann", ["search", "read"], limits)
    found = await server.find(secret)
    assert found == made
    assert (found.name, found.scopes, found.limits) == ("ann", {"search", "read"}, limits)
    for wrong in (
        new_secret(),
        secret[:-1],
        f"{secret} ",
        secret.upper(),
        digest(secret),
        "",
        "wsg_",
        "x" * 99_999,
    ):
        assert await server.find(wrong) is None


async def test_the_state_holds_no_secret(admin: ApiTokens, state: WatchedState) -> None:
    secret, made = await admin.create("ann", ["search"], NO_LIMITS)
    held = repr([entry async for entry in state.scan("")])
    assert secret not in held
    assert secret.removeprefix("wsg_") not in held
    assert digest(secret) not in repr(made)


async def test_every_process_knows_of_a_change_within_five_seconds(
    admin: ApiTokens, server: ApiTokens, clock: Clock
) -> None:
    first, _ = await admin.create("ann", ["search"], NO_LIMITS)
    assert await server.find(first) is not None
    second, _ = await admin.create("bob", ["search"], NO_LIMITS)
    await admin.revoke("ann")
    assert await server.find(first) is not None  # known from a moment ago
    clock.now += 4.9
    assert await server.find(first) is None
    assert await server.find(second) is not None


async def test_a_token_that_nobody_made_costs_the_state_nothing(
    admin: ApiTokens, server: ApiTokens, state: WatchedState, clock: Clock
) -> None:
    await admin.create("ann", ["search"], NO_LIMITS)
    await server.find(new_secret())
    before = state.verbs.copy()
    for _ in range(500):
        assert await server.find(new_secret()) is None
        assert await server.find("wsg_short") is None
    assert state.verbs == before
    clock.now += FRESH_SECONDS
    await asyncio.gather(*(server.find(new_secret()) for _ in range(500)))
    # One look for all, and no scan where nothing has changed.
    assert state.verbs - before == Counter(get=1)


async def test_entries_are_read_again_after_a_while_even_if_no_change_was_counted(
    admin: ApiTokens, server: ApiTokens, state: WatchedState, clock: Clock
) -> None:
    """As after a backup is restored, whose counter may have the same value."""
    secret, made = await admin.create("ann", ["search"], NO_LIMITS)
    assert await server.find(secret) is not None
    await state.delete(made.key)
    clock.now += RELOAD_SECONDS
    assert await server.find(secret) is None


async def test_a_rotated_token_stays_valid_for_the_overlap(
    admin: ApiTokens, server: ApiTokens, clock: Clock
) -> None:
    limits = CallerLimits("5/minute", None)
    old, _ = await admin.create("ann", ["read"], limits, lifetime=1_000.0)
    clock.now += 500
    new, made = await admin.rotate("ann", overlap=60.0)
    assert (made.scopes, made.limits, made.expires) == ({"read"}, limits, clock.now + 1_000)
    both = [await server.find(old), await server.find(new)]
    assert [token is not None and not server.has_expired(token) for token in both] == [True, True]
    clock.now += 61
    both = [await server.find(old), await server.find(new)]
    assert [token is not None and not server.has_expired(token) for token in both] == [False, True]


async def test_an_overlap_never_prolongs_a_token(
    admin: ApiTokens, server: ApiTokens, clock: Clock
) -> None:
    old, _ = await admin.create("ann", ["read"], NO_LIMITS, lifetime=10.0)
    await admin.rotate("ann", overlap=60.0)
    clock.now += 11
    found = await server.find(old)
    assert found is not None
    assert server.has_expired(found)


async def test_rotations_at_once_leave_both_new_tokens_valid(
    admin: ApiTokens, server: ApiTokens
) -> None:
    await admin.create("ann", ["read"], NO_LIMITS)
    made = await asyncio.gather(admin.rotate("ann", 60.0), admin.rotate("ann", 60.0))
    assert all([await server.find(secret) for secret, _ in made])


async def test_revoking_a_name_deletes_all_its_tokens_and_no_others(
    admin: ApiTokens, server: ApiTokens
) -> None:
    old, _ = await admin.create("ann", ["read"], NO_LIMITS)
    new, _ = await admin.rotate("ann", 60.0)
    other, _ = await admin.create("ann.2", ["read"], NO_LIMITS)
    assert await admin.revoke("ann") == 2
    assert [await server.find(secret) is not None for secret in (old, new, other)] == [
        False,
        False,
        True,
    ]
    with pytest.raises(SearchValidationError, match="no token"):
        await admin.revoke("ann")


async def test_an_expired_token_is_listed_for_a_month_and_its_name_is_free(
    admin: ApiTokens, clock: Clock
) -> None:
    await admin.create("ann", ["read"], NO_LIMITS, lifetime=10.0)
    clock.now += KEPT_SECONDS
    assert [token.has_expired(clock.now) for token in await admin.all()] == [True]
    await admin.create("ann", ["read"], NO_LIMITS)
    clock.now += 11
    assert [token.has_expired(clock.now) for token in await admin.all()] == [False]


@pytest.mark.parametrize(
    ("name", "scopes", "told"),
    [
        ("local", ["read"], "name"),
        ("", ["read"], "name"),
        ("a/b", ["read"], "name"),
        ("x" * 65, ["read"], "name"),
        ("bob", ["nope"], "no scope nope"),
        ("bob", [], "needs a scope"),
        ("ann", ["read"], "already"),
    ],
)
async def test_an_impossible_token_is_not_made(
    admin: ApiTokens, state: WatchedState, name: str, scopes: list[str], told: str
) -> None:
    await admin.create("ann", ["read"], NO_LIMITS)
    before = [entry async for entry in state.scan("")]
    with pytest.raises(SearchValidationError, match=told):
        await admin.create(name, scopes, NO_LIMITS)
    assert [entry async for entry in state.scan("")] == before


@pytest.mark.parametrize("name", ["nobody", "", "../x", "x" * 500])
async def test_a_name_that_nobody_has_is_neither_rotated_nor_revoked(
    admin: ApiTokens, name: str
) -> None:
    for change in (admin.revoke(name), admin.rotate(name, 1.0)):
        with pytest.raises(SearchValidationError, match="no token"):
            await change


class TestWhileTheStateFails:
    async def test_known_tokens_are_accepted_for_an_hour(
        self, admin: ApiTokens, server: ApiTokens, state: WatchedState, clock: Clock
    ) -> None:
        secret, _ = await admin.create("ann", ["search"], NO_LIMITS)
        assert await server.find(secret) is not None
        state.down = True
        clock.now += STALE_SECONDS - 1
        assert await server.find(secret) is not None
        assert await server.find(new_secret()) is None
        clock.now += 2
        with pytest.raises(SearchProviderError) as failed:
            await server.find(secret)
        assert failed.value.retry_after == FRESH_SECONDS

    async def test_it_is_asked_once_in_a_while(
        self, admin: ApiTokens, server: ApiTokens, state: WatchedState, clock: Clock
    ) -> None:
        secret, _ = await admin.create("ann", ["search"], NO_LIMITS)
        await server.find(secret)
        state.down = True
        clock.now += FRESH_SECONDS
        before = state.verbs["get"]
        for _ in range(100):
            await server.find(secret)
        assert state.verbs["get"] - before == 1

    async def test_a_process_that_knows_none_says_so_instead_of_refusing_them(
        self, server: ApiTokens, state: WatchedState
    ) -> None:
        state.down = True
        with pytest.raises(SearchProviderError):
            await server.find(new_secret())
        assert await server.find("no token of ours") is None


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"[]",
        b"{}",
        b'{"scopes": 7}',
        b"\xff",
        b'{"scopes": ["read"], "rate_limit": "many", "daily_usd": null}',
    ],
)
async def test_an_entry_of_others_counts_for_nothing(
    admin: ApiTokens, server: ApiTokens, state: WatchedState, value: bytes
) -> None:
    secret, _ = await admin.create("ann", ["search"], NO_LIMITS)
    stranger: Any = new_secret()
    await state.put(f"token/eve/{digest(stranger)}", value)
    await state.put("token/odd", value)
    assert await server.find(stranger) is None
    assert await server.find(secret) is not None


async def test_a_state_in_memory_is_no_place_for_a_token(
    admin: ApiTokens, state: WatchedState
) -> None:
    state.problem = "The file cannot be written."  # type: ignore[assignment]
    with pytest.raises(StateUnavailable, match="cannot be written"):
        await admin.create("ann", ["search"], NO_LIMITS)
