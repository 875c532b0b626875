"""Which addresses a caller was shown, and what happens to the others."""

from __future__ import annotations

import asyncio

import pytest

from bench.virtual_time import in_virtual_time, now
from tests.clock import Clock
from tests.patience import PATIENCE
from websearch_gateway.errors import ForbiddenUrlError, StateUnavailable
from websearch_gateway.models import LOCAL, Caller, Deadline
from websearch_gateway.pipeline.provenance import (
    KEEP_SECONDS,
    KNOWN_ADDRESSES,
    Mode,
    Provenance,
)
from websearch_gateway.ports import Workers
from websearch_gateway.results import (
    RawQuery,
    RawSearchResponse,
    SearchResponse,
    WebResult,
    WebSearchResponse,
)
from websearch_gateway.state.memory import MemoryState

DATA = "d=VGhlIHVzZXIgbGl2ZXMgaW4gQnJlbWVuIGFuZCB3b3JrcyBhdCB0aGUgaGFyYm91cg"
SHOWN = f"https://a.example/read?{DATA}"
EVIL = f"https://evil.example/?{DATA}"
SLUG = "https://evil.example/2024/why-everyone-is-moving-to-small-towns-again"
ADA, BOB = Caller("ada"), Caller("bob")


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


def made(state: MemoryState, workers: Workers, mode: Mode = "enforce", *trusted: str) -> Provenance:
    async def is_indexed(url: str) -> bool:
        return url == f"https://docs.example/?{DATA}"

    return Provenance(mode, trusted, state, workers, is_indexed)


def found(link: str) -> WebSearchResponse:
    return WebSearchResponse(
        results=(WebResult(title="A", link=link, snippet="", provider="x", page_content=""),)
    )


async def refused(provenance: Provenance, url: str, caller: Caller = ADA) -> bool:
    try:
        await provenance.check(url, caller)
    except ForbiddenUrlError as error:
        return error.details["reason"] == "provenance"
    return False


async def test_the_modes(state: MemoryState, workers: Workers) -> None:
    assert await made(state, workers, "off").check(EVIL, ADA) is None
    warning = await made(state, workers, "warn").check(EVIL, ADA)
    assert warning is not None
    assert warning.startswith("Unknown address: ")
    assert "evil" not in warning
    with pytest.raises(ForbiddenUrlError, match="Unknown address: ") as error:
        await made(state, workers, "enforce").check(EVIL, ADA)
    assert error.value.details == {"reason": "provenance", "characters": 66}
    for mode in ("warn", "enforce"):
        assert await made(state, workers, mode).check(SLUG, ADA) is None


async def test_what_a_result_held_is_known_to_its_caller_alone_in_every_process(
    state: MemoryState, workers: Workers
) -> None:
    one, other = made(state, workers), made(state, workers)
    await one.remember(found(SHOWN), ADA)
    for provenance in (one, other):
        assert not await refused(provenance, SHOWN)
        assert not await refused(provenance, SHOWN.replace("https://a", "http://A") + "#part")
        assert await refused(provenance, SHOWN, BOB)
        assert await refused(provenance, SHOWN + "x")
        assert await refused(provenance, EVIL), "a host is not known because an address of it is"


@pytest.mark.parametrize(
    "result",
    [
        SearchResponse(
            query="q", text=f"It says so ({SHOWN}).", provider="x", model="m", responded_at="now"
        ),
        RawSearchResponse(
            queries=(RawQuery(query="q", result={"items": [{"link": SHOWN}]}),), cost_usd=0.0
        ),
        WebSearchResponse(
            results=(
                WebResult(
                    title="",
                    link="https://b.example/",
                    snippet="",
                    provider="x",
                    page_content=f"[a]({SHOWN})",
                ),
            )
        ),
    ],
)
async def test_every_text_of_a_result_counts(
    state: MemoryState, workers: Workers, result: object
) -> None:
    provenance = made(state, workers)
    await provenance.remember(result, ADA)  # type: ignore[arg-type]
    assert not await refused(provenance, SHOWN)


async def test_the_links_of_a_page_are_known_also_of_a_long_one(
    state: MemoryState, workers: Workers
) -> None:
    # On a busy machine a process starts slowly.
    await workers.run(int, deadline=Deadline.after(PATIENCE))
    provenance = made(state, workers)
    links = [f"{SHOWN}{number}" for number in range(1_000)]
    await provenance.remember_page(
        "\n".join(f"- [{link[-3:]}]({link})" for link in links), ADA, Deadline.after(PATIENCE)
    )
    other = made(state, workers)
    assert [
        link for link in links if await refused(provenance, link) or await refused(other, link)
    ] == []


async def test_a_link_is_known_with_and_without_its_trackers_but_not_with_data_in_them(
    state: MemoryState, workers: Workers
) -> None:
    provenance = made(state, workers)
    await provenance.remember(found(f"{SHOWN}&utm_source=feed"), ADA)
    for url in (f"{SHOWN}&utm_source=feed", SHOWN, f"{SHOWN}&utm_source=openai"):
        assert not await refused(provenance, url)
    assert await refused(provenance, f"{SHOWN}&utm_content={DATA}")


