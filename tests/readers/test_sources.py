"""One contract for every source: whose URLs, what text, and what happens when its API does not serve."""

from __future__ import annotations

import pickle
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.net.address import AddressGuard
from websearch_gateway.net.fetch import Fetcher
from websearch_gateway.readers.arxiv import ArXiv
from websearch_gateway.readers.github_files import GitHubFiles
from websearch_gateway.readers.github_issues import GitHubIssues
from websearch_gateway.readers.hackernews import HackerNews
from websearch_gateway.readers.loader import LONGEST_REST_SECONDS, REST_SECONDS, ApiReader
from websearch_gateway.readers.reddit import Reddit
from websearch_gateway.readers.source import Source
from websearch_gateway.readers.stackexchange import StackExchange
from websearch_gateway.readers.wikipedia import Wikipedia
from websearch_gateway.readers.workers import Workers

REPLIES = Path(__file__).parent / "replies"
SECRET = "ghp_made_up"


@dataclass(frozen=True)
class Case:
    """A document of a source: where it is, which recorded replies make it, and what must be read in it, in order."""

    make: Callable[..., Source]
    url: str
    replies: Mapping[str, str]
    title: str
    texts: tuple[str, ...]
    absent: tuple[str, ...] = ()
    published: str | None = None
    more: tuple[str, ...] = ()


_ISSUE = "/repos/tide/watch/issues/17"
_PULL = "/repos/tide/watch/issues/18"
_QUESTION = "/2.3/questions/4711"
_WISH = "site=stackoverflow&filter=withbody"

CASES = {
    "wikipedia": Case(
        Wikipedia,
        "https://en.wikipedia.org/wiki/Skerry_Light%C3%A9#Keepers",
        {"/w/rest.php/v1/page/Skerry_Light%C3%A9/html": "wikipedia.html"},
        "Skerry Lighthouse",
        (
            "**Skerry Lighthouse** is a [lighthouse](https://en.wikipedia.org/wiki/Lighthouse) lit in 1861. Its",
            "10^5 candela",
            "## Keepers",
            "**Keepers of the light**",
            "| A. Maren | 1861–1880 |\n| A. Maren | 1885–1888 |",
            "*ashore*",
        ),
        ("[1]", "Old book", "of the north", "For the novel"),
    ),
    "github_issues": Case(
        GitHubIssues,
        "https://github.com/tide/watch/issues/17#issuecomment-2",
        {_ISSUE: "github_issue.json", f"{_ISSUE}/comments?per_page=100": "github_comments.json"},
        "Tide table is off by an hour (#17)",
        (
            "State: closed (not planned); labels: bug, time zones; opened by mira.",
            "Since `2.3` every table",
            "## Comment by tomas, 2025-03-05\n\nSummer time.",
            "## Comment by somebody, 2025-03-09",
            "(2 later comments are left out.)",
        ),
        published="2025-03-04",
    ),
    "github_pulls": Case(
        GitHubIssues,
        "https://github.com/tide/watch/pull/18/files",
        {
            _PULL: "github_pull.json",
            f"{_PULL}/comments?per_page=100": "github_comments.json",
            "/repos/tide/watch/pulls/18/comments?per_page=100": "github_review.json",
        },
        "Read the zone file (#18)",
        ("State: merged; labels: none; opened by tomas.", "by tomas,", "on `src/zone.py`, 2025-03-07", "by somebody"),
        published="2025-03-07",
    ),
    "github_readme": Case(
        GitHubFiles,
        "https://github.com/tide/watch",
        {"/repos/tide/watch/readme": "github_readme.md"},
        "tide/watch",
        ("# tidewatch\n\nTide tables",),
    ),
    "github_blob": Case(
        GitHubFiles,
        "https://github.com/tide/watch/blob/main/src/high%20water.py#L2",
        {"/repos/tide/watch/contents/src/high%20water.py?ref=main": "github_blob.py"},
        "tide/watch/src/high water.py",
        ("````py\ndef high_water(day):\n", "return day * 50\n````"),
    ),
    "stackexchange": Case(
        StackExchange,
        "https://stackoverflow.com/questions/4711/why-isnt-the-lock-released",
        {
            f"{_QUESTION}?{_WISH}": "stackexchange_question.json",
            f"{_QUESTION}/answers?{_WISH}&order=desc&sort=votes&pagesize=10": "stackexchange_answers.json",
        },
        "Why isn't the lock released?",
        (
            "Score 12, 2 answers. Tags: python, asyncio.",
            "waits *for ever*:\n\n```\nawait lock.acquire()\n```",
            "## Accepted answer by somebody (score 9)\n\nYou return early.",
            "## Answer by Ann & Bo (score 30)\n\nUse `async with`.",
        ),
        published="2023-11-14",
    ),
    "hackernews": Case(
        HackerNews,
        "https://news.ycombinator.com/item?id=900",
        {"/api/v1/items/900": "hackernews.json"},
        "Show HN: Tide tables in a terminal",
        (
            "41 points, posted by lena.",
            "https://tides.example/",
            "## Comment by kit\n\nDoes it know *springs*?",
            "### Comment by somebody\n\nYes & neaps.",
        ),
        published="2024-02-03",
    ),
    "arxiv": Case(
        ArXiv,
        "https://arxiv.org/pdf/2301.00001v2.pdf",
        {"/api/query?id_list=2301.00001v2": "arxiv.xml"},
        "Tides on a Flat Sea",
        (
            "Mira Holm, T. Ahn (2022-12-30)",
            "## Abstract\n\nWe show that n < 2 tides suffice.\n\n",
            "## Full text\n\nThe plain page.",
        ),
        published="2022-12-30",
        more=("https://arxiv.org/html/2301.00001v2",),
    ),
    "reddit_thread": Case(
        Reddit,
        "https://old.reddit.com/r/sailing/comments/abc1/which_tide_app/?sort=new",
        {"/comments/abc1/.rss": "reddit.xml"},
        "Which tide app?",
        (
            "Posted by /u/kit.\n\nI sail *alone*.",
            "## Comment by /u/lena\n\nhttps://www.reddit.com/r/sailing/comments/abc1/which_tide_app/x/\n\nAny.",
        ),
        published="2025-05-01",
    ),
    "reddit_front": Case(
        Reddit,
        "https://www.reddit.com/r/sailing",
        {"/r/sailing/.rss": "reddit.xml"},
        "Which tide app? : sailing",
        ("## Which tide app?\n\nhttps://www.reddit.com/r/sailing/comments/abc1/", "I sail *alone*."),
    ),
}


