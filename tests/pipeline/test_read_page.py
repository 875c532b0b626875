from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.workers.pool import Workers as PoolWorkers
from websearch_gateway.cache.pages import (
    SLICE,
    TOO_SLOW,
    UNKNOWN_SCRIPT,
    UNRELATED,
    BlobCache,
    PageCache,
    Similarity,
)
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchProviderError,
    SearchRateLimitError,
    SearchTimeoutError,
    SearchValidationError,
)
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.evidence.passages import ANSWERS
from websearch_gateway.models import Call, Caller, ContentRequest, Page, Passage, PassagesRequest
from websearch_gateway.pipeline.guard import Guard
from websearch_gateway.pipeline.provenance import Provenance
from websearch_gateway.pipeline.rate_limits import RateLimits
from websearch_gateway.pipeline.read_page import (
    CUT_OFF,
    MOST_QUERIES,
    Findings,
    PageReading,
    PassageFinder,
)
from websearch_gateway.ports import Workers
from websearch_gateway.results import PageContent
from websearch_gateway.state.memory import MemoryState
from websearch_gateway.upstream.telemetry import CallRecord, Telemetry

RELEVANT = 0.25

URL = "https://example.com/tides"
TEXT = "# Tides\n\n" + "\n\n".join(
    f"Paragraph {n} tells how the sea rose by {n} metres that day." for n in range(200)
)


class Book:
    """A reader of one page, which may never come."""

    name = "book"
    hangs = False
    reads = 0
    truncated = False
    text = TEXT
    content_type = "text/html"

    async def read(self, url: str, deadline: Call, known: Page | None = None) -> Page:
        self.reads += 1
        if self.hangs:
            await asyncio.Event().wait()
        final, kind = "https://example.com/tides/", self.content_type
        return Page(
            url, final, "Tides", self.text, kind, published="2026-01-02", truncated=self.truncated
        )


async def nothing_indexed(_: str) -> bool:
    return False


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def events() -> list[CallRecord]:
    return []


@pytest.fixture
def reading(book: Book, events: list[CallRecord], workers: Workers) -> PageReading:
    blobs = BlobCache(MemoryState(clock=lambda: 1_000_000.0))
    page_cache = PageCache(book, blobs, AddressPolicy().check_url, clock=lambda: 1_000_000.0)
    finder = PassageFinder(Similarity(StaticEmbedder()), workers, size=64, threshold=RELEVANT)
    return PageReading(
        page_cache,
        finder,
        RateLimits(MemoryState(), MemoryState(), ""),
        RateLimits(MemoryState(), MemoryState(), ""),
        MemoryState(),
        asyncio.Semaphore(8),
        Telemetry([events.append]),
        Guard({}, secrets=()),
        Provenance("warn", (), MemoryState(), workers, nothing_indexed),
        deadline_seconds=60,
    )


async def test_the_joined_windows_of_a_page_are_the_page(reading: PageReading) -> None:
    text, offset = "", 0
    while offset is not None:
        content = await reading.content(ContentRequest(URL, offset=offset, max_chars=1_000))
        assert len(content.page_content) <= 1_000
        assert content.total_chars == len(TEXT)
        text += content.page_content
        offset = content.next_offset
    assert text == TEXT


async def test_a_short_page_is_one_window(reading: PageReading) -> None:
    content = await reading.content(ContentRequest(f" {URL} "))
    assert (content.url, content.title, content.next_offset, content.page_content) == (
        URL,
        "Tides",
        None,
        TEXT,
    )


async def test_a_page_that_was_cut_off_says_so(reading: PageReading, book: Book) -> None:
    book.truncated = True
    assert (await reading.content(ContentRequest(URL))).warnings == (CUT_OFF,)


async def test_passages_of_a_pdf_have_the_number_of_their_page_and_lie_on_one(
    reading: PageReading, book: Book
) -> None:
    book.text = (
        "*Page 1*\n\n# Tides\n\nThe sea rises at noon.\n\n*Page 7*\n\nThe wind falls at dusk."
    )
    book.content_type = "application/pdf"
    found = await reading.passages(
        PassagesRequest(URL, ("When does the wind fall?", "When does the sea rise?"))
    )
    assert [(query.results[0].page, query.results[0].text) for query in found.queries] == [
        (7, "*Page 7*\n\nThe wind falls at dusk."),
        (1, "*Page 1*\n\n# Tides\n\nThe sea rises at noon."),
    ]


async def test_passages_of_other_pages_have_no_number(reading: PageReading, book: Book) -> None:
    book.text = "*Page 7*\n\nThe wind falls at dusk."
    found = await reading.passages(PassagesRequest(URL, ("When does the wind fall?",)))
    assert found.queries[0].results[0].page is None


