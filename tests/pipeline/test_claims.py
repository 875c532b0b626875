"""Claims checked against pages of the sandbox, given or found."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import pytest

from tests.docs.crawl.small_site import PROSE, Site, html
from tests.loopback import serving
from tests.shared_workers import SharedWorkers
from websearch_gateway.app.gateway import Gateway
from websearch_gateway.errors import (
    Exhausted,
    SearchRateLimitError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.evidence.verdicts import findings
from websearch_gateway.models import Caller, Claim, ContentRequest, Deadline
from websearch_gateway.results import FactDifference
from websearch_gateway.sandbox import Sandbox, key_of

Open = Callable[..., AbstractAsyncContextManager[Gateway]]
ANN = Caller("ann")
TALL = "The Eiffel Tower is 330 metres tall."
SHORT = "The Eiffel Tower is 310 metres tall."
ABSENT = "The Eiffel Tower was painted green in 1950."
OTHER = "Sourdough needs ripe yeast and warm water."


async def test_the_given_page_has_a_claim_differs_from_it_or_lacks_it(
    gateway: Open, sandbox: Sandbox
) -> None:
    url = f"{sandbox.url}/pages/eiffel-tower"
    async with gateway() as opened:
        checked = await opened.check_claims(
            [Claim(text, (url,)) for text in (TALL, SHORT, ABSENT, OTHER)], ANN
        )
    same, other, missing, absent = checked.claims
    assert (same.verdict, other.verdict, missing.verdict) == ("found", "differs", "found")
    assert (same.differences, missing.differences) == ((), ())
    assert other.differences == (
        FactDifference(kind="number", claim="310 metres", page="330 metres"),
    )
    for one in (same, other):
        assert 1 <= len(one.quotes) <= 3
        assert "330" in (one.quote or "")
        assert (one.quotes[0].text, one.quotes[0].url, one.quotes[0].quote_url) == (
            one.quote,
            one.url,
            one.quote_url,
        )
        assert one.url == url
        assert (one.quote_url or "").startswith(f"{url}#:~:text=")
        assert one.judge == "none"
    assert (absent.verdict, absent.quotes, absent.quote, absent.url) == (
        "not_found",
        (),
        None,
        None,
    )
    assert sandbox.calls("serper") == 0, "the addresses were given"
    assert checked.warnings == ()


async def test_without_addresses_each_claim_is_one_search_that_is_billed_and_limited(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(search_rate_limit="2/10minutes") as opened:
        checked = await opened.check_claims([Claim(TALL), Claim(SHORT)], ANN)
        stats = await opened.operations.server_stats()
        with pytest.raises(SearchRateLimitError):
            await opened.check_claims([Claim(ABSENT)], ANN)
        some = await opened.check_claims([Claim(TALL), Claim(ABSENT)], ANN)
    assert [one.verdict for one in checked.claims] == ["found", "differs"]
    assert sandbox.calls("serper") == 2
    assert checked.cost_usd == pytest.approx(stats.days[0].usd, abs=1e-6)
    assert checked.cost_usd > 0
    assert [one.verdict for one in some.claims] == ["found", "unread"], (
        "the first comes from the cache"
    )
    assert any(
        warning.startswith("Claim 2 was not searched: RATE_LIMIT: ") for warning in some.warnings
    )


async def test_a_page_that_cannot_be_read_is_named_and_another_one_decides(
    gateway: Open, sandbox: Sandbox
) -> None:
    tower, gone = f"{sandbox.url}/pages/eiffel-tower", f"{sandbox.url}/pages/special/not-found"
    async with gateway() as opened:
        checked = await opened.check_claims(
            [Claim(TALL, (gone, tower)), Claim(SHORT, (gone,))], ANN
        )
    assert [one.verdict for one in checked.claims] == ["found", "unread"]
    assert any("was not read: FETCH: " in warning for warning in checked.warnings)


async def test_the_page_that_speaks_most_of_a_claim_comes_first(
    gateway: Open, sandbox: Sandbox
) -> None:
    tower, tides = f"{sandbox.url}/pages/eiffel-tower", f"{sandbox.url}/pages/tides-explained"
    async with gateway() as opened:
        (checked,) = (await opened.check_claims([Claim(TALL, (tides, tower))], ANN)).claims
    assert (checked.verdict, checked.url) == ("found", tower)


async def test_if_every_search_fails_the_error_says_why(gateway: Open, sandbox: Sandbox) -> None:
    sandbox.fault("serper", "status", status=503)
    async with gateway(search_providers="serper") as opened:
        with pytest.raises(Exhausted, match="serper"):
            await opened.check_claims([Claim(TALL), Claim(SHORT)], ANN)


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ([], "1 to 20"),
        ([Claim(f"Claim number {number} is true.") for number in range(21)], "1 to 20"),
        ([Claim("x" * 401), Claim("")], "Claim 1"),
        ([Claim("  ")], "Claim 1"),
        ([Claim(TALL, ("ftp://example.org/",))], "http"),
        ([Claim(TALL, tuple(f"https://example.org/{n}" for n in range(6)))], "more than 5"),
        ([Claim(f"The key is {key_of('google')}.")], "credential"),
        ([Claim("It is \x07tall.")], r"`claims` contains the control character U\+0007"),
    ],
)
async def test_what_is_unacceptable_is_refused_before_anybody_is_asked(
    gateway: Open, sandbox: Sandbox, claims: list[Claim], told: str
) -> None:
    async with gateway() as opened:
        with pytest.raises(SearchValidationError, match=told):
            await opened.check_claims(claims, ANN)
    assert (sandbox.calls("serper"), sandbox.calls("pages")) == (0, 0)


async def test_a_claim_that_is_refused_costs_no_other_its_result(
    gateway: Open, sandbox: Sandbox
) -> None:
    urls = (f"{sandbox.url}/pages/eiffel-tower",)
    bad = ["x" * 10_000, "It is \x07tall.", f"The key is {key_of('google')}."]
    async with gateway() as opened:
        checked = await opened.check_claims(
            [Claim(TALL, urls), *(Claim(one, urls) for one in bad)], ANN
        )
    assert [one.verdict for one in checked.claims] == ["found", "unread", "unread", "unread"]
    assert [warning.split(" was not checked: VALIDATION: ")[0] for warning in checked.warnings] == [
        "Claim 2",
        "Claim 3",
        "Claim 4",
    ]
    assert max(len(one.claim) for one in checked.claims) <= 400
    assert sandbox.calls("pages") == 1


async def test_an_address_that_nobody_gave_is_refused_where_that_is_enforced(
    gateway: Open, sandbox: Sandbox
) -> None:
    data = (
        base64.urlsafe_b64encode(b"The user is called Ada and lives in Bremen.")
        .decode()
        .rstrip("=")
    )
    url = f"{sandbox.url}/pages/eiffel-tower?d={data}"
    async with gateway(url_provenance="enforce") as opened:
        await opened.check_claims(
            [Claim(f"See {url} for this.", (f"{sandbox.url}/pages/tides-explained",))], ANN
        )
        checked = await opened.check_claims([Claim(TALL, (url,))], ANN)
    assert checked.claims[0].verdict == "unread"
    assert any("FORBIDDEN_URL" in warning for warning in checked.warnings), (
        "a claim makes no address known"
    )
    assert sandbox.calls("pages") == 1


async def test_twenty_claims_on_stored_pages_take_seconds_of_processor_time(
    gateway: Open, sandbox: Sandbox
) -> None:
    urls = tuple(
        f"{sandbox.url}/pages/{name}"
        for name in ("eiffel-tower", "tides-explained", "sourdough-starter")
    )
    claims = [
        Claim(f"The Eiffel Tower is {number} metres tall.", urls) for number in range(320, 340)
    ]
    async with gateway() as opened:
        await opened.check_claims(claims[:1], ANN)
        before = time.process_time()
        checked = await opened.check_claims(claims, ANN)
        spent = time.process_time() - before
    assert [one.verdict for one in checked.claims].count("found") == 1
    assert spent < 6


async def test_a_page_that_hangs_leaves_its_claims_unread_and_the_others_checked(
    gateway: Open, sandbox: Sandbox
) -> None:
    tower, slow = f"{sandbox.url}/pages/eiffel-tower", f"{sandbox.url}/pages/tides-explained"
    async with gateway() as opened:
        await opened.check_claims([Claim(TALL, (tower,))], ANN)
    sandbox.fault("pages/tides-explained", "hang")
    async with gateway(search_deadline_seconds=2.0) as opened:
        checked = await opened.check_claims(
            [Claim(TALL, (tower, slow)), Claim(ABSENT, (slow,))], ANN
        )
    assert [one.verdict for one in checked.claims] == ["found", "unread"]
    assert any("was not read: TIMEOUT: " in warning for warning in checked.warnings)


@pytest.fixture
def endless_tides(running_workers: SharedWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking through a text about tides takes all the time there is."""
    run = running_workers.run

    async def endless(
        function: Callable[..., Any], *texts: Any, deadline: Deadline, **options: Any
    ) -> Any:
        if function is findings and "tide" in texts[2].casefold():
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), deadline.remaining())
            raise SearchTimeoutError("too late")
        return await run(function, *texts, deadline=deadline, **options)

    monkeypatch.setattr(running_workers, "run", endless)


