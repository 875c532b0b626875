from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2
import pytest

from websearch_gateway.base.net.bodies import MAX_REPLY_BYTES
from websearch_gateway.base.net.client import HttpSearcher, create_client
from websearch_gateway.base.net.requests import Retry
from websearch_gateway.errors import (
    SearchAuthError,
    SearchError,
    SearchNotConfiguredError,
    SearchProviderError,
    SearchProviderParseError,
    SearchTimeoutError,
    SearchValidationError,
    Unavailable,
)
from websearch_gateway.models import AppliedFilters, Call, Deadline, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.providers.brave import Brave
from websearch_gateway.providers.duckduckgo import DuckDuckGo
from websearch_gateway.providers.google import Google
from websearch_gateway.providers.serper import Serper
from websearch_gateway.providers.synthetic import Synthetic
from websearch_gateway.providers.table import PROVIDERS, Entry
from websearch_gateway.providers.tavily import Tavily
from websearch_gateway.sandbox import Sandbox, key_of
from websearch_gateway.settings.loading import Settings

KEY = "a-secret-key"
QUERY = SearchQuery("descale an espresso machine", max_results=5)


async def no_sleep(_: float) -> None:
    return None


def soon() -> Deadline:
    return Deadline.after(300)


@dataclass
class Vendor:
    """Answers with the given replies in turn, and then repeats the last one."""

    replies: list[httpx2.Response | Exception]
    requests: list[httpx2.Request] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        # A reply as a stream, as it comes from a socket: `send` reads it in pieces.
        return httpx2.Response(reply.status_code, stream=httpx2.ByteStream(reply.content))


def serper_searcher(vendor: Vendor) -> HttpSearcher:
    client = create_client(httpx2.MockTransport(vendor))
    return HttpSearcher(Serper(KEY), client, Retry(sleep=no_sleep))


def serper_page(*paths: str) -> httpx2.Response:
    """A page of Serper's results; a full page has ten."""
    rows = [{"title": path, "link": f"https://a.example/{path}", "snippet": "s"} for path in paths]
    return httpx2.Response(200, json={"searchParameters": {}, "organic": rows})


class Sandboxed:
    """A searcher for each provider, all against the sandbox."""

    def __init__(self, sandbox: Sandbox, client: httpx2.AsyncClient) -> None:
        settings = Settings(**sandbox.flags(), perplexity_api_key=key_of("perplexity"))
        retry = Retry(sleep=no_sleep)
        self.by_name = {
            entry.name: HttpSearcher(entry.build(settings), client, retry) for entry in PROVIDERS
        }


@pytest.fixture
async def sandboxed(sandbox: Sandbox) -> AsyncIterator[Sandboxed]:
    async with create_client() as client:
        yield Sandboxed(sandbox, client)


NAMES = [entry.name for entry in PROVIDERS]
PAGING = ["serper", "brave", "google", "jina", "searxng", "duckduckgo", "wikipedia"]
TARGETS = {entry.name: entry.row.engine or entry.name for entry in PROVIDERS}
"""The stand-in of each provider."""


@pytest.mark.parametrize("name", NAMES)
async def test_every_provider_finds_pages_in_the_sandbox(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str
) -> None:
    call = Call.of(QUERY, soon())
    results = await sandboxed.by_name[name].ask(call)
    assert 1 < len(results.hits) <= QUERY.max_results
    assert results.hits[0].url == f"{sandbox.url}/pages/descale-espresso-machine"
    assert results.provider == name
    caveat = sandboxed.by_name[name].provider.capabilities.caveat
    assert results.warnings == ((caveat,) if caveat else ())
    assert call.bill.usd == sandboxed.by_name[name].provider.capabilities.cost_per_call_usd


@pytest.mark.parametrize("name", NAMES)
async def test_every_vendor_can_answer_another_question(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str
) -> None:
    sandbox.fault(TARGETS[name], "unrelated")
    results = await sandboxed.by_name[name].ask(Call.of(QUERY, soon()))
    assert results.hits
    assert f"{sandbox.url}/pages/descale-espresso-machine" not in {hit.url for hit in results.hits}


