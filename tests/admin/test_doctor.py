"""Each trouble is told apart from the others and comes with a remedy that helps, and no key is ever shown."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.opening import UPSTREAMS
from websearch_gateway.admin.doctor import REASONS, REMEDIES, Doctor
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import Call, Hit, SearchResults
from websearch_gateway.results import Check
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.ledger import Ledger

Open = Callable[..., AbstractAsyncContextManager[Gateway]]

WRONG_KEY = "wrong-0123456789abcdef"
NOBODY = "http://nobody.invalid"


async def examined(gateway: Open, **settings: Any) -> dict[str, Check]:
    async with gateway(**settings) as opened:
        return {check.name: check for check in (await opened.doctor.examine()).checks}


async def test_a_healthy_gateway_is_told_what_ends(gateway: Open) -> None:
    checks = await examined(gateway)
    assert set(checks) == {
        *UPSTREAMS,
        *("state", "embedder", "browser", "budget"),
    }
    assert not [check for check in checks.values() if check.status == "fail"]
    assert checks["openai"].status == "ok", (
        "a later model of the default outlasts the one that ends"
    )
    assert (checks["google"].status, "2027-01-01" in checks["google"].finding) == ("warn", True)
    assert all(check.remedy for check in checks.values() if check.status != "ok")


@pytest.mark.parametrize(
    ("fault", "code", "remedy"),
    [
        ({"kind": "status", "status": 500}, "PROVIDER", REMEDIES["PROVIDER"]),
        ({"kind": "status", "status": 402}, "PROVIDER", REASONS["quota"]),
        ({"kind": "garbage"}, "PARSE", REMEDIES["PARSE"]),
        ({"kind": "hang"}, "TIMEOUT", REMEDIES["TIMEOUT"]),
    ],
)
async def test_each_fault_has_its_remedy(
    gateway: Open, sandbox: Sandbox, fault: dict[str, Any], code: str, remedy: str
) -> None:
    for target in ("openai", "brave", "searxng"):
        sandbox.fault(target, **fault)
    hurried = {"request_timeout_ms": 3_000} if code == "TIMEOUT" else {}
    checks = await examined(gateway, **hurried)
    for target in ("openai", "brave", "searxng"):
        assert checks[target].status == "fail"
        assert checks[target].finding.startswith(f"{code}: "), checks[target]
        assert checks[target].remedy.startswith(remedy)
    assert checks["duckduckgo"].status == "ok", "the trouble of one is not that of another"


@pytest.mark.parametrize(("target", "status"), [("tavily", 432), ("tavily", 433), ("openai", 402)])
async def test_spent_credit_is_told_from_an_outage(
    gateway: Open, sandbox: Sandbox, target: str, status: int
) -> None:
    sandbox.fault(target, "status", status=status)
    assert (await examined(gateway))[target].remedy.startswith(REASONS["quota"])


async def test_an_address_that_nobody_has_is_told_from_an_outage(gateway: Open) -> None:
    checks = await examined(gateway, brave_base_url=NOBODY, openai_base_url=f"{NOBODY}/v1")
    for name in ("brave", "openai"):
        assert checks[name].status == "fail"
        assert checks[name].remedy.startswith(REASONS["unreachable"])


async def test_a_wrong_key_is_named_by_its_setting_and_never_shown(gateway: Open) -> None:
    names = {"openai": "OPENAI_API_KEY", "serper": "SERPER_API_KEY", "tavily": "TAVILY_API_KEY"}
    names |= {
        "brave": "BRAVE_API_KEY",
        "google": "GOOGLE_API_KEY",
        "synthetic": "SYNTHETIC_API_KEY",
    }
    checks = await examined(gateway, **{name.lower(): WRONG_KEY for name in names.values()})
    for part, name in names.items():
        assert checks[part].finding.startswith("AUTH: ")
        assert name in checks[part].finding
        assert checks[part].remedy.startswith(REMEDIES["AUTH"])
        assert "skip it with a warning" in checks[part].remedy
    assert WRONG_KEY not in repr(checks)


async def test_models_that_are_missing_are_named(gateway: Open) -> None:
    some = await examined(gateway, openai_models="gpt-6-luna,gpt-none")
    assert (some["openai"].status, "gpt-none does not exist" in some["openai"].finding) == (
        "warn",
        True,
    )
    none = await examined(gateway, openai_models="gpt-none")
    assert (none["openai"].status, "OPENAI_MODELS" in none["openai"].finding) == ("fail", True)


async def test_state_and_embedder_and_browser_are_looked_at(gateway: Open, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    checks = await examined(
        gateway,
        state_url=f"sqlite:///{tmp_path / 'file' / 'state.db'}",
        embedding_server_url=f"{NOBODY}/v1",
        browser_path=str(tmp_path / "no-chromium"),
    )
    assert (checks["state"].status, "STATE_URL" in checks["state"].remedy) == ("warn", True)
    assert "are lost when it ends" in checks["state"].finding
    assert (checks["embedder"].status, "words alone" in checks["embedder"].remedy) == ("warn", True)
    assert (checks["browser"].status, "BROWSER_PATH" in checks["browser"].finding) == ("off", True)


async def test_without_keys_a_provider_that_answers_is_no_warning(
    gateway: Open, sandbox: Sandbox
) -> None:
    keyless = dict.fromkeys(("serper_api_key", "tavily_api_key", "brave_api_key", "google_api_key"))
    keyless |= {
        "synthetic_api_key": None,
        "searxng_base_url": None,
        "google_search_engine_id": None,
    }
    keyless |= dict.fromkeys(("exa_api_key", "firecrawl_api_key", "linkup_api_key", "jina_api_key"))
    assert (await examined(gateway, **keyless))["keys"].status == "off"
    for target in ("duckduckgo", "wikipedia"):
        sandbox.fault(target, "status", status=503)
    checks = await examined(gateway, **keyless)
    assert (checks["keys"].status, "SERPER_API_KEY" in checks["keys"].remedy) == ("warn", True)


@pytest.mark.parametrize(
    ("settings", "part", "named"),
    [
        ({"llm_base_url": f"{NOBODY}/v1"}, "llm", "LLM_BASE_URL is set, LLM_MODEL is not"),
        (
            {"llm_model": "qwen3:4b", "llm_base_url": None},
            "llm",
            "LLM_MODEL is set, LLM_BASE_URL is not",
        ),
        (
            {"google_search_engine_id": None},
            "google",
            "GOOGLE_API_KEY is set, GOOGLE_SEARCH_ENGINE_ID is not",
        ),
    ],
)
async def test_settings_that_are_only_half_there_are_named(
    gateway: Open, settings: dict[str, Any], part: str, named: str
) -> None:
    check = (await examined(gateway, **settings))[part]
    assert (check.status, check.finding) == ("warn", named)
    assert check.remedy


class Answering:
    name = "google"

    async def ask(self, call: Call) -> SearchResults:
        return SearchResults(
            hits=(Hit("https://a.example/", "T", "S", "google"),), provider="google"
        )


@pytest.mark.parametrize(
    ("today", "word"), [(date(2026, 12, 31), "ends on"), (date(2027, 1, 1), "has ended on")]
)
async def test_the_end_of_an_api_comes(today: date, word: str) -> None:
    doctor = Doctor(
        [],
        [Answering()],
        MemoryState(),
        StaticEmbedder(),
        {"google": date(2027, 1, 1)},
        lambda: None,
        Ledger(MemoryState()),
        lambda: today,
    )
    checks = {check.name: check for check in (await doctor.examine()).checks}
    assert word in checks["google"].finding
    assert checks["openai"].status == "off"


@pytest.mark.parametrize(
    ("daily", "spent", "status"),
    [
        (None, 1.0, "off"),
        (0.0, 0.0, "ok"),
        (5.0, 3.9, "ok"),
        (5.0, 4.1, "warn"),
        (5.0, 5.0, "warn"),
    ],
)
async def test_a_budget_that_is_nearly_spent_is_a_warning(
    daily: float | None, spent: float, status: str
) -> None:
    ledger = Ledger(MemoryState(), daily_usd=daily)
    if spent:
        call = Call.after(60)
        async with ledger.payment(call, "brave", spent):
            call.bill.book(spent)
    doctor = Doctor([], [], MemoryState(), StaticEmbedder(), {}, lambda: None, ledger)
    checks = {check.name: check for check in (await doctor.examine()).checks}
    assert checks["budget"].status == status
    assert ("DAILY_BUDGET_USD" in checks["budget"].remedy) == (status == "warn")


async def test_who_serves_meanwhile_is_named_only_where_somebody_does(
    gateway: Open, sandbox: Sandbox
) -> None:
    for target in ("serper", "brave"):
        sandbox.fault(target, "status", status=500)
    both = await examined(gateway, search_providers=("serper", "brave", "duckduckgo"))
    assert both["serper"].remedy.endswith("duckduckgo answers instead.")
    alone = await examined(gateway, search_providers=("serper", "brave"))
    assert alone["serper"].remedy == alone["brave"].remedy == REMEDIES["PROVIDER"]
    wrong = await examined(
        gateway, search_providers=("tavily", "duckduckgo"), tavily_api_key=WRONG_KEY
    )
    assert wrong["tavily"].remedy == REMEDIES["AUTH"]
