"""Tokens of `token create` over a real socket, and `/v1/usage`."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.entrypoints.http.calls import QUESTION, bearer
from tests.entrypoints.http.conftest import SECRET, Door
from websearch_gateway.models import CallerLimits
from websearch_gateway.state.opening import open_state
from websearch_gateway.upstream import api_tokens
from websearch_gateway.upstream.api_tokens import ApiTokens, new_secret


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"auth_mode": "token", "state_url": f"sqlite:///{tmp_path / 'state.db'}"}


@pytest.fixture
async def admin(settings: dict[str, Any]) -> Any:
    """The operator's own process, which shares the state."""
    state = open_state(settings["state_url"])
    yield ApiTokens(state)
    await state.close()


def key(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def test_a_created_token_has_its_own_limit_budget_and_usage(
    door: Door, admin: ApiTokens, settings: dict[str, Any]
) -> None:
    secret, _ = await admin.create("ann", ["search"], CallerLimits("2/hour", 0.5))
    async with door(**settings) as http:
        ask = {"json": {"query": QUESTION}, "headers": key(secret)}
        assert (await http.post("/v1/search", **ask)).status_code == 200
        assert (
            await http.post("/v1/web", json={"query": "eiffel tower"}, headers=key(secret))
        ).status_code == 200
        refused = await http.post("/v1/web", json={"query": "tokyo tower"}, headers=key(secret))
        assert (
            await http.post("/v1/read", json={"url": "https://x.example"}, headers=key(secret))
        ).status_code == 403
        usage = (await http.get("/v1/usage", headers=key(secret))).json()
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMIT")
    assert "set for your token" in refused.json()["error"]["message"]
    own, cached = usage.pop("limits")
    assert (own["setting"], own["limit"], own["used"], own["left"]) == ("OWN", "2/hour", 2, 0)
    assert 3_500 < own["resetsInSeconds"] <= 3_600
    assert cached["setting"] == "CACHED_RATE_LIMIT"
    assert 0 < usage.pop("dayEndsInSeconds") <= 86_400
    spent = usage.pop("spentTodayUsd")
    assert 0 < spent < 0.1
    assert usage.pop("leftTodayUsd") == pytest.approx(0.5 - spent)
    assert usage == {"user": "ann", "scopes": ["search"], "callsToday": 3, "dailyBudgetUsd": 0.5}


async def test_a_budget_of_nothing_leaves_the_free_ways(
    door: Door, admin: ApiTokens, settings: dict[str, Any]
) -> None:
    secret, _ = await admin.create("ann", ["search"], CallerLimits(None, 0.0))
    async with door(**settings) as http:
        answer = (
            await http.post("/v1/search", json={"query": QUESTION}, headers=key(secret))
        ).json()
    assert answer["fallback"]["reason"].startswith(
        "BUDGET: Your token's daily budget of $0 has no room"
    )
    assert answer["costUsd"] == 0


async def test_a_revoked_token_is_refused_by_a_running_server(
    door: Door, admin: ApiTokens, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_tokens, "FRESH_SECONDS", 0.0)  # its clock is real
    async with door(**settings) as http:
        assert (await http.get("/v1/usage")).status_code == 401
        secret, _ = await admin.create("ann", ["search"], CallerLimits())
        assert (await http.get("/v1/usage", headers=key(secret))).status_code == 200
        await admin.revoke("ann")
        refused = await http.get("/v1/usage", headers=key(secret))
        await admin.create("bob", ["search"], CallerLimits(), lifetime=-1.0)
    assert refused.status_code == 401
    assert "not one of this server's keys" in refused.json()["error"]["message"]


async def test_an_expired_token_is_told_so(
    door: Door, admin: ApiTokens, settings: dict[str, Any]
) -> None:
    secret, _ = await admin.create("ann", ["search"], CallerLimits(), lifetime=-1.0)
    async with door(**settings) as http:
        refused = await http.get("/v1/usage", headers=key(secret))
    assert (refused.status_code, "It has expired." in refused.text) == (401, True)


async def test_no_log_line_has_a_token_good_or_bad(
    door: Door, admin: ApiTokens, settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    good, _ = await admin.create("ann", ["search"], CallerLimits())
    bad = new_secret()
    async with door(**settings) as http:
        for secret in (good, bad):
            await http.get("/v1/usage", headers=key(secret))
            await http.post("/v1/search", json={"query": QUESTION}, headers={"X-API-Key": secret})
            await http.get("/v1/usage", params={"q": secret})
    told = "\n".join(repr(vars(record)) for record in caplog.records)
    assert "/v1/usage" in told
    assert good not in told
    assert bad not in told


async def test_where_the_state_cannot_be_read_the_caller_is_told_to_come_back(door: Door) -> None:
    async with door(auth_mode="token", state_url="postgresql://somebody@127.0.0.1:1/x") as http:
        reply = await http.get("/v1/usage", headers=key(new_secret()))
        assert (await http.get("/v1/usage", headers=key("no token"))).status_code == 401
    assert reply.status_code == 503
    assert int(reply.headers["retry-after"]) > 0
    assert "somebody" not in reply.text


async def test_a_signed_token_may_ask_for_its_usage_too(door: Door) -> None:
    limits = {"limits_claim": "limits", "user_daily_budget_usd": 3.0, "rate_limit": "20/10minutes"}
    async with door(auth_mode="secret", auth_secret=SECRET, **limits) as http:
        usual = (await http.get("/v1/usage", headers=bearer())).json()
        own = (await http.get("/v1/usage", headers=bearer(limits={"daily_budget": 1}))).json()
    assert [row["setting"] for row in usual["limits"]] == [
        "RATE_LIMIT",
        "SEARCH_RATE_LIMIT",
        "READ_RATE_LIMIT",
        "CACHED_RATE_LIMIT",
    ]
    assert (usual["dailyBudgetUsd"], own["dailyBudgetUsd"]) == (3.0, 1.0)


async def test_only_an_admin_sees_all_tokens_on_the_status_page(
    door: Door, admin: ApiTokens, settings: dict[str, Any]
) -> None:
    ops, _ = await admin.create("ops-b", ["ops"], CallerLimits())
    boss, _ = await admin.create(
        "boss", ["ops", "admin"], CallerLimits(None, 3.0), lifetime=86_400.0
    )
    async with door(**settings) as http:
        seen = [(await http.get("/", headers=key(secret))).text for secret in (ops, boss)]
    assert ["ops-b" in page for page in seen] == [False, True]
    assert "$3.00" in seen[1]
    assert boss not in seen[1]
