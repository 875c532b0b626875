from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetched, Fetcher
from websearch_gateway.errors import (
    ForbiddenUrlError,
    SearchError,
    SearchFetchError,
    SearchTimeoutError,
)
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pages.formats.html import HtmlReader, is_bot_challenge
from websearch_gateway.pages.formats.kinds import MAX_PAGE_BYTES
from websearch_gateway.pages.needs_scripts import has_little_text
from websearch_gateway.pages.reader_table import ReaderTable
from websearch_gateway.ports import Workers
from websearch_gateway.sandbox import Sandbox


def soon() -> Deadline:
    return Deadline.after(300)


async def test_a_page_is_read_with_its_title_date_and_text(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    url = f"{sandbox.url}/pages/tides-explained"
    page = await reader.read(url, soon())
    assert (page.url, page.final_url, page.content_type) == (url, url, "text/html")
    assert page.title.startswith("Why there are two tides a day")
    assert page.published == "2023-01-17"
    assert "## Spring tides and neap tides" in page.markdown
    assert "3.8 centimetres per year" in page.markdown


async def test_the_final_url_is_the_end_of_the_redirects(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    page = await reader.read(f"{sandbox.url}/pages/special/moved-twice", soon())
    assert page.url == f"{sandbox.url}/pages/special/moved-twice"
    assert page.final_url == f"{sandbox.url}/pages/espresso-at-home"


@pytest.mark.parametrize(
    ("name", "text"),
    [("notes.txt", "Field notes, 12 May.\n\n"), ("tides.json", '```json\n{\n  "station":')],
)
async def test_plain_text_is_unchanged_and_json_becomes_code(
    sandbox: Sandbox, reader: ReaderTable, name: str, text: str
) -> None:
    page = await reader.read(f"{sandbox.url}/pages/special/{name}", soon())
    assert page.markdown.startswith(text)
    assert page.title == ""


async def test_the_error_for_an_image_names_its_type(sandbox: Sandbox, reader: ReaderTable) -> None:
    with pytest.raises(SearchFetchError, match="image/png") as caught:
        await reader.read(f"{sandbox.url}/pages/special/pixel.png", soon())
    assert caught.value.details == {"reason": "type", "content_type": "image/png"}


async def test_a_pdf_without_text_is_an_error(sandbox: Sandbox, reader: ReaderTable) -> None:
    with pytest.raises(SearchFetchError, match="The PDF has no text"):
        await reader.read(f"{sandbox.url}/pages/special/leaflet.pdf", soon())


@pytest.mark.parametrize(
    ("name", "message", "details"),
    [
        ("special/empty", "no readable text", {"reason": "empty"}),
        ("special/not-found", "404", {"status": 404}),
        ("special/forbidden", "403", {"status": 403, "reason": "protected"}),
    ],
)
async def test_the_error_for_an_unreadable_page_has_its_reason(
    sandbox: Sandbox, reader: ReaderTable, name: str, message: str, details: dict[str, object]
) -> None:
    with pytest.raises(SearchFetchError, match=message) as caught:
        await reader.read(f"{sandbox.url}/pages/{name}", soon())
    assert caught.value.details == details


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("status", SearchFetchError),
        ("reset", SearchFetchError),
        ("garbage", SearchFetchError),
        ("bot", SearchFetchError),
        ("gzip_bomb", SearchFetchError),
        ("redirect_loop", SearchFetchError),
        ("wrong_length", SearchFetchError),
        ("redirect_private", ForbiddenUrlError),
        ("hang", SearchTimeoutError),
        ("drip", SearchTimeoutError),
    ],
)
async def test_every_failure_of_a_page_becomes_an_error_of_ours(
    sandbox: Sandbox, reader: ReaderTable, kind: str, error: type[SearchError]
) -> None:
    sandbox.fault("pages/aurora", kind)
    seconds = 0.5 if error is SearchTimeoutError else 60
    with pytest.raises(error):
        await reader.read(f"{sandbox.url}/pages/aurora", Deadline.after(seconds))
    sandbox.clear_faults()
    assert (await reader.read(f"{sandbox.url}/pages/aurora", soon())).markdown


