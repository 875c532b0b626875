"""Tokens on every backend: another process finds them, and soon refuses those that were revoked."""

import pytest

from tests.state.test_contract import EVERY_STATE
from websearch_gateway.models import CallerLimits
from websearch_gateway.ports import State
from websearch_gateway.upstream.api_tokens import ApiTokens


@pytest.fixture(params=[name for name in EVERY_STATE if name != "spare_memory"])
def state(request) -> State:
    return request.getfixturevalue(f"{request.param}_state")


async def test_another_process_knows_of_each_change_within_five_seconds(state, clock):
    admin, server = ApiTokens(state, clock, clock), ApiTokens(state, clock, clock)
    limits = CallerLimits("100/10minutes", 2.0)
    assert await server.find("wsg_" + "x" * 43) is None
    old, _ = await admin.create("ann@example.org", ["search", "ops"], limits, lifetime=86_400.0)
    clock.now += 4.5
    found = await server.find(old)
    assert (found.name, found.scopes, found.limits) == (
        "ann@example.org",
        {"search", "ops"},
        limits,
    )
    new, _ = await admin.rotate("ann@example.org", overlap=600.0)
    clock.now += 4.5
    assert [token.name for token in (await server.find(old), await server.find(new))] == [
        "ann@example.org"
    ] * 2
    assert await admin.revoke("ann@example.org") == 2
    clock.now += 4.5
    assert [await server.find(old), await server.find(new)] == [None, None]
    assert await admin.all() == []
