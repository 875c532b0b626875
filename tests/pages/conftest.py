"""The reader of pages, allowed to reach the sandbox only; and the sources, in front of an API that a test scripts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.clock import Clock
from tests.loopback import serving
from tests.patience import PATIENCE
from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.pages.sites.api import ApiReader, Source
from websearch_gateway.pages.sites.arxiv import ArXiv
from websearch_gateway.pages.sites.github import GitHubDiscussions, GitHubFiles, GitHubIssues
from websearch_gateway.pages.sites.threads import HackerNews, Reddit, StackExchange
from websearch_gateway.pages.sites.wikipedia import Wikipedia
from websearch_gateway.ports import Workers
from websearch_gateway.sandbox import Sandbox


@pytest.fixture
async def reader(sandbox: Sandbox, workers: Workers) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressPolicy([urlsplit(sandbox.url).netloc])) as fetcher:
        yield ReaderTable.build(fetcher, workers)


@dataclass
class Api:
    """A loopback server that plays an API: each path with its query has one reply, any other is not found."""

    port: int = 0
    replies: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    posted: list[bytes] = field(default_factory=list)
    silent: dict[str, asyncio.Event] = field(default_factory=dict)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pair(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"http://{self.pair}"

    def says(self, path: str, body: bytes, status: int = 200, **headers: str) -> None:
        self.replies[path] = (
            status,
            {name.replace("_", "-"): value for name, value in headers.items()},
            body,
        )

    def hangs(self, path: str) -> None:
        """Whoever asks for `path` waits until they leave, which sets `left`."""
        self.silent[path] = asyncio.Event()

    async def asked_for(self, path: str) -> None:
        """Wait until somebody asks for a path that hangs."""
        await asyncio.wait_for(self.silent[path].wait(), PATIENCE)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if length := re.search(r"content-length: (\d+)", head):
            self.posted.append(await reader.readexactly(int(length[1])))
        path = head.split(" ")[1]
        self.seen.append(path)
        self.heads.append(head.lower())
        if path in self.silent:
            self.silent[path].set()
            await reader.read()
            self.left.set()
        status, headers, body = self.replies.get(path, (404, {}, b""))
        lines = [
            f"HTTP/1.1 {status} So",
            f"content-length: {len(body)}",
            *(f"{n}: {v}" for n, v in headers.items()),
        ]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    api = Api()
    async with serving(api.serve) as api.port:
        yield api


REPLIES = Path(__file__).parent / "replies"
SECRET = "ghp_made_up"


@dataclass(frozen=True)
class Case:
    """A document of a source: its URL, the recorded replies with its content, and the text it must have, in order."""

    make: Callable[..., Source]
    url: str
    replies: Mapping[str, str]
    title: str
    texts: tuple[str, ...]
    absent: tuple[str, ...] = ()
    published: str | None = None
    more: tuple[str, ...] = ()

    def source(self, **fields: str) -> Source:
        """The source, with a token if it takes one."""
        return self.make(
            **fields, **({"token": SECRET} if "token" in self.make.__dataclass_fields__ else {})
        )


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
            "Keepers of the light",
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
        ("nobody sees this",),
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
        (
            "State: merged; labels: none; opened by tomas.",
            "by tomas,",
            "on `src/zone.py`, 2025-03-07",
            "by somebody",
        ),
        published="2025-03-07",
    ),
    "github_discussions": Case(
        GitHubDiscussions,
        "https://github.com/tide/watch/discussions/23#discussioncomment-5",
        {"/graphql": "github_discussion.json"},
        "Which port for a river mouth? (#23)",
        (
            "Category: Q&A; labels: rivers; opened by mira.\n\nThe **nearest** one",
            "## Chosen answer by tomas, 2025-04-03\n\nTake the outer one.",
            "## Comment (4 votes) by lena, 2025-04-02\n\nI would ask the pilot.",
            "### Reply by somebody, 2025-04-02\n\nWhich pilot?",
            "### Reply by mira, 2025-04-04\n\nThat works.",
            "(1 later comments are left out.)",
        ),
        published="2025-04-01",
    ),
    "github_readme": Case(
        GitHubFiles,
        "https://github.com/tide/watch",
        {"/repos/tide/watch/readme": "github_readme.md"},
        "tide/watch",
        ("# tidewatch\n\nTide tables",),
        ("nobody sees this",),
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
    "stackexchange_answer": Case(
        StackExchange,
        "https://mathoverflow.net/a/4713",
        {
            "/2.3/answers/4713/questions?site=mathoverflow.net&filter=withbody": "stackexchange_question.json",
            "/2.3/answers/4713?site=mathoverflow.net&filter=withbody": "stackexchange_answers.json",
        },
        "Why isn't the lock released?",
        ("Score 12, 2 answers.", "## Accepted answer by somebody (score 9)"),
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
        (
            "## Which tide app?\n\nhttps://www.reddit.com/r/sailing/comments/abc1/",
            "I sail *alone*.",
        ),
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    """Each document of each source in turn."""
    return request.param


@pytest.fixture
def cases() -> Mapping[str, Case]:
    return CASES


class Pages:
    """Replaces the reader of plain pages, since a test cannot reach their sites."""

    name = "pages"

    def __init__(self) -> None:
        self.read_urls: list[str] = []
        self.markdown = "The plain page."

    async def read(self, url: str, deadline: Deadline, known: Page | None = None) -> Page:
        self.read_urls.append(url)
        return Page(url, url, "Plain", self.markdown, warnings=("Its own warning.",))


@dataclass
class Bench:
    """A source in front of an API that a test scripts."""

    api: Api
    pages: Pages
    clock: Clock
    fetcher: Fetcher
    workers: Workers
    token: str = SECRET

    def reader(self, case: Case) -> ApiReader:
        return self.reader_of(self.source(case))

    def reader_of(self, source: Source) -> ApiReader:
        return ApiReader(source, self.fetcher, self.workers, self.pages, clock=self.clock)

    def source(self, case: Case) -> Source:
        return case.source(api=self.api.url)

    def recorded(self, name: str) -> bytes:
        return (REPLIES / name).read_bytes()

    def play(self, case: Case) -> None:
        for path, name in case.replies.items():
            self.api.says(path, self.recorded(name))


@pytest.fixture
async def bench(api: Api, workers: Workers) -> AsyncIterator[Bench]:
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        yield Bench(api, Pages(), Clock(2_000_000_000.0), fetcher, workers)
