"""Quotes are the answer only if no engine answers, whenever raw search began. All in virtual time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from bench.virtual_time import in_virtual_time, now
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchProviderError,
    SearchTimeoutError,
)
from websearch_gateway.models import Answer, Call, Deadline, SearchQuery, Span
from websearch_gateway.pipeline.fallback import QUOTES_RESERVE_SECONDS, FallbackEngine, Ranked

HEDGE, ALL = 9.0, 15.0
HANGS = 1000.0
DOWN = SearchProviderError("down")
NOTHING = Answer("No page answers this directly.", (), "x-raw-search")


@dataclass
class Timed:
    """An engine that takes some seconds, then answers or fails. It gives up at its deadline, as real ones do."""

    name: str
    seconds: float
    outcome: Answer | SearchError | None = None
    began: list[float] = field(default_factory=list)
    overtaken: int = 0

    async def ask(self, call: Call) -> Answer:
        self.began.append(now())
        try:
            async with asyncio.timeout(call.remaining()):
                await asyncio.sleep(self.seconds)
        except TimeoutError:
            raise SearchTimeoutError(f"{self.name} did not answer in time.") from None
        if isinstance(self.outcome, SearchError):
            raise self.outcome
        return self.outcome or Answer(
            "It is tall.", (Span("https://a.example/", "A", 0, 11),), self.name
        )

    def note(self) -> None:
        self.overtaken += 1


@dataclass
class Asked:
    """The engine that answered, its time, and the reason why the first did not."""

    provider: str
    seconds: float
    reason: str


async def ask(*engines: Timed, raw: Timed) -> Asked:
    ranked = [Ranked(engine, engine.note, gathers=engine.name == "llm") for engine in engines]
    answer = await FallbackEngine(ranked, raw, HEDGE).ask(
        Call.of(SearchQuery("how tall is the tower"), Deadline.after(ALL, now))
    )
    return Asked(answer.provider, now(), answer.fallback.reason if answer.fallback else "")


def quotes(seconds: float = 2.0, outcome: Answer | SearchError | None = None) -> Timed:
    return Timed("raw-search", seconds, outcome)


@in_virtual_time
async def test_a_model_joins_raw_search_with_results_and_wins_over_its_quotes() -> None:
    slow, llm, raw = Timed("openai", HANGS), Timed("llm", 2), quotes()
    assert await ask(slow, llm, raw=raw) == Asked(
        "llm", HEDGE + 4, "TIMEOUT: no answer within 9 s."
    )
    assert (raw.began, llm.began) == ([HEDGE], [HEDGE + 2])
    assert (slow.overtaken, llm.overtaken) == (1, 0)


@in_virtual_time
async def test_a_model_also_joins_if_nothing_can_be_quoted() -> None:
    slow, llm = Timed("openai", HANGS), Timed("llm", 2)
    assert (await ask(slow, llm, raw=quotes(outcome=NOTHING))).provider == "llm"


@in_virtual_time
async def test_a_model_starts_when_the_slow_engine_fails_while_raw_search_still_reads() -> None:
    slow, llm = Timed("openai", HEDGE + 1, DOWN), Timed("llm", 2)
    assert await ask(slow, llm, raw=quotes(seconds=2)) == Asked("llm", HEDGE + 3, "PROVIDER: down")
    assert llm.began == [HEDGE + 1]


@in_virtual_time
async def test_the_slow_engine_may_still_answer_while_the_model_writes() -> None:
    slow, llm = Timed("openai", HEDGE + 3), Timed("llm", 2)
    assert await ask(slow, llm, raw=quotes()) == Asked("openai", HEDGE + 3, "")
    assert (slow.overtaken, llm.overtaken) == (0, 0)


@in_virtual_time
async def test_quotes_are_served_at_once_when_the_model_that_joined_fails() -> None:
    slow, llm = Timed("openai", HANGS), Timed("llm", 1, DOWN)
    reason = "TIMEOUT: no answer within 9 s. llm: PROVIDER: down"
    assert await ask(slow, llm, raw=quotes()) == Asked("raw-search", HEDGE + 3, reason)


@in_virtual_time
async def test_quotes_are_served_before_the_deadline_when_the_model_hangs_too() -> None:
    slow, llm = Timed("openai", HANGS), Timed("llm", HANGS)
    reason = "TIMEOUT: no answer within 9 s. llm: TIMEOUT: no answer in time."
    assert await ask(slow, llm, raw=quotes()) == Asked(
        "raw-search", ALL - QUOTES_RESERVE_SECONDS, reason
    )
    assert (slow.overtaken, llm.overtaken) == (1, 0), "the model had just begun"


@in_virtual_time
async def test_an_engine_that_searches_by_itself_never_starts_beside_a_slow_one() -> None:
    slow, gemini = Timed("openai", HANGS), Timed("gemini", 0)
    assert (await ask(slow, gemini, raw=quotes())).seconds == ALL - QUOTES_RESERVE_SECONDS
    assert gemini.began == []


@in_virtual_time
async def test_quotes_wait_for_an_engine_that_starts_after_the_slow_one_has_failed() -> None:
    slow, gemini = Timed("openai", HEDGE + 3, DOWN), Timed("gemini", 1)
    assert await ask(slow, gemini, raw=quotes()) == Asked("gemini", HEDGE + 4, "PROVIDER: down")


@in_virtual_time
@pytest.mark.parametrize(("seconds", "hedge"), [(6, 3.6), (2, 1.2), (12, 7.2), (40, 9)])
async def test_a_short_deadline_leaves_raw_search_its_part_beside_an_engine_that_hangs(
    seconds: float, hedge: float
) -> None:
    raw = Timed("raw-search", 0.3 * seconds)
    call = Call.of(SearchQuery("how tall is the tower"), Deadline.after(seconds, now))
    answer = await FallbackEngine([Ranked(Timed("openai", HANGS))], raw, HEDGE).ask(call)
    assert (answer.provider, raw.began) == ("raw-search", [pytest.approx(hedge)])
    assert answer.fallback is not None
    assert answer.fallback.reason == f"TIMEOUT: no answer within {hedge:g} s."


@in_virtual_time
async def test_quotes_win_at_once_over_a_slow_engine_when_no_other_engine_is_left() -> None:
    slow = Timed("openai", HANGS)
    assert await ask(slow, raw=quotes()) == Asked(
        "raw-search", HEDGE + 2, "TIMEOUT: no answer within 9 s."
    )
    assert slow.overtaken == 1


@in_virtual_time
async def test_a_model_that_is_last_in_order_starts_before_an_engine_that_cannot_join() -> None:
    slow, gemini, llm = Timed("openai", HEDGE + 3, DOWN), Timed("gemini", 0), Timed("llm", 2, DOWN)
    assert (await ask(slow, gemini, llm, raw=quotes())).provider == "gemini"
    assert (llm.began, gemini.began) == ([HEDGE + 2], [HEDGE + 4])


@in_virtual_time
async def test_a_wrong_key_of_the_model_that_joined_is_shown_in_a_warning_of_the_quotes() -> None:
    slow, llm = Timed("openai", HANGS), Timed("llm", 1, SearchAuthError("check LLM_API_KEY"))
    assert await ask(slow, llm, raw=quotes()) == Asked(
        "raw-search", HEDGE + 3, "TIMEOUT: no answer within 9 s. llm: AUTH: check LLM_API_KEY"
    )


@in_virtual_time
async def test_a_wrong_key_of_raw_search_does_not_stop_the_engine_that_comes_next() -> None:
    slow, gemini = Timed("openai", HEDGE + 3, DOWN), Timed("gemini", 1)
    assert (
        await ask(slow, gemini, raw=quotes(outcome=SearchAuthError("serper")))
    ).provider == "gemini"


@in_virtual_time
async def test_raw_search_that_failed_beside_a_slow_engine_does_not_start_again() -> None:
    slow, gemini, raw = (
        Timed("openai", HEDGE + 3, DOWN),
        Timed("gemini", 1, DOWN),
        quotes(outcome=DOWN),
    )
    with pytest.raises(SearchError, match="down"):
        await ask(slow, gemini, raw=raw)
    assert len(raw.began) == 1