async def test_passages_come_with_their_section_and_the_time_of_reading(
    reading: PageReading,
) -> None:
    found = await reading.passages(
        PassagesRequest(URL, ("How did the sea rise by 7 metres?",), include_metadata=True)
    )
    assert (found.url, found.title, found.last_crawled) == (
        URL,
        "Tides",
        "1970-01-12T13:46:40+00:00",
    )
    (answer,) = found.queries
    assert answer.query == "How did the sea rise by 7 metres?"
    assert "by 7 metres" in answer.results[0].text
    assert answer.results[0].section_path == ("Tides",)
    assert found.metadata is not None
    assert (found.metadata.final_url, found.metadata.published) == (
        "https://example.com/tides/",
        "2026-01-02",
    )
    assert found.metadata.passages > 10
    assert (await reading.passages(PassagesRequest(URL, ("sea",)))).metadata is None


BAD: list[tuple[Any, str]] = [
    (ContentRequest(URL, offset=-1), "offset"),
    (ContentRequest(URL, offset=len(TEXT) + 1), "the length of the page"),
    (ContentRequest(URL, max_chars=0), "maxChars"),
    (ContentRequest("example"), "absolute http"),
    (ContentRequest("localhost:8080/tides"), "absolute http"),
    (ContentRequest("mailto:someone@example.com"), "absolute http"),
    (ContentRequest(""), "absolute http"),
    (PassagesRequest(URL, ()), "query"),
    (PassagesRequest(URL, ("tide",) * (MOST_QUERIES + 1)), "query"),
    (PassagesRequest(URL, ("",)), "1 to 400"),
    (PassagesRequest(URL, ("tide", " \u200b ")), "1 to 400"),
    (PassagesRequest(URL, ("x" * 401,)), "1 to 400"),
    (PassagesRequest(URL, ("x" * 1_000_000,)), "1 to 400"),
    (PassagesRequest(URL, ("tide",), max_results=0), "maxResults"),
    (PassagesRequest("/tides", ("tide",)), "absolute http"),
]


async def run(reading: PageReading, request: Any) -> Any:
    return await (reading.content if isinstance(request, ContentRequest) else reading.passages)(
        request
    )


@pytest.mark.parametrize(("request_", "told"), BAD)
async def test_bad_input_is_refused_with_the_allowed_values(
    reading: PageReading, request_: Any, told: str
) -> None:
    with pytest.raises(SearchValidationError, match=told):
        await run(reading, request_)


async def test_more_than_there_is_becomes_the_most_there_is_with_a_warning(
    reading: PageReading,
) -> None:
    content = await reading.content(ContentRequest(URL, max_chars=100_001))
    assert content.warnings == ("`maxChars` is at most 100000: 100000 is used.",)
    found = await reading.passages(PassagesRequest(URL, ("tide",), max_results=51))
    assert found.warnings == ("`maxResults` is at most 50: 50 is used.",)


@pytest.mark.parametrize(
    "url", [URL.removeprefix("https://"), URL.removeprefix("https:"), f" {URL} "]
)
async def test_an_address_without_its_scheme_is_understood(reading: PageReading, url: str) -> None:
    assert (await reading.content(ContentRequest(url))).url == URL


async def test_a_query_with_a_credential_is_refused_before_the_page_is_read(
    book: Book, reading: PageReading
) -> None:
    key = "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"
    for queries in ((key,), ("tide", f"why is {key} rejected"), (key[:20], key[20:])):
        with pytest.raises(SearchValidationError, match="credential") as refused:
            await reading.passages(PassagesRequest(URL, queries))
        assert refused.value.details == {"field": "query", "credential": "Tavily key"}
    assert book.reads == 0


async def test_an_unknown_address_with_data_gets_a_warning_and_is_refused_where_that_is_enforced(
    book: Book, reading: PageReading, workers: Workers
) -> None:
    url = f"{URL}?q=the+user+is+called+Ada+and+lives+in+Bremen+near+the+river"
    for warned in (
        await reading.content(ContentRequest(url)),
        await reading.passages(PassagesRequest(url, ("tide",))),
    ):
        assert warned.warnings[0].startswith("Unknown address: ")
    assert not (await reading.content(ContentRequest(URL))).warnings
    reads = book.reads
    strict = replace(
        reading, provenance=Provenance("enforce", (), MemoryState(), workers, nothing_indexed)
    )
    for request in (ContentRequest(url), PassagesRequest(url, ("tide",))):
        with pytest.raises(ForbiddenUrlError) as refused:
            await run(strict, request)
        assert refused.value.details["reason"] == "provenance"
        assert "Ada" not in refused.value.message
    assert book.reads == reads