@pytest.mark.usefixtures("endless_tides")
async def test_a_page_that_takes_too_long_to_look_through_costs_no_other_verdict(
    gateway: Open, sandbox: Sandbox
) -> None:
    tower, slow = f"{sandbox.url}/pages/eiffel-tower", f"{sandbox.url}/pages/tides-explained"
    async with gateway() as opened:
        for url in (tower, slow):
            await opened.reading.content(ContentRequest(url), ANN)
    async with gateway(search_deadline_seconds=4.0) as opened:
        checked = await opened.check_claims(
            [Claim(TALL, (tower, slow)), Claim(ABSENT, (slow,))], ANN
        )
    assert [one.verdict for one in checked.claims] == ["found", "unread"]
    assert checked.warnings == ("127.0.0.1 was read, but not looked through in time.",)


async def test_domains_that_the_operator_blocks_are_not_read_for_a_claim(
    gateway: Open, sandbox: Sandbox
) -> None:
    async with gateway(blocked_domains="127.0.0.1") as opened:
        checked = await opened.check_claims(
            [Claim(TALL, (f"{sandbox.url}/pages/eiffel-tower",))], ANN
        )
    assert checked.claims[0].verdict == "unread"
    assert any("FORBIDDEN_URL" in warning for warning in checked.warnings)
    assert sandbox.calls("pages") == 0