@pytest.mark.parametrize("name", PAGING)
async def test_paging_collects_distinct_hits_up_to_the_requested_number(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str
) -> None:
    call = Call.of(SearchQuery("the water and the time", max_results=25), soon())
    results = await sandboxed.by_name[name].ask(call)
    assert len({hit.url for hit in results.hits}) == len(results.hits) == 25
    assert sandbox.calls(TARGETS[name]) >= 2
    price = sandboxed.by_name[name].provider.capabilities.cost_per_call_usd
    assert call.bill.usd == pytest.approx(price * sandbox.calls(TARGETS[name]))


@pytest.mark.parametrize("name", NAMES)
async def test_all_filters_together_are_accepted(sandboxed: Sandboxed, name: str) -> None:
    query = SearchQuery(
        "coffee",
        max_results=20,
        freshness_hours=168,
        region="GB",
        language="en",
        safe_search="strict",
        topic="news",
    )
    results = await sandboxed.by_name[name].ask(Call.of(query, soon()))
    assert results.applied == sandboxed.by_name[name].provider.applied(query)


@pytest.mark.parametrize("name", NAMES)
async def test_an_empty_result_is_an_answer_and_is_billed_once(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str
) -> None:
    results = await sandboxed.by_name[name].ask(
        Call.of(SearchQuery("zzyzxqua vlorbik", max_results=25), soon())
    )
    assert results.hits == ()
    assert sandbox.calls(TARGETS[name]) == 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["the water and the time", "descale an espresso machine", "loomdb"]
)
async def test_one_page_is_enough_for_eight(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str, text: str
) -> None:
    """The most hits that `web_search` requests; each page has its price."""
    results = await sandboxed.by_name[name].ask(Call.of(SearchQuery(text, max_results=8), soon()))
    assert results.hits
    assert sandbox.calls(TARGETS[name]) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_one_temporary_failure_does_not_fail_the_search(
    sandboxed: Sandboxed, sandbox: Sandbox, name: str
) -> None:
    sandbox.fault(TARGETS[name], "status", status=503, times=1)
    assert (await sandboxed.by_name[name].ask(Call.of(QUERY, soon()))).hits
    assert sandbox.calls(TARGETS[name]) == 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("kind", "options", "error", "calls"),
    [
        ("status", {"status": 500}, SearchProviderError, 2),
        ("reset", {}, SearchProviderError, 2),
        ("garbage", {}, SearchProviderParseError, 1),
        ("hang", {}, SearchTimeoutError, 1),
        ("drip", {"seconds": 0.05}, SearchTimeoutError, 1),
    ],
)
async def test_a_permanent_failure_has_its_error_type(
    sandboxed: Sandboxed,
    sandbox: Sandbox,
    name: str,
    kind: str,
    options: dict[str, float],
    error: type,
    calls: int,
) -> None:
    sandbox.fault(TARGETS[name], kind, **options)
    deadline = Deadline.after(1) if error is SearchTimeoutError else soon()
    with pytest.raises(error) as raised:
        await sandboxed.by_name[name].ask(Call.of(QUERY, deadline))
    assert isinstance(raised.value, Unavailable)
    assert sandbox.calls(TARGETS[name]) == calls


@pytest.mark.parametrize(
    "entry", [entry for entry in PROVIDERS if entry.row.has_key], ids=lambda entry: entry.name
)
async def test_a_wrong_key_is_reported_without_a_retry(sandbox: Sandbox, entry: Entry) -> None:
    provider = entry.build(Settings(**sandbox.flags() | {entry.row.fields["key"]: KEY}))
    async with create_client() as client:
        with pytest.raises(SearchAuthError, match=entry.row.fields["key"].upper()) as raised:
            await HttpSearcher(provider, client, Retry(sleep=no_sleep)).ask(Call.of(QUERY, soon()))
    assert KEY not in str(raised.value)
    assert sandbox.calls(TARGETS[entry.name]) == 1


async def test_the_error_of_a_searxng_without_json_says_how_to_allow_it(
    sandboxed: Sandboxed, sandbox: Sandbox
) -> None:
    sandbox.fault("searxng", "status", status=403)
    with pytest.raises(SearchNotConfiguredError, match=r"search\.formats"):
        await sandboxed.by_name["searxng"].ask(Call.of(QUERY, soon()))