async def test_the_end_of_a_page_is_an_empty_window(reading: PageReading) -> None:
    content = await reading.content(ContentRequest(URL, offset=len(TEXT)))
    assert (content.page_content, content.next_offset) == ("", None)


@pytest.mark.parametrize(
    "url", ["ftp://example.com/", "http://127.0.0.1/", "http://user:pw@example.com/"]
)
async def test_an_address_outside_the_policy_is_forbidden(reading: PageReading, url: str) -> None:
    for request in (ContentRequest(url), PassagesRequest(url, ("tide",))):
        with pytest.raises(ForbiddenUrlError):
            await run(reading, request)


@pytest.mark.parametrize("request_", [ContentRequest(URL), PassagesRequest(URL, ("tide",))])
async def test_a_page_that_never_comes_is_a_timeout(
    book: Book, reading: PageReading, request_: Any
) -> None:
    book.hangs = True
    hasty = replace(reading, deadline_seconds=0.05)
    with pytest.raises(SearchTimeoutError):
        await run(hasty, request_)


async def test_each_call_is_one_event_that_does_not_name_the_page(
    reading: PageReading, events: list[CallRecord]
) -> None:
    for request in (ContentRequest(URL), PassagesRequest(URL, ("tide",), max_results=3)):
        await run(reading, request)
    with pytest.raises(SearchValidationError):
        await reading.content(ContentRequest("x"))
    reading.telemetry.flush()
    assert [
        (event.tool, event.outcome.outcome, event.outcome.result_count) for event in events
    ] == [
        ("get_content", "ok", 1),
        ("read_from_page", "ok", 3),
        ("get_content", "VALIDATION", 0),
    ]
    assert [event.outcome.cache for event in events[:2]] == ["miss", "exact"]
    assert all(URL not in str(event.outcome) for event in events)


async def test_reading_has_a_limit_per_user_and_a_bad_request_does_not_count(
    reading: PageReading,
) -> None:
    reading = replace(
        reading,
        rate_limits=RateLimits(MemoryState(), MemoryState(), "3/minute", setting="READ_RATE_LIMIT"),
    )
    me, you = Caller("me"), Caller("you")
    for _ in range(5):
        with pytest.raises(SearchValidationError):
            await reading.content(ContentRequest(URL, max_chars=0), me)
    await reading.content(ContentRequest(URL), me)
    await reading.content(ContentRequest(URL, refresh=True), me)
    await reading.passages(PassagesRequest(f"{URL}/2", ("sea",)), me)
    with pytest.raises(SearchRateLimitError, match=r"3/minute .*READ_RATE_LIMIT"):
        await reading.content(ContentRequest(f"{URL}/3"), me)
    with pytest.raises(SearchRateLimitError):
        await reading.passages(PassagesRequest(f"{URL}/3", ("sea",)), me)
    await reading.content(ContentRequest(f"{URL}/3"), you)


async def test_a_stored_page_or_one_that_another_call_reads_counts_as_a_cached_call(
    reading: PageReading, book: Book
) -> None:
    state, me = MemoryState(), Caller("me")
    reading = replace(
        reading,
        rate_limits=RateLimits(state, MemoryState(), "1/minute", setting="READ_RATE_LIMIT"),
        cached_limits=RateLimits(state, MemoryState(), "20/minute", setting="CACHED_RATE_LIMIT"),
    )
    pages = await asyncio.gather(*(reading.content(ContentRequest(URL), me) for _ in range(11)))
    assert len({page.page_content for page in pages}) == 1
    await asyncio.gather(*(reading.passages(PassagesRequest(URL, ("sea",)), me) for _ in range(10)))
    with pytest.raises(SearchRateLimitError, match="CACHED_RATE_LIMIT"):
        await reading.content(ContentRequest(URL), me)
    assert book.reads == 1


async def test_a_reader_over_the_limit_does_not_stop_another_who_joined_the_read(
    reading: PageReading, book: Book
) -> None:
    limits = RateLimits(MemoryState(), MemoryState(), "1/minute", setting="READ_RATE_LIMIT")
    reading = replace(reading, rate_limits=limits, gate=asyncio.Semaphore(20))
    me, you = Caller("me"), Caller("you")
    await reading.content(ContentRequest(f"{URL}/2"), me)
    calls = [reading.content(ContentRequest(URL), caller) for caller in (me, *[you] * 5, *[me] * 5)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes[1:6]] == [PageContent] * 5
    assert {type(outcome) for outcome in (outcomes[0], *outcomes[6:])} == {SearchRateLimitError}
    assert book.reads == 2


