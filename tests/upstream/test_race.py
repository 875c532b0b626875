from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clock import Clock
from websearch_gateway.base.net.client import HttpSearcher, create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    Attempt,
    Exhausted,
    NotAsked,
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
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.race import (
    EARLIEST_SECONDS,
    ENOUGH_SAMPLES,
    LATEST_SECONDS,
    LEAST_SHARE_SECONDS,
    FallbackSearcher,
    FirstSuccess,
    Hedging,
    ProviderSelection,
    Trial,
    by_weight,
)

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
    monkeypatch.setattr("websearch_gateway.upstream.race.LEAST_SHARE_SECONDS", 0.1)
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


CHOSEN_QUERY = SearchQuery("tides")


class ScriptedProvider:
    """A Searcher that answers or raises its error, and records that it was called."""

    def __init__(self, name: str, asked: list[str]) -> None:
        self.name = name
        self.asked = asked
        self.error: Exception | None = None
        self.seconds = 0.0

    async def ask(self, call: Call) -> SearchResults:
        self.asked.append(self.name)
        self.seconds = call.remaining()
        if self.error:
            raise self.error
        return SearchResults((), self.name)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def provider_selection_three_providers(asked):
    return {
        name: ScriptedProvider(name, asked) for name in ("serper", "brave", "google", "duckduckgo")
    }


@pytest.fixture
def selection(provider_selection_three_providers, asked):
    absent = {"tavily": "set TAVILY_API_KEY", "searxng": "set SEARXNG_BASE_URL"}
    return ProviderSelection(
        ScriptedProvider("pool", asked),
        provider_selection_three_providers,
        {"brave", "google"},
        absent,
    )


async def provider_of(searcher) -> str:
    return (await searcher.ask(Call.of(CHOSEN_QUERY, Deadline.after(60)))).provider


def fail(provider_selection_three_providers, *names):
    for name in names:
        provider_selection_three_providers[name].error = SearchProviderError("Down.")


async def test_without_names_the_pool_serves(selection):
    assert await provider_of(selection.choose()) == "pool"


async def test_named_providers_are_called_in_their_order_once_each_and_no_others(
    selection, provider_selection_three_providers, asked
):
    fail(provider_selection_three_providers, "duckduckgo", "brave")
    with pytest.raises(Exception, match="duckduckgo: PROVIDER: Down; brave: PROVIDER: Down"):
        await provider_of(selection.choose(["DuckDuckGo ", "brave", "duckduckgo"]))
    assert asked == ["duckduckgo", "brave"]


async def test_for_news_the_providers_with_a_news_search_come_first(
    selection, provider_selection_three_providers, asked
):
    fail(provider_selection_three_providers, "brave", "google", "serper")
    assert await provider_of(selection.choose(topic="news")) == "duckduckgo"
    assert asked == ["brave", "google", "serper", "duckduckgo"]


async def test_a_name_wins_over_the_topic(selection):
    assert await provider_of(selection.choose(["serper"], "news")) == "serper"


async def test_the_preferred_provider_may_take_half_of_the_time_however_many_follow(
    selection, provider_selection_three_providers
):
    await provider_of(selection.preferring(("google",)))
    assert 29 < provider_selection_three_providers["google"].seconds <= 30


async def test_only_preferred_or_no_preferred_providers_serve_too(
    selection, provider_selection_three_providers, asked
):
    assert await provider_of(selection.preferring(provider_selection_three_providers)) == "serper"
    assert await provider_of(selection.preferring(("tavily",))) == "serper"
    with pytest.raises(SearchNotConfiguredError, match="SERPER_API_KEY"):
        await provider_of(
            ProviderSelection(ScriptedProvider("pool", asked), {}, set(), {}).preferring(
                ("google",)
            )
        )


async def test_a_rejected_key_is_not_masked_by_the_others(
    selection, provider_selection_three_providers
):
    provider_selection_three_providers["google"].error = SearchAuthError("Wrong key.")
    with pytest.raises(SearchAuthError):
        await provider_of(selection.preferring(("google",)))