async def test_duckduckgos_bot_page_gives_a_wait_of_a_minute(
    sandboxed: Sandboxed, sandbox: Sandbox
) -> None:
    sandbox.fault("duckduckgo", "bot")
    with pytest.raises(SearchProviderError) as raised:
        await sandboxed.by_name["duckduckgo"].ask(Call.of(QUERY, soon()))
    assert raised.value.retry_after == 60
    assert sandbox.calls("duckduckgo") == 1


async def test_a_rate_limit_beyond_the_deadline_is_raised_with_the_remaining_wait(
    sandboxed: Sandboxed, sandbox: Sandbox
) -> None:
    sandbox.fault("tavily", "status", status=429, retry_after=120)
    with pytest.raises(SearchProviderError) as raised:
        await sandboxed.by_name["tavily"].ask(Call.of(QUERY, Deadline.after(100)))
    assert raised.value.retry_after == 120
    assert sandbox.calls("tavily") == 1


STATUSES: list[tuple[int, type[SearchError], int]] = [
    (400, SearchValidationError, 1),
    (422, SearchValidationError, 1),
    (401, SearchAuthError, 1),
    (403, SearchAuthError, 1),
    (404, SearchProviderError, 1),
    (410, SearchProviderError, 1),
    (302, SearchProviderError, 1),
    (429, SearchProviderError, 2),
    (500, SearchProviderError, 2),
    (502, SearchProviderError, 2),
    (503, SearchProviderError, 2),
    (501, SearchProviderError, 1),
    (504, SearchProviderError, 1),
]


@pytest.mark.parametrize(("status", "kind", "calls"), STATUSES)
async def test_a_status_means_the_same_for_every_vendor(
    status: int, kind: type[SearchError], calls: int
) -> None:
    vendor = Vendor([httpx2.Response(status, text=f"no: {QUERY.text}")])
    searcher = HttpSearcher(
        Tavily(KEY), create_client(httpx2.MockTransport(vendor)), Retry(sleep=no_sleep)
    )
    with pytest.raises(SearchError) as raised:
        await searcher.ask(Call.of(QUERY, soon()))
    assert type(raised.value) is kind
    assert len(vendor.requests) == calls
    assert QUERY.text not in str(raised.value)
    assert KEY not in str(raised.value)


async def test_an_error_contains_neither_the_key_nor_the_query_of_a_url() -> None:
    searcher = HttpSearcher(
        Google(KEY, "engine"),
        create_client(
            httpx2.MockTransport(
                Vendor([httpx2.ConnectError(f"cannot reach ?key={KEY}&q={QUERY.text}")])
            )
        ),
        Retry(sleep=no_sleep),
    )
    with pytest.raises(SearchProviderError) as raised:
        await searcher.ask(Call.of(QUERY, soon()))
    assert str(raised.value) == "google cannot be reached."
    assert KEY not in repr(searcher)


async def test_hits_are_cut_to_the_requested_number_and_the_applied_filters_are_reported() -> None:
    vendor = Vendor([serper_page("a", "b", "a", "c")])
    query = SearchQuery("x", max_results=2, freshness_hours=20, region="GB")
    results = await serper_searcher(vendor).ask(Call.of(query, soon()))
    assert [hit.url for hit in results.hits] == ["https://a.example/a", "https://a.example/b"]
    assert results.applied == AppliedFilters("day", "GB", max_results=100)
    assert len(vendor.requests) == 1