TIDES = """# Tides

There are two high tides a day because the Moon pulls on the near side of the Earth more than on the far side.

## Spring tides

At new moon and full moon the Sun pulls along the same line, and the range is largest.

## Measuring

The gauge writes the level of the sea every six minutes. Tickets for the museum are sold at the gate.
"""


def page(markdown: str = TIDES, url: str = URL) -> Page:
    return Page(url, url, "Tides", markdown)


def soon() -> Call:
    return Call.after(300)


class Counting(StaticEmbedder):
    """The built-in model, which records its calls and can be made to fail."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.failure: Exception | None = None
        self.hangs_after: int | None = None
        self.width = self.dimensions

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Any:
        if self.failure:
            raise self.failure
        if kind == "document" and tuple(texts) != UNRELATED:
            if self.hangs_after is not None and len(self.documents) >= self.hangs_after:
                await asyncio.Event().wait()
            self.documents += texts
            await asyncio.sleep(0)  # other tasks run meanwhile, as during a call to a server
        return self.encode(texts)[:, : self.width]


@pytest.fixture
def embedder() -> Counting:
    return Counting()


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


def finder(
    embedder: Counting,
    state: MemoryState,
    workers: PoolWorkers,
    size: int = 60,
    threshold: float = RELEVANT,
) -> PassageFinder:
    return PassageFinder(Similarity(embedder), workers, size=size, threshold=threshold)


async def find(
    embedder: Counting,
    state: MemoryState,
    *queries: str,
    markdown: str = TIDES,
    most: int = 8,
    **size: int,
) -> Findings:
    async with PoolWorkers() as workers:
        return await finder(embedder, state, workers, **size).find(
            page(markdown), queries, most, soon()
        )


async def test_the_passage_that_answers_comes_first_with_a_score_near_one(
    embedder: Counting, state: MemoryState
) -> None:
    found = await find(
        embedder, state, "Why are there two high tides a day?", "When is the range largest?"
    )
    first, second = found.answers
    assert "two high tides a day" in first[0].text
    assert first[0].score > 0.9
    assert second[0].section_path == ("Tides", "Spring tides")
    assert found.notes == ()
    assert found.passages == 3


async def test_the_note_names_the_queries_without_an_answer(
    embedder: Counting, state: MemoryState
) -> None:
    found = await find(
        embedder, state, "Why are there two high tides a day?", "Who discovered penicillin?"
    )
    assert found.notes == ("Nothing on this page seems to answer query 2; the nearest is shown.",)
    assert found.answers[0]
    assert not found.answers[1]
    (note,) = (await find(embedder, state, "Who discovered penicillin?")).notes
    assert "answer the query" in note


async def test_the_nearest_passage_is_told_where_none_answers(
    embedder: Counting, state: MemoryState
) -> None:
    text = "# Bridge\n\nIt was built by the company of Ada Moor.\n\n## Tolls\n\nA crossing costs two coins for a cart."
    found = await find(
        embedder, state, "who designed it", "What does a crossing cost?", markdown=text
    )
    assert found.answers[0] == ()
    assert found.nearest[0] is not None
    assert "built by the company of" in found.nearest[0].text
    assert 0 < found.nearest[0].score < 0.25
    assert found.answers[1]
    assert found.nearest[1] is None


async def test_at_most_the_wanted_number_of_passages_comes(
    embedder: Counting, state: MemoryState
) -> None:
    found = await find(embedder, state, "tides", most=2)
    assert len(found.answers[0]) == 2


async def test_a_repetition_of_an_earlier_passage_is_dropped(
    embedder: Counting, state: MemoryState
) -> None:
    again = TIDES + "\n## Once more\n\n" + TIDES.split("\n\n")[1]
    long = "The keeper lights the lamp at dusk and writes into the book how the wind stood, how the sea ran and who came. "
    twice = f"# One\n\n{long}{long.upper()}\n\n# Two\n\n{long}{long.upper()}"
    assert (await find(embedder, state, "tides", markdown=twice, size=80)).passages == 1
    # Short ones depend on their section.
    assert (await find(embedder, state, "tides", markdown=again)).passages == 4


async def test_a_page_is_embedded_once(
    embedder: Counting, state: MemoryState, workers: PoolWorkers
) -> None:
    one = finder(embedder, state, workers)
    for query in ("tides", "Why two tides a day?"):
        await one.find(page(), [query], 8, soon())
    assert len(embedder.documents) == 3


async def test_concurrent_calls_embed_a_page_once(
    embedder: Counting, state: MemoryState, workers: PoolWorkers
) -> None:
    one = finder(embedder, state, workers)
    both = await asyncio.gather(
        *(one.find(page(), [query], 8, soon()) for query in ("two tides", "the gauge"))
    )
    assert [found.notes for found in both] == [(), ()]
    assert len(embedder.documents) == 3


async def test_a_running_process_notices_a_change_of_dimensions(
    embedder: Counting, state: MemoryState, workers: PoolWorkers
) -> None:
    one = finder(embedder, state, workers)
    await one.find(page(), ["tides"], 8, soon())
    embedder.width = 64
    found = await one.find(page(), ["tides"], 8, soon())
    assert "changed in the middle" in found.notes[-1]
    found = await one.find(page(), ["Why two tides a day?"], 8, soon())
    assert found.notes == ()
    assert len(embedder.documents) == 6


async def test_a_failing_embedder_adds_a_note_and_the_call_succeeds(
    embedder: Counting, state: MemoryState
) -> None:
    embedder.failure = SearchProviderError("ollama/x answered with HTTP 500.")
    found = await find(embedder, state, "Why are there two high tides a day?")
    assert "two high tides a day" in found.answers[0][0].text
    assert found.answers[0][0].score > ANSWERS
    assert found.notes == (
        "Ranked by words alone, at least in part: ollama/x answered with HTTP 500.",
    )
    embedder.failure = None
    assert (await find(embedder, state, "Why are there two high tides a day?")).notes == ()


async def test_without_embedder_and_common_words_the_longest_passages_are_shown(
    embedder: Counting, state: MemoryState
) -> None:
    embedder.failure = SearchProviderError("Down.")
    found = await find(embedder, state, "penicillin")
    lengths = [len(passage.text) for passage in found.answers[0]]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths
    assert {passage.score for passage in found.answers[0]} == {0}
    assert found.notes[0] == "Nothing on this page seems to answer the query."
    assert found.notes[-1] == "Where no word matches, the longest passages are shown."


async def test_vectors_from_before_the_timeout_are_kept(
    embedder: Counting, state: MemoryState, workers: PoolWorkers
) -> None:
    sections = "\n\n".join(
        f"# Part {n}\n\nThe tide of day {n} was {n} metres high." for n in range(SLICE + 5)
    )
    embedder.hangs_after = SLICE
    one = finder(embedder, state, workers)
    found = await one.find(page(sections), ["tide of day 7"], 3, Call.after(6))
    assert found.notes == (f"Ranked by words alone, at least in part: {TOO_SLOW}.",)
    assert "day 7 was" in found.answers[0][0].text
    embedder.hangs_after = None
    assert (await one.find(page(sections), ["tide of day 7"], 3, soon())).notes == ()
    assert len(embedder.documents) == SLICE + 5


async def test_passages_in_an_unknown_script_are_ranked_by_words_with_a_note(
    embedder: Counting, state: MemoryState
) -> None:
    japanese = (
        "# 東京タワー\n\n東京タワーの高さは333メートルです。\n\n# 大阪城\n\n大阪城は有名な城です。"
    )
    found = await find(embedder, state, "東京タワーの高さ", markdown=japanese)
    assert "333" in found.answers[0][0].text
    assert found.notes == (f"Ranked by words alone, at least in part: {UNKNOWN_SCRIPT}.",)
    assert embedder.documents == []
    mixed = await find(embedder, state, "two tides", "潮")
    assert UNKNOWN_SCRIPT in mixed.notes[-1]
    assert mixed.answers[0][0].score > ANSWERS


async def test_unrelated_passages_are_left_out(embedder: Counting, state: MemoryState) -> None:
    """A query gets fewer than the wanted number if fewer are related."""
    filler = "\n\n".join(
        f"## Part {n}\n\nTicket office {n} opens at {n} and sells maps of the town."
        for n in range(20)
    )
    found = await find(
        embedder, state, "Why are there two high tides a day?", markdown=f"{TIDES}\n{filler}"
    )
    assert found.answers[0][0].section_path == ("Tides",)
    assert len(found.answers[0]) < 8
    assert all(passage.score >= RELEVANT for passage in found.answers[0])


async def test_a_passage_has_the_same_id_for_every_query(
    embedder: Counting, state: MemoryState
) -> None:
    question = "Why are there two high tides a day, says the Moon?"
    one, two = (await find(embedder, state, question, f"{question} And where?")).answers
    assert {passage.id for passage in one} == {passage.id for passage in two}
    assert all(isinstance(passage, Passage) and len(passage.id) == 16 for passage in one)
