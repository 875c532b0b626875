"""How often a page is tried, how much of it is kept, and how an embedder that fails is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.clock import Clock
from websearch_gateway.base.net.fetch import Fetched
from websearch_gateway.docs.crawl.page_work import Embedding, Moved, PageWork, Result, sendable
from websearch_gateway.docs.crawl.scope import NO_PAGE, LeftOut, Scope
from websearch_gateway.docs.crawl.versions import VersionFolders
from websearch_gateway.docs.models import (
    Chunk,
    ChunkDraft,
    Document,
    PageDraft,
    UrlTask,
    section_ids,
)
from websearch_gateway.errors import (
    Refused,
    SearchAuthError,
    SearchFetchError,
    SearchNotConfiguredError,
    SearchProviderParseError,
    SearchTimeoutError,
    StateUnavailable,
)

if TYPE_CHECKING:
    from websearch_gateway.ports import Vectors

HOME = "https://docs.example.org/3/"


class Store:
    """Notes what becomes of each address, and has pages without vectors."""

    def __init__(self, pages: int = 0) -> None:
        self.pages = pages
        self.known: dict[str, Vectors] = {}
        self.asked: list[int] = []
        self.finished: list[tuple[str, str, float | None]] = []
        self.committed: list[PageDraft] = []
        self.duplicate: str | None = None
        self.aliases: list[str | None] = []

    async def known_vectors(self, task: UrlTask) -> dict[str, Vectors]:
        return self.known

    async def unembedded(self, version_id: int, count: int) -> list[tuple[int, list[Chunk]]]:
        self.asked.append(count)
        return [(number, []) for number in range(min(count, self.pages))]

    async def put_vectors(self, page_id: int, rows: Vectors) -> None:
        self.pages -= 1

    async def finish_url(
        self,
        task: UrlTask,
        state: str,
        reason: str = "",
        *,
        due: float | None = None,
        links: Sequence[str] = (),
        alias_of: str | None = None,
    ) -> None:
        self.finished.append((state, reason, due))
        self.aliases.append(alias_of)

    async def find_body(self, task: UrlTask, digest: str) -> str | None:
        return self.duplicate

    async def commit_page(
        self, task: UrlTask, page: PageDraft, rows: Vectors | None, links: Sequence[str]
    ) -> None:
        self.committed.append(page)


class Embedder:
    """Makes one row for each text, or fails."""

    name = "tests/1"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.batches: list[int] = []

    async def embed(self, texts: Sequence[str], kind: str) -> Vectors:
        self.batches.append(len(texts))
        if self.error:
            raise self.error
        return np.ones((len(texts), 2), np.float32)


def embedding(embedder: Embedder, store: Store | None = None, clock: Clock | None = None) -> Any:
    return Embedding(embedder, store or Store(), clock or Clock())  # type: ignore[arg-type]


def page(chunks: int) -> PageDraft:
    text = "".join(f"{number:03}\n" for number in range(chunks))
    drafts = tuple(ChunkDraft(4 * number, 4 * number + 3) for number in range(chunks))
    return PageDraft(f"{HOME}a", "A", text, drafts)


TASK = UrlTask(1, 1, f"{HOME}a")


async def test_sixty_four_texts_of_a_page_are_embedded_at_once() -> None:
    embedder = Embedder()
    rows = await embedding(embedder).vectors(TASK, page(130))
    assert (embedder.batches, rows.shape) == ([64, 64, 2], (130, 2))


async def test_the_vectors_of_sixteen_pages_are_made_up_for_at_once() -> None:
    store = Store(pages=20)
    one = embedding(Embedder(), store)
    assert [await one.catch_up(1) for _ in range(3)] == [True, True, False]
    assert (store.asked, store.pages) == ([16] * 3, 0)


@pytest.mark.parametrize(("seconds", "asks"), [(59.9, 1), (60.0, 2)])
async def test_a_failing_embedder_is_asked_again_after_a_minute(seconds: float, asks: int) -> None:
    embedder, clock, store = Embedder(StateUnavailable("down")), Clock(), Store(pages=1)
    one = embedding(embedder, store, clock)
    assert await one.vectors(TASK, page(1)) is None
    assert (one.trouble, one.refusal) == ("down", None)
    clock.now += seconds
    await one.vectors(TASK, page(1))
    assert len(embedder.batches) == asks
    clock.now += 59.9 if asks == 2 else 0.0
    assert not await one.catch_up(1)
    assert len(embedder.batches) == asks
    embedder.error = None
    clock.now += 0.2
    assert await one.catch_up(1)
    assert one.trouble == ""


@pytest.mark.parametrize(("seconds", "is_refused"), [(86_399.0, False), (86_400.0, True)])
async def test_an_embedder_that_has_been_down_for_a_day_will_not_work(
    seconds: float, is_refused: bool
) -> None:
    embedder, clock = Embedder(StateUnavailable("down")), Clock()
    one = embedding(embedder, clock=clock)
    for wait in (0.0, 100.0, seconds - 100.0):
        clock.now += wait
        await one.vectors(TASK, page(1))
    assert len(embedder.batches) == 3
    assert (one.refusal is not None) is is_refused


async def test_a_page_that_was_embedded_in_between_begins_the_day_again() -> None:
    embedder, clock = Embedder(), Clock()
    one = embedding(embedder, clock=clock)
    for error in (StateUnavailable("down"), None, StateUnavailable("down")):
        embedder.error = error
        clock.now += 86_400.0
        await one.vectors(TASK, page(1))
    assert (one.trouble, one.refusal) == ("down", None)


@pytest.mark.parametrize(
    ("error", "refusal"),
    [
        *(
            (SearchFetchError("no", details={"status": status}), SearchAuthError)
            for status in (401, 403)
        ),
        *(
            (SearchFetchError("no", details={"status": status}), SearchNotConfiguredError)
            for status in (400, 402, 404, 405, 410, 422, 499)
        ),
        *(
            (SearchFetchError("no", details={"status": status}), None)
            for status in (399, 408, 409, 425, 429, 500, 503)
        ),
        (SearchFetchError("no", details={"reason": "no_model"}), SearchNotConfiguredError),
        (SearchFetchError("no", details={"reason": "odd"}), None),
        (SearchTimeoutError("slow"), None),
        (SearchProviderParseError("odd"), SearchNotConfiguredError),
    ],
)
async def test_a_failure_of_an_embedder_says_whether_time_cures_it(
    error: Exception, refusal: type[Refused] | None
) -> None:
    one = embedding(Embedder(error))
    await one.vectors(TASK, page(1))
    assert (type(one.refusal) if one.refusal else None) is refusal


async def test_an_odd_reply_of_an_embedder_that_has_worked_may_be_cured_by_time() -> None:
    embedder = Embedder()
    one = embedding(embedder)
    await one.vectors(TASK, page(1))
    embedder.error = SearchProviderParseError("odd")
    await one.vectors(TASK, page(1))
    assert (one.trouble, one.refusal) == ("odd", None)


async def test_only_new_texts_of_a_page_that_was_read_before_are_embedded() -> None:
    embedder, store = Embedder(), Store()
    one = embedding(embedder, store)
    await one.vectors(TASK, page(3))
    store.known = dict.fromkeys(section_ids(page(2)), np.zeros(2, np.float32))
    await one.vectors(UrlTask(1, 1, f"{HOME}a", body_hash="x"), page(3))
    assert embedder.batches == [3, 1]


class Site:
    """A source whose replies the test chooses by path: a body with its type, or an error."""

    follows = True
    waiting = ""

    def __init__(self, replies: dict[str, Any]) -> None:
        self.replies = replies
        self.left_out = LeftOut()
        self.inventories: list[str] = []
        self.asked: list[str] = []

    async def fetch(self, task: UrlTask) -> Fetched:
        self.asked.append(task.url.removeprefix(HOME))
        reply = self.replies.get(task.url.removeprefix(HOME), b"words")
        if isinstance(reply, Exception):
            raise reply
        body, kind = reply if isinstance(reply, tuple) else (reply, "text/html")
        return Fetched(task.url, task.url, 200, {}, body, kind, "utf-8")

    async def allowed(self, urls: Sequence[str]) -> list[bool]:
        return [True] * len(urls)

    async def inventory(self, folder: str) -> dict[str, Any]:
        self.inventories.append(folder)
        return {}


def work(document: Document, clock: Clock, store: Store, **replies: Any) -> tuple[PageWork, Site]:
    site = Site(replies)

    async def read(*_: object, **__: object) -> Document:
        return document

    made = PageWork(
        store,  # type: ignore[arg-type]
        site,  # type: ignore[arg-type]
        Scope.of(HOME),
        read,  # type: ignore[arg-type]
        embedding(Embedder(), store),
        clock=clock,
        start=HOME,
    )
    return made, site


PAGE = Document("Tides", "They come twice a day.", (ChunkDraft(0, 22),))


@pytest.mark.parametrize(
    ("attempts", "retry_after", "outcome", "wait"),
    [
        (0, None, "retry", 30.0),
        (2, None, "retry", 30.0),
        (2, 5.0, "retry", 5.0),
        (2, 0.0, "retry", 0.0),
        (3, None, "failed", None),
    ],
)
async def test_a_page_is_tried_again_three_times_after_half_a_minute_or_the_time_that_its_host_names(
    clock: Clock, attempts: int, retry_after: float | None, outcome: str, wait: float | None
) -> None:
    store = Store()
    error = SearchFetchError("refused", details={"status": 503}, retry_after=retry_after)
    made, _ = work(PAGE, clock, store, a=error)
    result = await made.do(UrlTask(1, 1, f"{HOME}a", attempts=attempts))
    assert result == Result(outcome, "refused", of_host=True)  # type: ignore[arg-type]
    state = "due" if outcome == "retry" else "failed"
    assert store.finished == [(state, "refused", None if wait is None else clock.now + wait)]


@pytest.mark.parametrize(("letters", "kept"), [(500, 500), (501, 500), (0, 1)])
async def test_a_title_has_at_most_five_hundred_characters(
    clock: Clock, letters: int, kept: int
) -> None:
    store = Store()
    made, _ = work(Document("x" * letters, PAGE.markdown, PAGE.chunks), clock, store)
    assert await made.do(TASK) == Result("indexed")
    assert len(store.committed[0].title) == kept


async def test_the_inventories_of_twenty_manuals_are_fetched(clock: Clock) -> None:
    links = tuple(f"{HOME}{number:02}/genindex.html" for number in range(30))
    made, site = work(Document("Tides", "Words.", (), links=links), clock, Store())
    for _ in range(2):
        await made.do(TASK)
    assert len(set(site.inventories)) == len(site.inventories) == 20


@pytest.mark.parametrize(("files", "is_file"), [(2, False), (3, True)])
async def test_after_three_files_with_an_ending_no_link_with_it_is_followed(
    clock: Clock, files: int, is_file: bool
) -> None:
    replies = {f"build{letter}.log": (b"made", "text/x-log") for letter in "abc"[:files]}
    made, site = work(
        Document("Tides", "Words.", (), links=(f"{HOME}math.log",)), clock, Store(), **replies
    )
    for name in replies:
        assert await made.do(UrlTask(1, 1, HOME + name)) == Result("skipped", NO_PAGE)
    assert made.is_file(f"{HOME}math.log") is is_file
    assert not made.is_file(f"{HOME}math.html")
    await made.do(TASK)
    assert [one.reason for one in site.left_out.rows()] == [NO_PAGE] * is_file


@pytest.mark.parametrize(
    ("rendered", "pages", "browser"),
    [
        ([True] * 3, 3, "always"),
        ([True, True, False], 3, "auto"),
        ([True, True, False, False, True], 5, "always"),
        ([True, True, False, False, False, True], 6, "auto"),
    ],
)
async def test_a_site_of_which_three_of_the_first_five_pages_need_a_browser_is_read_with_it(
    clock: Clock, rendered: list[bool], pages: int, browser: str
) -> None:
    made, _ = work(PAGE, clock, Store())
    answers = iter(rendered)

    async def read(*_: object, **__: object) -> Document:
        return Document("Tides", f"Words {clock()}.", (), rendered=next(answers))

    made.read = read  # type: ignore[assignment]
    for number in range(pages):
        clock.now += 1
        await made.do(UrlTask(1, 1, f"{HOME}{number}"))
    assert made.browser == browser


@pytest.mark.parametrize(
    ("address", "marks"),
    [("https://a.example/" + "x" * 182, 0), ("https://a.example/" + "x" * 183, 1)],
)
async def test_two_hundred_characters_of_the_address_of_another_site_are_shown(
    clock: Clock, address: str, marks: int
) -> None:
    made, _ = work(PAGE, clock, Store(), a=SearchFetchError("moved", details={"location": address}))
    result = await made.do(TASK)
    assert result.reason.count("…") == marks
    assert (address in result.reason) is not bool(marks)


@pytest.mark.parametrize(
    ("error", "result", "state"),
    [
        (SearchFetchError("moved", details={"location": f"{HOME}b"}), Result("skipped"), "alias"),
        (
            SearchFetchError("moved", details={"location": f"{HOME}a#x"}),
            Result("failed", "redirects to itself"),
            "failed",
        ),
        (SearchFetchError("gone", details={"status": 404}), Result("failed", "HTTP 404"), "gone"),
        (SearchFetchError("gone", details={"status": 410}), Result("failed", "HTTP 410"), "gone"),
        (SearchFetchError("no", details={"status": 418}), Result("failed", "HTTP 418"), "failed"),
        (SearchFetchError("off"), Result("retry", "off", of_host=True), "due"),
        (
            SearchFetchError("large", details={"reason": "too_large"}),
            Result("failed", "large"),
            "failed",
        ),
        (SearchTimeoutError("slow"), Result("retry", "slow", of_host=True), "due"),
    ],
)
async def test_a_failed_request_says_what_becomes_of_its_address(
    clock: Clock, error: Exception, result: Result, state: str
) -> None:
    store = Store()
    made, _ = work(PAGE, clock, store, a=error)
    assert await made.do(TASK) == result
    assert [one[0] for one in store.finished] == [state]


async def test_a_file_that_is_too_large_for_a_page_is_a_file(clock: Clock) -> None:
    error = SearchFetchError("large", details={"reason": "too_large"})
    made, _ = work(PAGE, clock, Store(), **{"a.log": error})
    assert await made.do(UrlTask(1, 1, f"{HOME}a.log")) == Result("skipped", NO_PAGE)


@pytest.mark.parametrize(
    ("document", "result"),
    [
        (Document("", ""), Result("failed", "no readable text")),
        (Document("T", "Words.", noindex=True), Result("skipped", "noindex")),
        (Document("T", "Words.", refresh=f"{HOME}b"), Result("skipped")),
        (Document("T", "Words.", refresh=f"{HOME}a#x"), Result("indexed")),
        (Document("T", "Words.", canonical=f"{HOME}b"), Result("skipped")),
        (Document("T", "Words.", canonical=f"{HOME}a#x"), Result("indexed")),
        (Document("T", "Words.", canonical=HOME), Result("indexed")),
        (Document("T", "Words.", canonical="https://elsewhere.example/"), Result("indexed")),
    ],
)
async def test_a_document_says_whether_it_is_indexed(
    clock: Clock, document: Document, result: Result
) -> None:
    store = Store()
    made, _ = work(document, clock, store)
    assert await made.do(TASK) == result
    assert len(store.committed) == (result.outcome == "indexed")


@pytest.mark.parametrize(
    ("needs_scripts", "rendered", "browser", "is_indexed"),
    [(True, False, "auto", False), (True, True, "auto", True), (True, False, "always", True)],
)
async def test_a_page_that_needs_scripts_is_indexed_only_with_a_browser(
    clock: Clock, needs_scripts: bool, rendered: bool, browser: Any, is_indexed: bool
) -> None:
    document = Document("T", "Words.", needs_scripts=needs_scripts, rendered=rendered)
    made, _ = work(document, clock, Store())
    made.browser = browser
    assert ((await made.do(TASK)).outcome == "indexed") is is_indexed


@pytest.mark.parametrize(
    ("url", "asked", "has_markdown"),
    [
        ("a", ["a"], False),
        ("a", ["a", "a.md"], True),
        ("a/", ["a/", "a/index.html"], False),
        ("a.html", ["a.html"], True),
    ],
)
async def test_a_missing_page_is_looked_for_where_sites_put_it(
    clock: Clock, url: str, asked: list[str], has_markdown: bool
) -> None:
    gone = SearchFetchError("gone", details={"status": 404})
    made, site = work(PAGE, clock, Store(), **{url: gone})
    made._has_markdown = has_markdown
    result = await made.do(UrlTask(1, 1, HOME + url))
    assert site.asked == asked
    assert (result.outcome == "indexed") is (len(asked) == 2)


@pytest.mark.parametrize(
    ("depth", "takes_links", "nofollow", "count"),
    [(29, True, False, 1), (30, True, False, 0), (0, False, False, 0), (0, True, True, 0)],
)
async def test_links_are_taken_up_to_thirty_pages_deep_while_there_is_room(
    clock: Clock, depth: int, takes_links: bool, nofollow: bool, count: int
) -> None:
    made, _ = work(PAGE, clock, Store())
    made.takes_links = takes_links
    document = Document("T", "Words.", links=(f"{HOME}b",), nofollow=nofollow)
    assert len(made._links(UrlTask(1, 1, f"{HOME}a", depth=depth), document)) == count


@pytest.mark.parametrize(
    ("validator", "sent"),
    [
        ('"1"', '"1"'),
        ("x" * 300, "x" * 300),
        ("x" * 301, None),
        ("", None),
        (None, None),
        ("ü", None),
        ("a\nb", None),
    ],
)
def test_a_validator_that_is_safe_to_send_back_is_kept(
    validator: str | None, sent: str | None
) -> None:
    assert sendable(validator) == sent


async def test_of_pages_that_name_each_other_as_their_original_one_is_indexed(clock: Clock) -> None:
    store = Store()
    made, _ = work(PAGE, clock, store)
    outcomes = []
    for own, other in (("a", "b"), ("b", "a"), ("c", "d"), ("d", "e")):

        async def read(*_: object, other: str = other, **__: object) -> Document:
            return Document("T", f"Words of {other}.", canonical=HOME + other)

        made.read = read  # type: ignore[assignment]
        clock.now += 1
        made.source.replies[own] = own.encode()  # type: ignore[union-attr]
        outcomes.append((await made.do(UrlTask(1, 1, HOME + own))).outcome)
    assert outcomes == ["skipped", "indexed", "skipped", "skipped"]


ROOT = "https://docs.example.org/"


def work_above_versions(clock: Clock, **replies: Any) -> PageWork:
    made, _ = work(PAGE, clock, Store(), **replies)
    made.scope = Scope.of(ROOT)
    made.start = ROOT
    made.versions = VersionFolders(made.scope)
    return made


async def test_the_start_page_is_of_no_version_that_is_left_out(clock: Clock) -> None:
    made = work_above_versions(clock)
    made.versions.note(f"{ROOT}{label}/" for label in ("1.0", "2.0"))
    assert made.is_other_version(f"{ROOT}1.0/")
    assert not made.is_other_version(f"{ROOT}2.0/")
    made.start = f"{ROOT}1.0/"
    assert not made.is_other_version(f"{ROOT}1.0/")


@pytest.mark.parametrize(("url", "left_out"), [(ROOT, "2.0"), (f"{ROOT}a", "1.0")])
async def test_only_the_redirect_of_the_start_page_chooses_a_version(
    clock: Clock, url: str, left_out: str
) -> None:
    moved = SearchFetchError("moved", details={"location": f"{ROOT}1.0/"})
    made = work_above_versions(clock, **{url: moved})
    assert await made.do(UrlTask(1, 1, url)) == Result("skipped")
    made.versions.note(f"{ROOT}{label}/" for label in ("1.0", "2.0"))
    assert [made.is_other_version(f"{ROOT}{label}/x") for label in ("1.0", "2.0")] == [
        left_out == "1.0",
        left_out == "2.0",
    ]


@pytest.mark.parametrize(("url", "is_moved"), [(HOME, True), (f"{HOME}a", False)])
async def test_only_the_start_page_may_move_to_another_host_of_the_site(
    clock: Clock, url: str, is_moved: bool
) -> None:
    there = "https://www.docs.example.org/3/"
    error = SearchFetchError("moved", details={"location": there})
    made, _ = work(PAGE, clock, Store(), **{url.removeprefix(HOME): error})
    if is_moved:
        with pytest.raises(Moved, match="www"):
            await made.do(UrlTask(1, 1, url))
    else:
        result = await made.do(UrlTask(1, 1, url))
        assert result.reason.startswith("redirects out of scope")
