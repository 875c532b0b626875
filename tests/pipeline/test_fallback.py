"""When the second engine steps in, and when it must not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from websearch_gateway.errors import (
    Attempt,
    Exhausted,
    NotAsked,
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.models import Answer, Call, Deadline, SearchQuery, Span
from websearch_gateway.pipeline.fallback import FallbackEngine, Ranked
from websearch_gateway.upstream.circuit_breaker import CircuitBreaker
from websearch_gateway.upstream.guarded import Guarded
from websearch_gateway.upstream.health import HealthRegistry
from websearch_gateway.upstream.race import FirstSuccess

QUERY = SearchQuery("how tall is the tower")
NEVER = 1000.0


@dataclass
class Scripted:
    """An engine with a scripted outcome once `go` is set. It records whether it was started and cancelled."""

    name: str
    outcome: Answer | SearchError
    go: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: bool = False

    async def ask(self, call: Call) -> Answer:
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if isinstance(self.outcome, SearchError):
            raise self.outcome
        return self.outcome


def sourced(provider: str) -> Answer:
    return Answer("It is tall.", (Span("https://a.example/", "A", 0, 11),), provider)


def ready(name: str, outcome: Answer | SearchError) -> Scripted:
    engine = Scripted(name, outcome)
    engine.go.set()
    return engine


async def ask(first: Scripted, second: Scripted, hedge_seconds: float = NEVER) -> Answer:
    return await FallbackEngine([Ranked(first)], second, hedge_seconds).ask(
        Call.of(QUERY, Deadline.after(60))
    )


async def test_the_primary_answers_alone_when_it_can() -> None:
    second = ready("raw-search", sourced("x-raw-search"))
    answer = await ask(ready("openai", sourced("openai")), second)
    assert answer.provider == "openai"
    assert answer.fallback is None
    assert not second.started.is_set()


@pytest.mark.parametrize(
    "error",
    [
        SearchProviderError("down"),
        SearchTimeoutError("late"),
        SearchProviderParseError("no search in the reply"),
    ],
)
async def test_an_unavailable_primary_is_replaced_and_the_answer_says_why(
    error: SearchError,
) -> None:
    answer = await ask(ready("openai", error), ready("raw-search", sourced("serper-raw-search")))
    assert answer.provider == "serper-raw-search"
    assert answer.fallback is not None
    assert answer.fallback.given_up == "openai"
    assert answer.fallback.reason == f"{error.code}: {error.message}"


@pytest.mark.parametrize(
    "error", [SearchAuthError("wrong key"), SearchValidationError("bad request")]
)
async def test_a_refusal_of_the_primary_is_shown_and_never_masked(error: SearchError) -> None:
    second = ready("raw-search", sourced("x-raw-search"))
    with pytest.raises(type(error)):
        await ask(ready("openai", error), second)
    assert not second.started.is_set()


async def test_the_secondary_joins_a_slow_primary_and_cancels_it_by_answering_first() -> None:
    first = Scripted("openai", sourced("openai"))
    answer = await ask(first, ready("raw-search", sourced("x-raw-search")), hedge_seconds=0)
    assert answer.provider == "x-raw-search"
    assert answer.fallback is not None
    assert answer.fallback.reason.startswith("TIMEOUT: ")
    assert first.cancelled


async def test_a_slow_primary_that_answers_first_wins_and_the_secondary_is_cancelled() -> None:
    first, second = (
        Scripted("openai", sourced("openai")),
        Scripted("raw-search", sourced("x-raw-search")),
    )
    asking = asyncio.create_task(ask(first, second, hedge_seconds=0))
    await second.started.wait()
    first.go.set()
    answer = await asking
    assert answer.provider == "openai"
    assert answer.fallback is None
    assert second.cancelled


async def test_an_answer_without_sources_does_not_beat_a_primary_that_still_works() -> None:
    first = Scripted("openai", sourced("openai"))
    second = ready("raw-search", Answer("Nothing found.", (), "x-raw-search"))
    asking = asyncio.create_task(ask(first, second, hedge_seconds=0))
    await second.started.wait()
    first.go.set()
    assert (await asking).provider == "openai"


async def test_an_empty_result_is_an_answer_after_the_primary_has_failed() -> None:
    answer = await ask(
        ready("openai", SearchProviderError("down")),
        ready("raw-search", Answer("Nothing found.", (), "x-raw-search")),
    )
    assert answer.text == "Nothing found."


async def test_both_failing_names_every_attempt_and_the_shortest_wait() -> None:
    raw = Exhausted(
        [Attempt("serper", "PROVIDER", "HTTP 500"), Attempt("duckduckgo", "TIMEOUT", "late")],
        retry_after=30,
    )
    with pytest.raises(Exhausted) as caught:
        await ask(
            ready("openai", SearchProviderError("down", retry_after=7)), ready("raw-search", raw)
        )
    assert [attempt.name for attempt in caught.value.attempts] == ["openai", "serper", "duckduckgo"]
    assert caught.value.retry_after == 7


async def test_the_first_engine_that_was_asked_shows_its_wrong_key() -> None:
    raw = ready("raw-search", sourced("x-raw-search"))
    resting = Ranked(ready("gemini", NotAsked("The circuit of gemini is open.")))
    for before in ([], [resting]):
        with pytest.raises(SearchAuthError):
            await in_a_row(*before, Ranked(ready("anthropic", SearchAuthError("key"))), raw=raw)
    assert not raw.started.is_set()


async def test_when_all_fail_the_error_names_wrong_keys_too() -> None:
    with pytest.raises(Exhausted) as caught:
        await ask(
            ready("openai", SearchTimeoutError("late", retry_after=3)),
            ready("raw-search", SearchAuthError("key")),
        )
    assert [attempt.code for attempt in caught.value.attempts] == ["TIMEOUT", "AUTH"]
    assert (caught.value.code, caught.value.retry_after) == ("TIMEOUT", 3)


async def test_cancelling_the_question_cancels_both_engines() -> None:
    first, second = Scripted("openai", sourced("openai")), Scripted("raw-search", sourced("x"))
    asking = asyncio.create_task(ask(first, second, hedge_seconds=0))
    await second.started.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert first.cancelled
    assert second.cancelled


async def test_without_an_engine_quotes_are_no_fallback() -> None:
    answer = await in_a_row(raw=ready("raw", sourced("x-raw-search")))
    assert answer.fallback is None


async def in_a_row(*engines: Ranked, raw: Scripted, hedge_seconds: float = NEVER) -> Answer:
    return await FallbackEngine(engines, raw, hedge_seconds).ask(Call.of(QUERY, Deadline.after(60)))


async def test_the_engines_are_called_in_order_and_raw_search_comes_last() -> None:
    raw = ready("raw-search", sourced("x-raw-search"))
    down = Ranked(ready("openai", SearchProviderError("down")))
    answer = await in_a_row(down, Ranked(ready("gemini", sourced("gemini"))), raw=raw)
    assert answer.provider == "gemini"
    assert answer.fallback is not None
    assert (answer.fallback.given_up, answer.fallback.reason) == ("openai", "PROVIDER: down")
    assert not raw.started.is_set()
    answer = await in_a_row(down, Ranked(ready("gemini", SearchTimeoutError("late"))), raw=raw)
    assert answer.provider == "x-raw-search"
    assert answer.fallback is not None
    assert answer.fallback.reason == "PROVIDER: down gemini: TIMEOUT: late"


async def test_a_wrong_key_of_a_later_engine_is_skipped_with_a_warning() -> None:
    raw = ready("raw-search", sourced("x-raw-search"))
    engines = [
        Ranked(ready("openai", SearchProviderError("down"))),
        Ranked(ready("gemini", SearchAuthError("key"))),
    ]
    answer = await in_a_row(*engines, raw=raw)
    assert answer.provider == "x-raw-search"
    assert answer.warnings == ("GEMINI IS SKIPPED until its setting is corrected: key",)
    assert answer.fallback is not None
    assert answer.fallback.reason == "PROVIDER: down gemini: AUTH: key"


async def test_raw_search_does_not_start_beside_an_engine_that_writes_from_its_results() -> None:
    slow, raw = Scripted("llm", sourced("llm")), ready("raw-search", sourced("x-raw-search"))
    asking = asyncio.create_task(in_a_row(Ranked(slow, gathers=True), raw=raw, hedge_seconds=0))
    await slow.started.wait()
    slow.go.set()
    assert (await asking).provider == "llm"
    assert not raw.started.is_set()


def behind_breaker(
    engine: Scripted, failures: int, hedge_seconds: float
) -> tuple[FallbackEngine, CircuitBreaker]:
    breaker = CircuitBreaker(HealthRegistry(clock=lambda: 0.0).of(engine.name), failures)
    secondary = ready("raw-search", sourced("serper-raw-search"))
    ranked = Ranked(Guarded(engine, breaker), breaker.overtaken)
    return FallbackEngine([ranked], secondary, hedge_seconds), breaker


async def test_an_engine_with_an_open_circuit_is_replaced_at_once_and_the_answer_says_so() -> None:
    primary = ready("openai", SearchProviderError("OpenAI failed (HTTP 503)."))
    engine, _ = behind_breaker(primary, failures=3, hedge_seconds=NEVER)
    for _ in range(3):
        await engine.ask(Call.of(QUERY, Deadline.after(60)))
    primary.started.clear()
    answer = await engine.ask(Call.of(QUERY, Deadline.after(60)))
    assert not primary.started.is_set()
    assert answer.fallback is not None
    assert answer.fallback.reason == (
        "PROVIDER: The circuit of openai is open for 30 s after PROVIDER: OpenAI failed (HTTP 503)."
    )


async def test_an_engine_that_is_overtaken_repeatedly_gets_an_open_circuit() -> None:
    """Otherwise each question would wait for the hedge and pay for an answer that is never used."""
    primary = Scripted("openai", sourced("openai"))
    engine, breaker = behind_breaker(primary, failures=3, hedge_seconds=0.001)
    for _ in range(3):
        assert breaker.health.breaker == "closed"
        await engine.ask(Call.of(QUERY, Deadline.after(60)))
    assert breaker.health.breaker == "open"
    assert breaker.health.last_error is not None
    assert breaker.health.last_error.message == "openai had not answered when another upstream had."


async def test_a_slow_engine_that_answers_first_has_no_failure() -> None:
    primary, secondary = Scripted("openai", sourced("openai")), Scripted("raw-search", sourced("x"))
    breaker = CircuitBreaker(HealthRegistry().of("openai"), failures=1)
    engine = FallbackEngine([Ranked(Guarded(primary, breaker), breaker.overtaken)], secondary, 0)
    asking = asyncio.create_task(engine.ask(Call.of(QUERY, Deadline.after(60))))
    await secondary.started.wait()
    primary.go.set()
    assert (await asking).provider == "openai"
    assert breaker.health.breaker == "closed"


async def test_a_caller_who_leaves_opens_no_circuit() -> None:
    primary = Scripted("openai", sourced("openai"))
    engine, breaker = behind_breaker(primary, failures=1, hedge_seconds=NEVER)
    asking = asyncio.create_task(engine.ask(Call.of(QUERY, Deadline.after(60))))
    await primary.started.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert primary.cancelled
    assert breaker.health.breaker == "closed"


async def test_the_costs_of_raw_search_are_booked_when_the_engine_wins() -> None:
    class Paying(Scripted):
        async def ask(self, call: Call) -> Answer:
            call.bill.book(0.001)
            return await super().ask(call)

    primary, secondary = Scripted("openai", sourced("openai")), Paying("raw-search", sourced("x"))
    call = Call.of(QUERY, Deadline.after(60))
    asking = asyncio.create_task(
        FallbackEngine([Ranked(primary)], secondary, hedge_seconds=0).ask(call)
    )
    await secondary.started.wait()
    primary.go.set()
    answer = await asking
    assert (answer.provider, call.bill.usd) == ("openai", pytest.approx(0.001))


async def test_the_costs_of_a_chain_behind_raw_search_are_booked_too() -> None:
    """The chain calls its providers in separate tasks, and is cancelled meanwhile."""

    class Asking(Scripted):
        async def ask(self, call: Call) -> Answer:
            async with FirstSuccess[Answer](found=bool) as race:
                await race.start("serper", self._pay(call)).task
            raise AssertionError("never reached")

        async def _pay(self, call: Call) -> Answer:
            call.bill.part().book(0.001)
            return await super().ask(call)

    primary, secondary = Scripted("openai", sourced("openai")), Asking("raw-search", sourced("x"))
    call = Call.of(QUERY, Deadline.after(60))
    asking = asyncio.create_task(
        FallbackEngine([Ranked(primary)], secondary, hedge_seconds=0).ask(call)
    )
    await secondary.started.wait()
    primary.go.set()
    answer = await asking
    assert (answer.provider, call.bill.usd) == ("openai", pytest.approx(0.001))
