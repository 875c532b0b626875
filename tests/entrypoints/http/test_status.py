"""Who gets the page."""

from __future__ import annotations

from tests.entrypoints.http.calls import bearer
from tests.entrypoints.http.conftest import SECRET, Door


async def test_without_authentication_it_is_served_with_a_policy_that_allows_no_script(
    door: Door,
) -> None:
    async with door() as http:
        reply = await http.get("/")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["cache-control"] == "no-store"
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy


async def test_with_authentication_it_needs_the_scope_ops(door: Door) -> None:
    async with door(auth_mode="secret", auth_secret=SECRET) as http:
        replies = [
            await http.get("/", headers=headers) for headers in ({}, bearer(), bearer(scope="ops"))
        ]
    assert [reply.status_code for reply in replies] == [401, 403, 200]


async def test_it_is_there_when_the_state_is_not(door: Door) -> None:
    async with door(state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        reply = await http.get("/")
    assert reply.status_code == 200
    assert "The ledger cannot be read" in reply.text


async def test_a_gateway_that_cannot_be_built_says_why(door: Door) -> None:
    async with door(search_providers="nope") as http:
        reply = await http.get("/")
    assert reply.status_code == 503
    assert "nope" in reply.text