async def test_of_a_page_that_is_too_large_the_beginning_is_read_with_a_warning(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    sandbox.fault("pages/aurora", "huge")
    page = await reader.read(f"{sandbox.url}/pages/aurora", soon())
    assert page.markdown.startswith("and so on, and so on,")
    (warning, *_) = page.warnings
    size = int(re.sub(r"\D", "", warning))
    assert 0.9 * MAX_PAGE_BYTES < size <= MAX_PAGE_BYTES
    assert warning == f"The page is too large: this is the text of its first {size:,} bytes."


async def test_a_charset_that_is_not_an_encoding_is_ignored(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    sandbox.fault("pages/aurora", "odd_charset")
    assert (await reader.read(f"{sandbox.url}/pages/aurora", soon())).markdown.startswith("aaaa")


async def test_pages_read_at_the_same_time_are_not_mixed_up(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    names = [
        "aurora",
        "compost",
        "tides-explained",
        "knots",
        "night-train",
        "roman-concrete",
        "sqlite-wal",
        "ryokucha",
    ]
    pages = await asyncio.gather(
        *(reader.read(f"{sandbox.url}/pages/{name}", soon()) for name in names)
    )
    assert [page.url.rpartition("/")[2] for page in pages] == names
    assert len({page.markdown for page in pages}) == len(names)


async def test_cancelling_a_read_closes_the_connection(
    sandbox: Sandbox, reader: ReaderTable
) -> None:
    sandbox.fault("pages/aurora", "hang")
    task = asyncio.create_task(reader.read(f"{sandbox.url}/pages/aurora", soon()))
    await sandbox.wait_for("pages/aurora", calls=1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await sandbox.wait_for("pages/aurora", cancelled=1)


async def test_a_bot_challenge_is_an_error(api: Any, workers: Workers) -> None:
    body = b"<title>Just a moment...</title><body><p>Verify you are human by completing the action below.</p>"
    api.says("/", body, content_type="text/html")
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        with pytest.raises(SearchFetchError) as caught:
            await ReaderTable.build(fetcher, workers).read(f"{api.url}/", soon())
    assert caught.value.details == {"reason": "robot_page"}


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", ""),
        ("Attention Required! | Cloudflare", "Please enable cookies. Sorry, you have been blocked"),
        ("shop.example", "Verify you are human by completing the action below."),
        (
            "Robot Check",
            "Enter the characters you see below. Sorry, we just need to make sure you're not a robot.",
        ),
        ("", "Our systems have detected unusual traffic from your computer network."),
        ("news.example", "Please enable JavaScript and cookies to continue"),
        (
            "Access to this page has been denied",
            "Press & Hold to confirm you are a human (and not a bot).",
        ),
        ("Making sure you're not a bot!", "Loading... Making sure you’re not a bot!"),
    ],
)
def test_a_bot_challenge_is_recognised(title: str, text: str) -> None:
    assert is_bot_challenge(title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("CAPTCHA", "A captcha asks you to prove that you are human. " * 25),
        ("Tides", "There are two high tides a day."),
        ("Just a moment in history", "The treaty was signed in a hall. " * 20),
        ("How robots walk", "Are robots human? No."),
        ("", ""),
    ],
)
def test_an_ordinary_page_is_not_a_bot_challenge(title: str, text: str) -> None:
    assert not is_bot_challenge(title, text)


async def test_a_page_that_sends_its_readers_on_at_once_is_read_where_they_arrive(
    api: Any, workers: Workers
) -> None:
    moved = '<head><meta http-equiv="refresh" content="0; url={}"></head><p>Moved.</p>'
    api.says("/old", moved.format("newer").encode(), content_type="text/html")
    api.says("/newer", moved.format("/new").encode(), content_type="text/html")
    api.says(
        "/new",
        b"<article><h1>Ferry</h1><p>The ferry crosses the river every hour.</p></article>",
        content_type="text/html",
    )
    api.says("/loop", moved.format("/loop").encode(), content_type="text/html")
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        table = ReaderTable.build(fetcher, workers)
        page = await table.read(f"{api.url}/old", soon())
        assert page.final_url == f"{api.url}/new"
        assert "every hour" in page.markdown
        assert "Moved." in (await table.read(f"{api.url}/loop", soon())).markdown
        assert api.seen.count("/loop") == 1


async def test_a_page_does_not_send_its_readers_to_a_forbidden_address(
    api: Any, workers: Workers
) -> None:
    api.says(
        "/old",
        b'<meta http-equiv="refresh" content="0; url=http://10.0.0.1/">',
        content_type="text/html",
    )
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        with pytest.raises(ForbiddenUrlError):
            await ReaderTable.build(fetcher, workers).read(f"{api.url}/old", soon())


ASKED = "Verify that you are human."


@pytest.mark.parametrize(
    ("title", "text", "is_challenge"),
    [
        ("", ASKED.rjust(1_000), True),
        ("", ASKED.rjust(1_001), False),
        ("Just a moment", "x" * 499, True),
        ("Just a moment", "x" * 500, False),
    ],
)
def test_a_long_text_is_no_bot_challenge(title: str, text: str, is_challenge: bool) -> None:
    assert is_bot_challenge(title, text) is is_challenge


@pytest.mark.parametrize(
    ("markdown", "is_little"),
    [
        ("x" * 499, True),
        ("x" * 500, False),
        ("x" * 499 + "[a](/b)", True),
        ("x" * 499 + "[a](/b)" * 7_000, True),
        ("x" * 499 + "[a](/b)" * 7_100, False),  # more than fifty thousand
    ],
)
def test_a_page_has_little_text_below_five_hundred_characters_outside_of_links(
    markdown: str, is_little: bool
) -> None:
    assert has_little_text(markdown) is is_little


@pytest.mark.parametrize(
    ("title", "words", "letters", "is_challenge"),
    [
        ("", "Verify you are human", 1_000, True),
        ("", "Verify you are human", 1_001, False),
        ("Just a moment...", "", 499, True),
        ("Just a moment...", "", 500, False),
    ],
)
def test_a_page_that_checks_for_robots_is_short(
    title: str, words: str, letters: int, *, is_challenge: bool
) -> None:
    assert is_bot_challenge(title, words.ljust(letters, ".")) is is_challenge


class Fetches:
    """Answers with a page that sends its readers on, again and again."""

    def __init__(self, before: int = 0) -> None:
        self.urls: list[str] = []
        self._before = " " * before

    async def fetch(self, url: str, deadline: Deadline, **_: Any) -> Fetched:
        self.urls.append(url)
        refresh = f'<meta http-equiv="refresh" content="0;url=/{len(self.urls)}">'
        body = f"{self._before}{refresh}<p>Words of the page.</p>".encode()
        return Fetched(url, url, 200, {}, body, "text/html", "utf-8")


@pytest.mark.parametrize(
    ("before", "pages"), [(0, 4), (19_900, 4), (20_000, 1)], ids=["start", "near", "far"]
)
async def test_three_refreshes_in_the_first_20_000_bytes_are_followed(
    workers: Workers, before: int, pages: int
) -> None:
    fetches = Fetches(before)
    await HtmlReader(fetches, workers).read("https://example.com/", soon())
    assert len(fetches.urls) == pages


async def test_a_page_that_has_not_changed_is_the_one_that_is_known(workers: Workers) -> None:
    class Unchanged(Fetches):
        async def fetch(self, url: str, deadline: Deadline, **_: Any) -> Fetched:
            return Fetched(url, url, 304, {}, b"", "", "")

    known = Page("https://example.com/", "https://example.com/", "Tides", "Words")
    reader = HtmlReader(Unchanged(), workers)
    assert await reader.read(known.url, soon(), known) is known