def test_the_error_for_a_provider_that_cannot_serve_says_what_it_lacks(selection):
    with pytest.raises(
        SearchNotConfiguredError, match="tavily, which cannot serve here: set TAVILY_API_KEY"
    ):
        selection.choose(["serper", "tavily"])


def test_the_error_for_an_unknown_name_lists_the_known_ones(selection):
    with pytest.raises(
        SearchValidationError, match="serper, brave, google, duckduckgo, tavily, searxng"
    ) as caught:
        selection.choose(["bing"])
    assert caught.value.details["field"] == "providers"


@dataclass(frozen=True)
class Named:
    name: str

    async def ask(self, call: Call) -> SearchResults:
        return SearchResults((), self.name)


A, B, C = Named("a"), Named("b"), Named("c")


@pytest.mark.parametrize(
    ("latencies", "patience"),
    [
        ([0.6] * (ENOUGH_SAMPLES - 1), None),
        ([0.6] * 18 + [2.0] * 2, 2.0),
        ([0.6] * 19 + [2.0], 0.6),
        ([0.01] * 30, EARLIEST_SECONDS),
        ([12.0] * 30, LATEST_SECONDS),
    ],
)
def test_an_upstream_is_slow_after_its_own_recent_p95_within_bounds(
    latencies: list[float], patience: float | None
) -> None:
    health = HealthRegistry()
    for seconds in latencies:
        health.of("serper").record_latency(seconds, finished=True)
    assert Hedging(health).slow_after("serper") == patience
    assert Hedging(health).slow_after("ignore_progress of") is None
    assert [upstream.name for upstream in health.snapshot()] == ["serper"]


@given(st.lists(st.booleans(), max_size=600))
def test_hedges_never_exceed_a_tenth_of_the_calls_at_any_moment(wishes: list[bool]) -> None:
    hedging, hedges = Hedging(HealthRegistry()), 0
    for calls, wish in enumerate(wishes, 1):
        hedging.earn()
        hedges += wish and hedging.take()
        assert hedges * 10 <= calls


def test_after_a_quiet_time_only_a_few_hedges_are_saved_up() -> None:
    hedging = Hedging(HealthRegistry())
    for _ in range(1000):
        hedging.earn()
    assert sum(hedging.take() for _ in range(1000)) == 5


def test_a_hedge_that_sent_nothing_is_given_back() -> None:
    hedging = Hedging(HealthRegistry())
    for _ in range(10):
        hedging.earn()
    assert hedging.take()
    assert not hedging.take()
    hedging.give_back()
    assert hedging.take()


def test_the_first_is_picked_at_random_by_weight_and_the_others_keep_their_order() -> None:
    order = by_weight({"b": 3, "c": 1}, Random(7).choices)
    orders = Counter("".join(searcher.name for searcher in order((A, B, C))) for _ in range(4000))
    assert set(orders) == {"bac", "cab"}
    assert orders["bac"] == pytest.approx(3000, abs=120)


def test_without_any_weight_the_order_stays_the_same() -> None:
    assert list(by_weight({"a": 0, "z": 5})((A, B, C))) == [A, B, C]


EMPTY = ""
"""An answer in which nothing was found."""


class Trials:
    """Trials that a test ends, each with an answer or an error."""

    def __init__(self, race: FirstSuccess[str]) -> None:
        self._race = race
        self._outcomes: dict[str, asyncio.Future[str]] = {}

    def start(self, name: str) -> Trial[str]:
        self._outcomes[name] = asyncio.get_running_loop().create_future()
        return self._race.start(name, self._call(name))

    async def _call(self, name: str) -> str:
        return await self._outcomes[name]

    async def end(self, name: str, outcome: str | Exception) -> None:
        future = self._outcomes[name]
        future.set_exception(outcome) if isinstance(outcome, Exception) else future.set_result(
            outcome
        )
        await asyncio.wait([future])
        await asyncio.sleep(0)


class Nobody:
    """Starts no other trial."""

    def holds_stopgap(self, now: float) -> bool:
        return False

    async def starts_another(self, now: float) -> bool:
        return False

    def seconds_to_wait(self, now: float) -> float | None:
        return None