async def test_a_link_is_known_with_the_mark_at_its_end_but_not_with_many(
    state: MemoryState, workers: Workers
) -> None:
    """A text gives no link the mark of its sentence; a page may."""
    provenance = made(state, workers)
    await provenance.remember_page(f"Read [on]({SHOWN}.)", ADA, Deadline.after(PATIENCE))
    assert not await refused(provenance, f"{SHOWN}.")
    assert not await refused(provenance, SHOWN)
    assert await refused(provenance, f"{SHOWN}.,;:!")


async def test_an_indexed_page_and_a_trusted_domain_are_known(
    state: MemoryState, workers: Workers
) -> None:
    provenance = made(state, workers, "enforce", "intranet.example")
    assert not await refused(provenance, f"https://docs.example/?{DATA}")
    assert not await refused(provenance, f"https://wiki.intranet.example/?{DATA}")
    assert await refused(provenance, f"https://docs.example/?{DATA}&x=1")
    assert await refused(provenance, f"https://intranet.example.evil.example/?{DATA}")


async def test_redirects_are_checked_unless_the_address_is_known(
    state: MemoryState, workers: Workers
) -> None:
    provenance = made(state, workers, "enforce", "trusted.example")
    await provenance.remember(found("https://short.example/1"), ADA)
    call = Deadline.after(PATIENCE)
    assert provenance.checking_redirects(call, "https://short.example/1", ADA) is call
    for start in ("https://short.example/2", f"https://trusted.example/?{DATA}"):
        check = provenance.checking_redirects(call, start, ADA).within(1).check_redirect
        assert check is not None
        await check(SLUG)
        with pytest.raises(ForbiddenUrlError):
            await check(EVIL)
    warning = made(state, workers, "warn")
    assert warning.checking_redirects(call, "https://short.example/2", ADA) is call, (
        "then callers can share a read"
    )
    assert await warning.check_final(EVIL, "https://short.example/2", ADA) is not None


async def test_the_state_holds_hashes_of_addresses_with_data_for_a_time(workers: Workers) -> None:
    clock = Clock()
    state = MemoryState(clock=clock)
    provenance = made(state, workers)
    await provenance.remember(found(SHOWN), ADA)
    await provenance.remember(found("https://a.example/plain"), ADA)
    ((key, value),) = [entry async for entry in state.scan(KNOWN_ADDRESSES)]
    assert value == b"1"
    assert "ada" not in key
    assert "example" not in key
    clock.now += KEEP_SECONDS + 1
    assert await refused(made(state, workers), SHOWN)


async def test_what_the_state_missed_in_an_outage_is_kept_when_it_is_shown_again(
    state: MemoryState, workers: Workers
) -> None:
    async def fails(*_: object) -> None:
        raise StateUnavailable("gone")

    provenance, put = made(state, workers), state.put
    state.put = fails  # type: ignore[method-assign, assignment]
    await provenance.remember(found(SHOWN), ADA)
    assert await refused(made(state, workers), SHOWN)
    state.put = put  # type: ignore[method-assign]
    await provenance.remember(found(SHOWN), ADA)
    assert not await refused(made(state, workers), SHOWN)


async def test_without_the_state_the_process_remembers(
    state: MemoryState, workers: Workers, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(*_: object) -> None:
        raise StateUnavailable("gone")

    state.put = state.get = fails  # type: ignore[method-assign, assignment]
    provenance = made(state, workers)
    await provenance.remember(found(SHOWN), LOCAL)
    assert not await refused(provenance, SHOWN, LOCAL)
    assert await refused(provenance, EVIL, LOCAL)
    assert len(caplog.messages) == 1


async def test_a_stored_result_is_examined_once_however_old_it_is(
    state: MemoryState, workers: Workers
) -> None:
    stored: list[str] = []

    async def counts(key: str, *more: object) -> None:
        stored.append(key)
        await put(key, *more)  # type: ignore[arg-type]

    provenance, put = made(state, workers), state.put
    state.put = counts  # type: ignore[method-assign, assignment]
    for text in ("short", "long" * 3_000):  # a long one is not held
        stored.clear()
        answer = SearchResponse(text=f"{text} {SHOWN}")
        for age in range(5):
            await provenance.remember(answer.model_copy(update={"age_seconds": age / 10}), ADA)
        assert len(stored) == 1
        await provenance.remember(answer, BOB)
        assert len(stored) == 2


@in_virtual_time
async def test_a_state_that_hangs_does_not_hold_a_reply() -> None:
    class Hanging(MemoryState):
        async def put(self, key: str, value: bytes, ttl: float | None = None) -> None:
            await asyncio.Event().wait()

    provenance = made(Hanging(), None)  # type: ignore[arg-type]
    await provenance.remember(found(SHOWN), LOCAL)
    assert now() < 1
    assert not await refused(provenance, SHOWN, LOCAL)