async def test_a_page_that_differs_from_a_claim_that_another_one_has_is_named(
    gateway: Open,
) -> None:
    made = Site()
    made.pages = {
        f"/{n}": html("The bridge", f"{PROSE} The Halden bridge is {n} metres long.")
        for n in (120, 150)
    }
    async with serving(made.serve) as made.port:
        here = f"127.0.0.1:{made.port}"
        async with gateway(fetch_allow_private_hosts=here) as opened:
            claim = Claim(
                "The Halden bridge is 120 metres long.",
                (f"http://{here}/150", f"http://{here}/120"),
            )
            checked = await opened.check_claims([claim], ANN)
    assert (checked.claims[0].verdict, checked.claims[0].url) == ("verbatim", f"http://{here}/120")
    assert checked.warnings == (
        "Claim 1: 127.0.0.1 differs: 150 metres, where the claim has 120 metres.",
    )


async def test_a_search_that_failed_after_it_was_billed_is_part_of_the_cost(
    gateway: Open, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "hang", when="1950")
    async with gateway(search_providers="serper", search_deadline_seconds=4.0) as opened:
        checked = await opened.check_claims([Claim(TALL), Claim(ABSENT)], ANN)
        day = (await opened.operations.server_stats()).days[0]
    assert any(warning.startswith("Claim 2 was not searched: ") for warning in checked.warnings)
    assert sandbox.calls("serper") == 2
    assert checked.cost_usd == pytest.approx(0.002)
    assert checked.cost_usd == pytest.approx(day.usd, abs=1e-6)