async def test_a_good_reply_that_breaks_off_is_paid_and_so_is_that_of_the_retry() -> None:
    class Broken(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b"{"
            raise httpx2.ReadError("reset")

    client = create_client(httpx2.MockTransport(lambda _: httpx2.Response(200, stream=Broken())))
    call = Call.of(QUERY, soon())
    with pytest.raises(SearchProviderError):
        await HttpSearcher(Serper(KEY), client, Retry(sleep=no_sleep)).ask(call)
    assert (call.bill.requests, call.bill.usd) == (2, pytest.approx(0.002))


TEN = tuple("abcdefghij")


async def test_a_second_page_adds_only_new_hits() -> None:
    vendor = Vendor([serper_page(*TEN), serper_page("j", "k"), serper_page("l")])
    call = Call.of(SearchQuery("x", max_results=11), soon())
    results = await serper_searcher(vendor).ask(call)
    assert [hit.title for hit in results.hits] == [*TEN, "k"]
    assert [json.loads(request.content).get("page") for request in vendor.requests] == [None, 2]
    assert call.bill.usd == pytest.approx(0.002)


async def test_a_page_that_is_not_full_is_the_last() -> None:
    """Two hits once cost the price of two pages."""
    vendor = Vendor([serper_page("a", "b")])
    call = Call.of(SearchQuery("x", max_results=8), soon())
    results = await serper_searcher(vendor).ask(call)
    assert len(results.hits) == 2
    assert len(vendor.requests) == 1
    assert call.bill.usd == pytest.approx(0.001)


async def test_a_later_page_that_is_not_full_is_the_last() -> None:
    vendor = Vendor([serper_page(*TEN), serper_page("k")])
    results = await serper_searcher(vendor).ask(Call.of(SearchQuery("x", max_results=30), soon()))
    assert (len(results.hits), len(vendor.requests)) == (11, 2)


async def test_a_page_that_repeats_the_one_before_is_the_last() -> None:
    vendor = Vendor([serper_page(*TEN), serper_page(*reversed(TEN))])
    results = await serper_searcher(vendor).ask(Call.of(SearchQuery("x", max_results=50), soon()))
    assert (len(results.hits), len(vendor.requests)) == (10, 2)


async def test_the_raw_replies_are_returned_except_a_page_without_new_hits() -> None:
    pages = [serper_page(*TEN), serper_page("k", *TEN[1:]), serper_page(*TEN)]
    results = await serper_searcher(Vendor([*pages])).ask(
        Call.of(SearchQuery("x", max_results=50), soon())
    )
    assert results.bodies == tuple(page.content for page in pages[:2])


async def test_the_number_of_pages_is_limited() -> None:
    pages = [serper_page(*(f"{number}{path}" for path in TEN)) for number in range(40)]
    vendor = Vendor([*pages])
    results = await serper_searcher(vendor).ask(Call.of(SearchQuery("x", max_results=400), soon()))
    assert (len(results.hits), len(vendor.requests)) == (100, 10)


@pytest.mark.parametrize(
    ("kind", "key"), [(DuckDuckGo(), None), (Synthetic(KEY), "SYNTHETIC_API_KEY")]
)
async def test_the_error_of_a_rejected_key_names_its_setting_if_there_is_one(
    kind: Provider, key: str | None
) -> None:
    vendor = Vendor([httpx2.Response(401)])
    searcher = HttpSearcher(
        kind, create_client(httpx2.MockTransport(vendor)), Retry(sleep=no_sleep)
    )
    with pytest.raises(SearchError) as raised:
        await searcher.ask(Call.of(QUERY, soon()))
    assert type(raised.value) is (SearchAuthError if key else SearchProviderError)
    assert raised.value.message.endswith(f"check {key}." if key else "HTTP 401.")


@pytest.mark.parametrize(
    ("failure", "cost_usd"),
    [
        (httpx2.Response(500), 0.001),
        (httpx2.Response(403), 0.001),
        (httpx2.Response(200, text="noise"), 0.002),
        (httpx2.ReadTimeout("slow"), 0.002),
    ],
    ids=["down", "refused", "noise", "slow"],
)
async def test_a_failed_second_page_gives_a_warning_and_its_billed_cost(
    failure: httpx2.Response | Exception, cost_usd: float
) -> None:
    vendor = Vendor([serper_page(*TEN), failure])
    call = Call.of(SearchQuery("x", max_results=20), soon())
    results = await serper_searcher(vendor).ask(call)
    assert [hit.title for hit in results.hits] == [*TEN]
    assert len(results.warnings) == 1
    assert results.warnings[0].startswith("Page 2 of serper is missing")
    assert call.bill.usd == pytest.approx(cost_usd)


@pytest.mark.parametrize(
    ("failure", "cost_usd"),
    [
        (httpx2.Response(503), 0.0),
        (httpx2.ReadError("reset"), 0.0),
        (httpx2.Response(200, text="noise"), 0.001),
        (httpx2.Response(200, content=b" " * (MAX_REPLY_BYTES + 1)), 0.001),
        (httpx2.ReadTimeout("slow"), 0.001),
    ],
    ids=["down", "no reply", "noise", "too large", "slow"],
)
async def test_the_bill_of_a_failed_search_has_its_cost(
    failure: httpx2.Response | Exception, cost_usd: float
) -> None:
    call = Call.of(QUERY, soon())
    with pytest.raises(Unavailable):
        await serper_searcher(Vendor([failure])).ask(call)
    assert call.bill.usd == pytest.approx(cost_usd)


async def test_each_request_goes_through_the_layers_and_its_reply_headers_are_passed_on() -> None:
    """A retry and a second page are requests like the first, and wait for their turn too."""
    through: list[str] = []
    seen: list[Mapping[str, str]] = []

    @asynccontextmanager
    async def layer(call: Call) -> AsyncIterator[None]:
        through.append("began")
        yield

    vendor = Vendor([httpx2.Response(503), serper_page(*TEN), serper_page(*TEN)])
    client = create_client(httpx2.MockTransport(vendor))
    searcher = HttpSearcher(
        Serper(KEY), client, Retry(sleep=no_sleep), on_headers=seen.append, pace=layer
    )
    await searcher.ask(Call.of(SearchQuery("x", max_results=20), soon()))
    assert (len(vendor.requests), len(through), len(seen)) == (3, 3, 3)


async def test_each_request_has_its_own_timeout_within_the_deadline(
    sandboxed: Sandboxed, sandbox: Sandbox
) -> None:
    sandbox.fault("serper", "hang")
    whole = sandboxed.by_name["serper"]
    impatient = HttpSearcher(whole.provider, whole.client, whole.retry, timeout_seconds=0.2)
    deadline = Deadline.after(1_000)
    with pytest.raises(SearchTimeoutError):
        await impatient.ask(Call.of(QUERY, deadline))
    assert deadline.remaining() > 100


@pytest.mark.parametrize(
    ("told", "wait", "requests"),
    [
        ("2", 2.0, 2),
        ("0.25", 0.25, 2),
        ("0", 0.0, 2),
        ("Sat, 21 Nov 2026 12:00:03 GMT", 3.0, 2),
        ("Sat, 21 Nov 2020 12:00:03 GMT", 0.0, 2),
        ("-5", None, 2),
        ("nan", None, 2),
        ("soon", None, 2),
        ("3600", 3600.0, 1),
        ("Sun, 22 Nov 2026 12:00:00 GMT", 86_400.0, 1),
    ],
)
async def test_a_vendors_retry_after_is_used_up_to_a_limit(
    told: str, wait: float | None, requests: int
) -> None:
    """The second and last attempt is made within the deadline or not at all."""
    seen: list[httpx2.Request] = []
    waits: list[float] = []

    def busy(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(429, headers={"Retry-After": told}, stream=httpx2.ByteStream(b"{}"))

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    noon = datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()
    client = create_client(httpx2.MockTransport(busy))
    searcher = HttpSearcher(
        Serper(KEY), client, Retry(sleep=sleep, jitter=lambda *_: 0.0), clock=lambda: noon
    )
    with pytest.raises(SearchProviderError) as raised:
        await searcher.ask(Call.of(QUERY, soon()))
    assert raised.value.retry_after == wait
    assert len(seen) == requests
    assert waits == ([wait or 0.0] if requests == 2 else [])


async def test_the_vendors_retry_after_overrides_the_wait_that_the_provider_assumes() -> None:
    """Brave's limit ends after a second, unless the reply says otherwise."""

    def busy(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(429, headers={"Retry-After": "120"}, stream=httpx2.ByteStream(b"{}"))

    searcher = HttpSearcher(
        Brave(KEY), create_client(httpx2.MockTransport(busy)), Retry(sleep=no_sleep)
    )
    with pytest.raises(SearchProviderError) as raised:
        await searcher.ask(Call.of(QUERY, soon()))
    assert raised.value.retry_after == 120


async def test_a_search_that_ends_before_its_request_is_sent_costs_nothing(deaf_port: int) -> None:
    """Whoever is cancelled, or runs out of time, while it connects has asked nobody."""
    async with create_client() as client:
        searcher = HttpSearcher(Serper(KEY, f"http://127.0.0.1:{deaf_port}"), client, Retry())
        cancelled, late = Call.of(QUERY, soon()), Call.of(QUERY, Deadline.after(0.1))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(searcher.ask(cancelled), 0.1)
        with pytest.raises(SearchTimeoutError):
            await searcher.ask(late)
    assert (cancelled.bill.usd, late.bill.usd) == (0.0, 0.0)