class Waits(Nobody):
    """Starts a trial after a moment, and another one each time that the latest failed."""

    def __init__(self, control: Trials, names: list[str]) -> None:
        self._control, self._names = control, names
        self._asked = 0
        self._latest: Trial[str] | None = None
        self.started = asyncio.Event()

    async def starts_another(self, now: float) -> bool:
        self._asked += 1
        if self._asked == 1 or not self._names or (self._latest and not self._latest.failure):
            return False
        self._latest = self._control.start(self._names.pop(0))
        self.started.set()
        return True

    def seconds_to_wait(self, now: float) -> float | None:
        return 0.0 if self._asked == 1 else None


def race() -> FirstSuccess[str]:
    return FirstSuccess(found=bool)


async def test_a_later_answer_wins_at_once_if_something_was_found() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", "found")
        assert await trials.run(Nobody()) is second


async def test_a_later_answer_without_results_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        second = control.start("second")
        await control.end("second", EMPTY)
        assert (trials.winner, trials.has_waiting_outcome) == (None, True)
        await control.end("first", SearchProviderError("down"))
        assert await trials.run(Nobody()) is second


async def test_a_later_refusal_waits_for_the_earlier_trial() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", SearchAuthError("wrong key"))
        assert trials.winner is None
        await control.end("first", "found")
        assert await trials.run(Nobody()) is first


async def test_an_earlier_refusal_decides_against_a_later_answer_without_results() -> None:
    async with race() as trials:
        control = Trials(trials)
        first = control.start("first")
        control.start("second")
        await control.end("second", EMPTY)
        await control.end("first", SearchAuthError("wrong key"))
        assert await trials.run(Nobody()) is first


async def test_a_stopgap_comes_after_trials_that_start_later() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        later = control.start("later")
        await control.end("stopgap", EMPTY)
        assert trials.winner is None
        await control.end("later", EMPTY)
        assert await trials.run(Nobody()) is later


async def test_a_held_stopgap_does_not_win_until_it_is_released() -> None:
    async with race() as trials:
        control = Trials(trials)
        trials.stopgap = control.start("stopgap")
        trials.holds_stopgap = True
        await control.end("stopgap", "found")
        assert trials.winner is None
        assert await trials.run(Nobody()) is trials.stopgap


async def test_another_trial_may_start_when_one_fails_and_after_a_wait() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        schedule = Waits(control, ["second", "third"])
        running = asyncio.create_task(trials.run(schedule))
        await schedule.started.wait()
        assert [trial.name for trial in trials.trials] == ["first", "second"]
        schedule.started.clear()
        await control.end("second", SearchProviderError("down"))
        await schedule.started.wait()
        await control.end("third", "found")
        assert await running is trials.trials[2]


async def test_no_trial_starts_while_an_outcome_waits_for_an_earlier_one() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        refused = control.start("second")
        await control.end("second", SearchAuthError("wrong key"))
        running = asyncio.create_task(trials.run(Waits(control, ["third"])))
        await asyncio.sleep(0)
        await control.end("first", SearchProviderError("down"))
        await running
        assert [trial.name for trial in trials.trials] == ["first", "second"]
        assert refused.running is False


async def test_if_all_fail_the_error_names_every_attempt_and_the_shortest_wait() -> None:
    async with race() as trials:
        control = Trials(trials)
        control.start("first")
        nested = control.start("second")
        await control.end("first", SearchProviderError("down", retry_after=30))
        await control.end("second", Exhausted([], retry_after=9, advice="Set a key."))
        assert await trials.run(Nobody()) is None
        error = trials.exhausted()
        assert ([attempt.name for attempt in error.attempts], error.retry_after) == (["first"], 9)
        assert nested.attempts == ()
        assert error.advice == "Set a key."


async def test_running_trials_are_cancelled_at_the_end() -> None:
    async with race() as trials:
        control = Trials(trials)
        slow = control.start("slow")
        winner = control.start("quick")
        await control.end("quick", "found")
        assert await trials.run(Nobody()) is winner
    assert slow.task.cancelled()


async def test_a_trial_that_sent_nothing_was_not_asked() -> None:
    async with race() as trials:
        control = Trials(trials)
        trial = control.start("first")
        assert trial.was_asked
        await control.end("first", NotAsked("first is not called: its circuit is open"))
        assert not trial.was_asked