class Pages:
    """Stands for the reader of plain pages, whose sites are not in reach of a test."""

    name = "pages"

    def __init__(self) -> None:
        self.read_urls: list[str] = []

    async def read(self, url: str, deadline: Deadline) -> Page:
        self.read_urls.append(url)
        return Page(url, url, "Plain", "The plain page.", warnings=("Its own warning.",))


class Clock:
    def __init__(self) -> None:
        self.now = 2_000_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    """A source in front of an API that a test scripts."""

    api: Any
    pages: Pages
    clock: Clock
    fetcher: Fetcher
    workers: Workers

    def reader(self, case: Case) -> ApiReader:
        return ApiReader(self.source(case), self.fetcher, self.workers, self.pages, clock=self.clock)

    def source(self, case: Case) -> Source:
        token = {"token": SECRET} if "token" in case.make.__dataclass_fields__ else {}
        return case.make(api=self.api.url, **token)

    def play(self, case: Case) -> None:
        for path, name in case.replies.items():
            self.api.says(path, (REPLIES / name).read_bytes())


@pytest.fixture
async def bench(api: Any) -> AsyncIterator[Bench]:
    async with Fetcher(AddressGuard([api.pair])) as fetcher, Workers(count=1) as workers:
        yield Bench(api, Pages(), Clock(), fetcher, workers)


def soon() -> Deadline:
    return Deadline.after(40)


each = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


@each
async def test_a_document_is_read_from_the_api(bench: Bench, case: Case) -> None:
    bench.play(case)
    page = await bench.reader(case).read(case.url, soon())
    assert (page.url, page.title, page.published) == (case.url, case.title, case.published)
    assert page.warnings == (("Its own warning.",) if case.more else ())
    position = 0
    for text in case.texts:
        position = page.markdown.find(text, position)
        assert position >= 0, (text, page.markdown)
    assert [text for text in case.absent if text in page.markdown] == []
    assert bench.api.seen == list(case.replies)
    assert bench.pages.read_urls == list(case.more)


GARBAGE = (b"", b"\xff\x00 not it", b"{}", b"[1]", b'{"items": [], "children": 1}', b"[" * 9_999)


@pytest.mark.parametrize(
    ("name", "body"),
    [(name, body) for name, case in CASES.items() for body in GARBAGE[: 2 if case.make is GitHubFiles else None]],
)
async def test_a_reply_that_makes_no_sense_leads_to_the_plain_page(bench: Bench, name: str, body: bytes) -> None:
    """A file on GitHub may be any text, so that only what is no text makes no sense."""
    case = CASES[name]
    for path in case.replies:
        bench.api.says(path, body)
    page = await bench.reader(case).read(case.url, soon())
    assert page.markdown == "The plain page."
    assert bench.pages.read_urls == [case.url]
    own, warning = page.warnings
    assert own == "Its own warning."
    assert warning.startswith("Read from the plain page of ")


@each
async def test_a_busy_api_is_left_alone_for_as_long_as_it_says(bench: Bench, case: Case) -> None:
    reader, first = bench.reader(case), next(iter(case.replies))
    bench.api.says(first, b"", status=429, retry_after="90")
    assert (await reader.read(case.url, soon())).markdown == "The plain page."
    bench.play(case)
    bench.clock.now += 89
    resting = await reader.read(case.url, soon())
    assert "left alone for 1 seconds" in resting.warnings[-1]
    assert bench.api.seen == [first]
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title


