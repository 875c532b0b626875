"""The next provider is asked when one fails, within its share of the time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import pytest

from tests.clock import Clock
from websearch_gateway.base.net.client import HttpSearcher, create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    Attempt,
    Exhausted,
    SearchAuthError,
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Call, Deadline, Hit, SearchQuery, SearchResults
from websearch_gateway.providers.table import PROVIDERS, configured
from websearch_gateway.sandbox import Sandbox
from websearch_gateway.settings.loading import Settings
from websearch_gateway.upstream.race import LEAST_SHARE_SECONDS
from websearch_gateway.upstream.search_fallback import FallbackSearcher

QUERY = SearchQuery("descale an espresso machine")


@dataclass
class Scripted:
    """A searcher that raises its error or answers with its hits, and records its remaining time."""

    name: str
    error: SearchError | None = None
    hits: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: list[float] = field(default_factory=list)

    async def ask(self, call: Call) -> SearchResults:
        self.seconds.append(call.remaining())
        if self.error:
            raise self.error
        return SearchResults(self.hits, self.name, warnings=self.warnings)


def soon() -> Deadline:
    return Deadline.after(60)


def down(name: str, retry_after: float | None = None) -> Scripted:
    return Scripted(name, SearchProviderError(f"{name} is down.", retry_after=retry_after))


async def test_the_first_searcher_that_answers_wins_and_no_other_is_called() -> None:
    first, second = (
        Scripted("first", hits=(Hit("https://a.example/", "t", "s", "first"),)),
        Scripted("second"),
    )
    results = await FallbackSearcher((first, second)).ask(Call.of(QUERY, soon()))
    assert (results.provider, results.warnings) == ("first", ())
    assert second.seconds == []


async def test_no_hits_is_an_answer() -> None:
    second = Scripted("second", hits=(Hit("https://a.example/", "t", "s", "second"),))
    results = await FallbackSearcher((Scripted("first"), second)).ask(Call.of(QUERY, soon()))
    assert (results.hits, results.provider) == ((), "first")


@pytest.mark.parametrize(
    "error",
    [SearchProviderError("a"), SearchTimeoutError("b"), SearchProviderParseError("c")],
    ids=lambda e: e.code,
)
async def test_an_unavailable_searcher_is_named_in_a_warning_of_the_next(
    error: SearchError,
) -> None:
    chain = FallbackSearcher(
        (Scripted("first", error), Scripted("second", warnings=("of its own",)))
    )
    results = await chain.ask(Call.of(QUERY, soon()))
    assert results.provider == "second"
    assert results.warnings == (f"first failed: {error.code}: {error.message}", "of its own")


@pytest.mark.parametrize(
    "error", [SearchAuthError("key"), SearchValidationError("request")], ids=lambda e: e.code
)
async def test_a_refusal_is_shown_and_not_masked_by_the_next(error: SearchError) -> None:
    second = Scripted("second")
    with pytest.raises(type(error)) as raised:
        await FallbackSearcher((Scripted("first", error), second)).ask(Call.of(QUERY, soon()))
    assert raised.value is error
    assert second.seconds == []


async def test_a_bug_does_not_start_the_next_searcher() -> None:
    broken = Scripted("first", error=KeyError("bug"))  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        await FallbackSearcher((broken, Scripted("second"))).ask(Call.of(QUERY, soon()))


async def test_when_all_fail_the_error_names_each_and_the_shortest_wait() -> None:
    chain = FallbackSearcher(
        (down("first", 3600), down("second", 30), down("third", 90), down("fourth", 40))
    )
    with pytest.raises(Exhausted) as raised:
        await chain.ask(Call.of(QUERY, soon()))
    assert raised.value.attempts[0] == Attempt("first", "PROVIDER", "first is down.")
    assert [attempt.name for attempt in raised.value.attempts] == [
        "first",
        "second",
        "third",
        "fourth",
    ]
    assert raised.value.retry_after == 30


async def test_a_chain_within_a_chain_reports_its_own_attempts() -> None:
    inner = FallbackSearcher((down("first", 60), down("second")), name="inner")
    results = await FallbackSearcher((inner, Scripted("third"))).ask(Call.of(QUERY, soon()))
    assert [warning.split()[0] for warning in results.warnings] == ["first", "second"]
    with pytest.raises(Exhausted) as raised:
        await FallbackSearcher((inner, down("third"))).ask(Call.of(QUERY, soon()))
    assert [attempt.name for attempt in raised.value.attempts] == ["first", "second", "third"]
    assert raised.value.retry_after is None, "second may be back at any time"


async def test_without_a_searcher_the_error_names_the_settings() -> None:
    with pytest.raises(
        SearchNotConfiguredError,
        match=r"OPENAI_API_KEY.*TAVILY_API_KEY.*SERPER_API_KEY.*SEARXNG_BASE_URL.*SEARCH_PROVIDERS",
    ):
        await FallbackSearcher(()).ask(Call.of(QUERY, soon()))


@pytest.mark.parametrize(
    ("total", "searchers", "shares"),
    [
        (15.0, 2, [7.5, 15.0]),
        (15.0, 3, [5.0, 7.5, 15.0]),
        (15.0, 7, [15 / 7, 2.5, 3.0, 3.75, 5.0, 7.5, 15.0]),
        (2.0, 3, [LEAST_SHARE_SECONDS, LEAST_SHARE_SECONDS, 2.0]),
    ],
)
async def test_each_searcher_but_the_last_gets_an_equal_share_of_the_remaining_time(
    total: float, searchers: int, shares: Sequence[float]
) -> None:
    """The searchers fail at once here, so all of the time remains."""
    chain = [down(str(number)) for number in range(searchers)]
    with pytest.raises(Exhausted):
        await FallbackSearcher(chain).ask(Call.of(QUERY, Deadline.after(total, Clock())))
    given = [seconds for searcher in chain for seconds in searcher.seconds]
    assert given == pytest.approx(shares)


Chain = Callable[[str], FallbackSearcher]


@pytest.fixture
async def chain_of(sandbox: Sandbox) -> AsyncIterator[Chain]:
    """Chains of real providers against the sandbox, by the value of SEARCH_PROVIDERS."""

    async def no_sleep(_: float) -> None:
        return None

    async with create_client() as client:

        def build(names: str) -> FallbackSearcher:
            environment = sandbox.environment() | {"SEARCH_PROVIDERS": names}
            settings = Settings(**{name.lower(): value for name, value in environment.items()})
            retry = Retry(sleep=no_sleep)
            return FallbackSearcher(
                [HttpSearcher(provider, client, retry) for provider in configured(settings)]
            )

        yield build


async def test_a_hanging_vendor_leaves_time_for_the_next(
    chain_of: Chain, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("websearch_gateway.upstream.search_fallback.LEAST_SHARE_SECONDS", 0.1)
    sandbox.fault("serper", "hang")
    results = await chain_of("serper,brave").ask(Call.of(QUERY, Deadline.after(8)))
    assert results.provider == "brave"
    assert results.hits
    assert results.warnings == ("serper failed: TIMEOUT: serper did not answer in time.",)
    await sandbox.wait_for("serper", cancelled=1)


async def test_five_vendors_may_fail_in_five_ways_before_one_answers(
    chain_of: Chain, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "status", status=400, reason="Not enough credits")
    sandbox.fault("tavily", "status", status=432)
    sandbox.fault("brave", "status", status=429, reason="QUOTA_LIMITED")
    sandbox.fault("google", "garbage")
    sandbox.fault("synthetic", "reset")
    results = await chain_of("serper,tavily,brave,google,synthetic,searxng").ask(
        Call.of(QUERY, soon())
    )
    assert results.provider == "searxng"
    assert [warning.split()[0] for warning in results.warnings] == [
        "serper",
        "tavily",
        "brave",
        "google",
        "synthetic",
    ]
    assert QUERY.text not in " ".join(results.warnings)


async def test_when_every_vendor_is_down_the_error_names_them_all(
    chain_of: Chain, sandbox: Sandbox
) -> None:
    names = [entry.name for entry in PROVIDERS if not entry.row.engine]
    for name in {*names} - {"duckduckgo"}:
        sandbox.fault(name, "status", status=500)
    sandbox.fault("duckduckgo", "bot")
    with pytest.raises(Exhausted) as raised:
        await chain_of("").ask(Call.of(QUERY, soon()))
    assert [attempt.name for attempt in raised.value.attempts] == names
    assert raised.value.retry_after is None, "a 500 may pass at any time"


async def test_a_wrong_key_of_the_first_vendor_is_not_masked_by_the_second(
    chain_of: Chain, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "status", status=403)
    with pytest.raises(SearchAuthError, match="SERPER_API_KEY"):
        await chain_of("serper,brave").ask(Call.of(QUERY, soon()))
    assert sandbox.calls("brave") == 0
