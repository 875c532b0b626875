"""A web server as a source of documents: what it is asked for, how long, and what its replies mean."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.clock import Clock
from websearch_gateway.base.net.fetch import Fetched
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.docs.crawl.sources import FolderSource, HostPace, RobotsTxt, WebSource
from websearch_gateway.docs.models import UrlTask
from websearch_gateway.docs.store.sqlite import SqliteDocs
from websearch_gateway.errors import SearchFetchError, SearchTimeoutError
from websearch_gateway.models import Deadline

HOME = "https://docs.example.org/"
Reply = bytes | int | str
"""A body, a status, or the address of a redirect."""


class Inline:
    async def run(self, function: Any, *arguments: Any, deadline: Deadline) -> Any:
        return function(*arguments)


class Server:
    """Replies by path; notes what it was asked for, for how long and up to how many bytes."""

    def __init__(self, replies: Mapping[str, Reply]) -> None:
        self.replies = replies
        self.asked: list[str] = []
        self.seconds: list[float] = []
        self.most: list[int | None] = []
        self.retry_after: float | None = None

    async def fetch(
        self, url: str, deadline: Deadline, *, max_bytes: int | None = None, **_: object
    ) -> Fetched:
        self.asked.append(url)
        self.seconds.append(deadline.remaining())
        self.most.append(max_bytes)
        reply = self.replies.get(url.removeprefix(HOME), 404)
        if isinstance(reply, int):
            raise SearchFetchError(
                "refused", details={"status": reply}, retry_after=self.retry_after
            )
        if isinstance(reply, str):
            raise SearchFetchError("moved", details={"status": 302, "location": reply})
        kind = "text/html" if reply.startswith(b"<html") else "text/plain"
        return Fetched(url, url, 200, {}, reply, kind, "utf-8")


@pytest.fixture
async def pace(tmp_path: Path, clock: Clock) -> AsyncIterator[HostPace]:
    store = SqliteDocs(tmp_path / "docs.db", "tests/1", clock=clock)
    yield HostPace(store, HOME.rstrip("/"), 0, clock=clock)
    await store.close()


def source(pace: HostPace, replies: Mapping[str, Reply], start: str = HOME) -> WebSource:
    async def note(url: str) -> None:
        pass

    robots = RobotsTxt(Server(replies), Inline(), pace)  # type: ignore[arg-type]
    return WebSource(start, Scope.of(start), robots, {}, note)


def server_of(web: WebSource) -> Server:
    server = web.robots.fetcher
    assert isinstance(server, Server)
    return server


async def test_a_page_is_fetched_within_half_a_minute_and_five_megabytes(pace: HostPace) -> None:
    web = source(pace, {"a": b"words"})
    assert (await web.fetch(UrlTask(1, 1, f"{HOME}a"))).body == b"words"
    assert 20 < server_of(web).seconds[0] <= 30
    assert server_of(web).most == [5_000_000]


async def test_a_robots_txt_is_fetched_within_half_a_minute(pace: HostPace) -> None:
    web = source(pace, {"robots.txt": b"User-agent: *\nDisallow: /x"})
    await web.robots.open()
    assert 20 < server_of(web).seconds[0] <= 30


async def test_a_list_of_pages_is_fetched_up_to_25_megabytes(pace: HostPace) -> None:
    web = source(pace, {"llms.txt": b"[a](a.html)"})
    await web.seeds()
    assert set(server_of(web).most[1:]) == {25_000_000}


@pytest.mark.parametrize(
    ("status", "is_pushed"), [(429, True), (503, True), (500, False), (404, False)]
)
async def test_a_busy_host_is_asked_less_often(
    pace: HostPace, status: int, is_pushed: bool
) -> None:
    web = source(pace, {"a": status})
    with pytest.raises(SearchFetchError):
        await web.fetch(UrlTask(1, 1, f"{HOME}a"))
    assert (pace.interval > 0) is is_pushed


@pytest.mark.parametrize("retry_after", [None, 0.0, 7.0])
async def test_a_host_that_names_a_time_is_left_alone_until_then(
    pace: HostPace, clock: Clock, retry_after: float | None
) -> None:
    web = source(pace, {"a": 429})
    server_of(web).retry_after = retry_after
    with pytest.raises(SearchFetchError):
        await web.fetch(UrlTask(1, 1, f"{HOME}a"))
    host = await pace.store.host(pace.host)
    assert (host.reason == "429") is bool(retry_after)
    if retry_after:
        assert host.next_at == clock.now + retry_after


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 522, 524])
async def test_whether_a_page_exists_is_not_known_while_its_host_is_busy(
    pace: HostPace, status: int
) -> None:
    with pytest.raises(SearchFetchError):
        await source(pace, {"a": status}).answers(f"{HOME}a")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 501])
async def test_a_page_that_a_host_refuses_does_not_exist(pace: HostPace, status: int) -> None:
    assert await source(pace, {"a": status}).answers(f"{HOME}a") == (False, f"{HOME}a")


async def test_a_host_that_cannot_be_reached_says_nothing_of_its_pages(pace: HostPace) -> None:
    web = source(pace, {})

    async def unreachable(*_: object, **__: object) -> Fetched:
        raise SearchFetchError("docs.example.org cannot be reached.")

    server_of(web).fetch = unreachable  # type: ignore[method-assign]
    with pytest.raises(SearchFetchError, match="reached"):
        await web.answers(f"{HOME}a")


@pytest.mark.parametrize(
    ("replies", "found", "final"),
    [
        ({"a": b"words"}, True, "a"),
        ({"a": "b", "b": b"words"}, True, "b"),
        ({"a": "b", "b": "c", "c": b"words"}, True, "c"),
        ({"a": "b", "b": "c", "c": "d", "d": b"words"}, False, "d"),
        ({"a": "a"}, False, "a"),
        ({"a": "https://elsewhere.example/a"}, False, "a"),
        ({"a": "mailto:a@b.example"}, False, "a"),
        ({"a": 404}, False, "a"),
    ],
)
async def test_three_addresses_of_a_host_are_asked_for_a_page(
    pace: HostPace, replies: Mapping[str, Reply], found: bool, final: str
) -> None:
    assert await source(pace, replies).answers(f"{HOME}a") == (found, f"{HOME}{final}")


async def test_fifty_sitemaps_of_a_site_are_read(pace: HostPace) -> None:
    maps = "".join(f"<loc>{HOME}{number}.xml</loc>" for number in range(100))
    replies: dict[str, Reply] = {"sitemap.xml": f"<sitemapindex>{maps}</sitemapindex>".encode()}
    for number in range(100):
        replies[f"{number}.xml"] = f"<urlset><loc>{HOME}p{number}</loc></urlset>".encode()
    web = source(pace, replies)
    pages, _ = await web.seeds()
    assert sum(url.endswith(".xml") for url in server_of(web).asked) == 50
    assert pages == [HOME, *(f"{HOME}p{number}" for number in range(49))]


async def test_sitemaps_are_read_until_they_have_fifty_thousand_addresses(pace: HostPace) -> None:
    listed = [([f"{HOME}{number}" for number in range(count)], {}) for count in (49_999, 1, 1)]
    web = source(pace, {f"{number}.xml": b"<urlset>" for number in range(3)})
    web.robots._text = "".join(f"Sitemap: {HOME}{number}.xml\n" for number in range(3))

    class Workers(Inline):
        async def run(self, function: Any, *arguments: Any, deadline: Deadline) -> Any:
            if function.__name__ == "sitemap_in":
                return listed.pop(0), []
            return await super().run(function, *arguments, deadline=deadline)

    web.robots.workers = Workers()  # type: ignore[assignment]
    assert len(await web._of_sitemaps(HOME)) == 50_000
    assert len(listed) == 1


async def test_a_sitemap_of_another_site_is_not_asked_for(pace: HostPace) -> None:
    web = source(pace, {"robots.txt": b"Sitemap: https://elsewhere.example/a.xml"})
    await web.seeds()
    assert all(url.startswith(HOME) for url in server_of(web).asked)


async def test_a_page_that_says_that_a_list_is_missing_is_no_list(pace: HostPace) -> None:
    web = source(pace, {"llms.txt": b"<html>[a](a.html)"})
    assert (await web.seeds())[0] == [HOME]
    web = source(pace, {"llms.txt": b"[a](a.html)"})
    assert (await web.seeds())[0] == [HOME, f"{HOME}a.html"]


@pytest.mark.parametrize(
    ("etag_known", "status", "body"), [(False, 200, b"Words."), (True, 304, b"")]
)
async def test_a_file_that_has_not_changed_has_status_304_and_no_body(
    tmp_path: Path, etag_known: bool, status: int, body: bytes
) -> None:
    (tmp_path / "a.md").write_bytes(b"Words.")
    base = f"{tmp_path.as_uri()}/"
    folder = FolderSource(tmp_path, base, Scope.of(base), Inline(), SimpleNamespace())  # type: ignore[arg-type]
    first = await folder.fetch(UrlTask(1, 1, f"{base}a.md"))
    etag = first.headers["etag"] if etag_known else "another"
    fetched = await folder.fetch(UrlTask(1, 1, f"{base}a.md", etag=etag))
    assert (fetched.status, fetched.body) == (status, body)


@pytest.mark.parametrize(("size", "is_read"), [(5_000_000, True), (5_000_001, False)])
async def test_a_page_of_a_folder_has_at_most_five_million_bytes(
    tmp_path: Path, size: int, is_read: bool
) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(size)
    base = f"{tmp_path.as_uri()}/"
    folder = FolderSource(tmp_path, base, Scope.of(base), Inline(), SimpleNamespace())  # type: ignore[arg-type]
    task = UrlTask(1, 1, f"{base}a.md")
    if is_read:
        assert len((await folder.fetch(task)).body) == size
    else:
        with pytest.raises(SearchFetchError, match="larger than 5,000,000 bytes"):
            await folder.fetch(task)


async def test_lists_and_rules_are_parsed_within_half_a_minute(pace: HostPace) -> None:
    seconds = []

    class Slow:
        async def run(self, function: Any, *arguments: Any, deadline: Deadline) -> Any:
            seconds.append(deadline.remaining())
            if function.__name__ in ("crawl_delay", "refused_by", "may_read_each"):
                return await Inline().run(function, *arguments, deadline=deadline)
            raise SearchTimeoutError("busy")

    web = source(pace, {"robots.txt": b"User-agent: *\nDisallow: /x\n", "llms.txt": b"[a](a.html)"})
    web.robots.workers = Slow()  # type: ignore[assignment]
    assert (await web.seeds())[0] == [HOME]
    assert len(seconds) > 5
    assert all(20 < each <= 30 for each in seconds)


async def test_the_pages_of_a_full_text_that_have_no_address_are_gone_with_it(
    pace: HostPace,
) -> None:
    web = source(pace, {}, f"{HOME}llms-full.txt")
    with pytest.raises(SearchFetchError) as caught:
        await web.fetch(UrlTask(1, 1, f"{HOME}llms-full.txt!/tides"))
    assert caught.value.details["status"] == 404
    assert server_of(web).asked == []