@each
async def test_every_busy_status_without_a_time_means_a_minute(bench: Bench, case: Case) -> None:
    first = next(iter(case.replies))
    for status in bench.source(case).busy:
        reader = bench.reader(case)
        bench.api.says(first, b"", status=status)
        await reader.read(case.url, soon())
        seen = len(bench.api.seen)
        bench.clock.now += REST_SECONDS - 1
        await reader.read(case.url, soon())
        assert len(bench.api.seen) == seen, status
        bench.clock.now += 1
        await reader.read(case.url, soon())
        assert len(bench.api.seen) == seen + 1, status


@each
async def test_a_page_that_is_not_there_gives_the_api_no_rest(bench: Bench, case: Case) -> None:
    reader = bench.reader(case)
    await reader.read(case.url, soon())
    bench.play(case)
    bench.clock.now += bench.source(case).pause_seconds
    assert (await reader.read(case.url, soon())).title == case.title


@each
def test_a_source_by_default_asks_over_tls_and_shows_no_token(case: Case) -> None:
    source = case.make(token=SECRET) if "token" in case.make.__dataclass_fields__ else case.make()
    requests = source.requests(case.url)
    assert all(request.url.startswith("https://") for request in requests)
    assert SECRET not in repr((source, requests, [request.url for request in requests]))
    assert SECRET.encode() not in pickle.dumps(source.parse)


@each
async def test_a_token_goes_to_the_api_alone(bench: Bench, case: Case) -> None:
    """A redirect to another host is followed without it."""
    bench.play(case)
    first, name = next(iter(case.replies.items()))
    elsewhere = f"http://localhost:{bench.api.port}/elsewhere"
    bench.api.says(first, b"", status=302, location=elsewhere)
    bench.api.says("/elsewhere", (REPLIES / name).read_bytes())
    async with Fetcher(AddressGuard([bench.api.pair, f"localhost:{bench.api.port}"])) as fetcher:
        bench.fetcher = fetcher
        assert (await bench.reader(case).read(case.url, soon())).title == case.title
    own, other = bench.api.heads[:2]
    assert (f"bearer {SECRET}" in own) == case.make.__name__.startswith("GitHub")
    assert "authorization" not in other


async def test_a_spent_quota_rests_the_api_before_it_must_refuse(bench: Bench) -> None:
    """GitHub's promise: `x-ratelimit-reset` is the second at which requests are allowed again."""
    case = CASES["github_readme"]
    reader, (path, name) = bench.reader(case), next(iter(case.replies.items()))
    body = (REPLIES / name).read_bytes()
    bench.api.says(path, body, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(bench.clock.now) + 30))
    assert (await reader.read(case.url, soon())).title == case.title
    assert (await reader.read(case.url, soon())).title == "Plain"
    bench.clock.now += 30
    assert (await reader.read(case.url, soon())).title == case.title


@pytest.mark.parametrize(
    ("told", "seconds"),
    [('"backoff": 10', 10.0), ('"quota_remaining": 0', LONGEST_REST_SECONDS)],
    ids=["backoff", "quota"],
)
async def test_stack_exchange_is_left_alone_when_its_reply_says_so(bench: Bench, told: str, seconds: float) -> None:
    case = CASES["stackexchange"]
    answers = list(case.replies)[1]
    bench.play(case)
    body = (REPLIES / case.replies[answers]).read_text().replace('"backoff": 10', told)
    bench.api.says(answers, body.encode())
    reader = bench.reader(case)
    assert (await reader.read(case.url, soon())).title == case.title
    bench.clock.now += seconds - 1
    assert (await reader.read(case.url, soon())).title == "Plain"
    bench.clock.now += 1
    assert (await reader.read(case.url, soon())).title == case.title


async def test_when_neither_serves_the_error_is_that_of_the_page(bench: Bench) -> None:
    async def fail(url: str, deadline: Deadline) -> Page:
        raise SearchFetchError("The page is gone.")

    bench.pages.read = fail  # type: ignore[method-assign]
    with pytest.raises(SearchFetchError, match="The page is gone"):
        await bench.reader(CASES["wikipedia"]).read(CASES["wikipedia"].url, soon())


async def test_the_pdf_of_a_paper_is_read_where_it_has_no_html_and_the_abstract_stands_alone(bench: Bench) -> None:
    case = CASES["arxiv"]
    tried = []

    async def fail(url: str, deadline: Deadline) -> Page:
        tried.append(url)
        raise SearchFetchError("Not found.")

    bench.play(case)
    bench.pages.read = fail  # type: ignore[method-assign]
    page = await bench.reader(case).read(case.url, soon())
    assert tried == ["https://arxiv.org/html/2301.00001v2", "https://arxiv.org/pdf/2301.00001v2"]
    assert page.warnings == ("The full text could not be read.",)
    assert "tides suffice" in page.markdown


async def test_arxiv_is_asked_once_in_three_seconds(bench: Bench) -> None:
    """arXiv's terms of use for its API."""
    case = CASES["arxiv"]
    bench.play(case)
    reader = bench.reader(case)
    for moment, title in [(0, case.title), (2, "Plain"), (1, case.title)]:
        bench.clock.now += moment
        assert (await reader.read(case.url, soon())).title == title
