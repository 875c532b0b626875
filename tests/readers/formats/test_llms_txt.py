"""The Markdown version of a page is found if it is known, and no request is sent if it is not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from websearch_gateway.models import Deadline
from websearch_gateway.net.address import AddressPolicy
from websearch_gateway.net.fetch import Fetched, Fetcher
from websearch_gateway.ports import Workers
from websearch_gateway.readers import ReaderTable
from websearch_gateway.readers.formats.html import KEPT_SECONDS, MOST_LISTED, MarkdownSiblings, is_same_text

SITE = "https://docs.example"
WORDS = "Spring tides follow the full moon and the new moon by about two days nearly everywhere. " * 3
LINK = '<link rel="alternate" type="text/markdown" href="{}">'


def page(url: str, body: str = "", **headers: str) -> Fetched:
    return Fetched(url, url, 200, headers, body.encode(), "text/html", "utf-8")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (LINK.format("/a.md"), "/a.md"),
        (LINK.format("a.html.md?x=1&amp;y=2#z"), "/docs/a.html.md?x=1&y=2"),
        ("<LINK TYPE='text/markdown' HREF=/a.md REL='nofollow alternate'>", "/a.md"),
        ('<link rel="alternate" type="application/rss+xml" href="/feed">' + LINK.format("/a.md"), "/a.md"),
        (LINK.format("https://docs.example/docs/a.html"), None),
        (LINK.format("https://elsewhere.example/a.md"), None),
        (LINK.format("//elsewhere.example/a.md"), None),
        (LINK.format("javascript:alert(1)"), None),
        (LINK.format("http://[::1/"), None),
        (f"<!-- {LINK.format('/a.md')} -->", None),
        ('<link rel="stylesheet" type="text/markdown" href="/a.md">', None),
        ("</head><body>" + LINK.format("/a.md"), None),
        ("<p>text/markdown</p>", None),
        (" " * 70_000 + LINK.format("/a.md"), None),
    ],
)
def test_a_page_may_name_its_markdown_in_its_head(head: str, expected: str | None) -> None:
    found = MarkdownSiblings().of(page(f"{SITE}/docs/a.html", f"<html><head>{head}</head><body>x</body>"))
    assert found == (SITE + expected if expected else None)


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('</a.md>; rel="alternate"; type="text/markdown"', "/a.md"),
        ('</x.css>; rel=preload, <a.md>; type="text/markdown"; rel=alternate', "/docs/a.md"),
        ('<https://elsewhere.example/a.md>; rel="alternate"; type="text/markdown"', None),
        ('</a.md>; rel="alternate"', None),
        ("<" * 5_000, None),
    ],
)
def test_a_page_may_name_its_markdown_in_a_header(link: str, expected: str | None) -> None:
    """RFC 8288."""
    found = MarkdownSiblings().of(page(f"{SITE}/docs/a.html", link=link))
    assert found == (SITE + expected if expected else None)


@pytest.mark.parametrize(
    ("path", "listed", "expected"),
    [
        ("/docs/a.html", "a.html.md", "/docs/a.html.md"),
        ("/docs/a.html", "/docs/a.md", "/docs/a.md"),
        ("/docs/a", "https://docs.example/docs/a.md", "/docs/a.md"),
        ("/docs/", "/docs/index.html.md", "/docs/index.html.md"),
        ("/docs/", "/docs/index.md", "/docs/index.md"),
        ("/docs/a.html#part", "/docs/a.html.md", "/docs/a.html.md"),
        ("/docs/a.html?q=1", "/docs/a.html.md", None),
        ("/docs/b.html", "/docs/a.html.md", None),
        ("/docs/a.html", "https://elsewhere.example/docs/a.html.md", None),
    ],
)
def test_a_list_that_was_read_before_names_the_markdown(path: str, listed: str, expected: str | None) -> None:
    """https://llmstxt.org: the address of the page with .md behind it."""
    siblings = MarkdownSiblings()
    siblings.learn(page(f"{SITE}/docs/llms.txt", f"# Docs\n\n## Guides\n\n- [A]({listed}): about a\n- [B](b.txt)\n"))
    assert siblings.of(page(SITE + path)) == (SITE + expected if expected else None)
    assert siblings.of(page(path.join(["https://elsewhere.example", ""]))) is None


def test_only_an_llms_txt_is_remembered_and_only_for_a_day() -> None:
    moment = [0.0]
    siblings = MarkdownSiblings(lambda: moment[0])
    siblings.learn(page(f"{SITE}/notes.txt", "[A](/a.md)"))
    assert siblings.of(page(f"{SITE}/a")) is None
    siblings.learn(page(f"{SITE}/llms.txt", "[A](/a.md)"))
    siblings.learn(page(f"{SITE}/docs/llms.txt", "[B](/b.md)"))
    assert siblings.of(page(f"{SITE}/a")) == f"{SITE}/a.md"
    assert siblings.of(page(f"{SITE}/b")) == f"{SITE}/b.md"
    moment[0] = KEPT_SECONDS
    assert siblings.of(page(f"{SITE}/a")) is None


def test_the_memory_for_lists_is_limited() -> None:
    siblings = MarkdownSiblings()
    siblings.learn(page(f"{SITE}/llms.txt", "".join(f"[x](/{number}.md)\n" for number in range(50_000))))
    assert sum(siblings.of(page(f"{SITE}/{number}")) is not None for number in range(50_000)) == MOST_LISTED


@pytest.mark.parametrize(
    "piece", ["<!--", "<link ", "<link " + "a" * 1_990 + ">", "<link a" + " " * 1_990 + ">", "](a"]
)
def test_hostile_markup_is_searched_in_linear_time(piece: str) -> None:
    """Ours: the event loop reads it. A quadratic pattern would take minutes here, and the suite's time-out is one."""
    text = "text/markdown" + piece * (60_000 // len(piece))
    for _ in range(50):
        siblings = MarkdownSiblings()
        siblings.learn(page(f"{SITE}/llms.txt", text * 10))
        assert siblings.of(page(f"{SITE}/a", text)) is None


def test_the_same_text_has_most_of_the_words() -> None:
    assert is_same_text("The **moon** pulls.", "# Moon\n\nThe moon pulls, always.")
    assert is_same_text("", "Anything.")
    assert not is_same_text("Spring tides follow moons", "Buy cheap things here today.")


@pytest.fixture
async def table(api: Any, workers: Workers) -> AsyncIterator[ReaderTable]:
    async with Fetcher(AddressPolicy([api.pair])) as fetcher:
        yield ReaderTable.build(fetcher, workers)


def html(head: str = "") -> bytes:
    return (
        f"<html><head><title>Tides</title>{head}</head><body><article><p>{WORDS}</p></article></body></html>".encode()
    )


async def read(api: Any, table: ReaderTable, path: str) -> tuple[str, str]:
    page = await table.read(api.url + path, Deadline.after(20))
    return page.title, page.markdown


async def test_the_markdown_of_a_page_is_read_and_its_title_kept(api: Any, table: ReaderTable) -> None:
    api.says("/a", html(LINK.format("/a.md")), content_type="text/html")
    api.says("/a.md", f"# Other title\n\n{WORDS}\n\n```\ntide --now\n```".encode(), content_type="text/markdown")
    title, markdown = await read(api, table, "/a")
    assert title == "Tides"
    assert "```\ntide --now\n```" in markdown
    assert api.seen == ["/a", "/a.md"]


async def test_the_markdown_in_a_known_list_is_read(api: Any, table: ReaderTable) -> None:
    api.says("/b.html", html(), content_type="text/html")
    api.says("/b.html.md", f"# B\n\n{WORDS} Listed.".encode(), content_type="text/plain")
    assert "Listed" not in (await read(api, table, "/b.html"))[1]
    assert api.seen == ["/b.html"], "an ordinary page costs one request"
    api.says("/llms.txt", b"# Docs\n\n- [B](/b.html.md)", content_type="text/plain")
    await read(api, table, "/llms.txt")
    assert "Listed" in (await read(api, table, "/b.html"))[1]


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"", {"status": 404}),
        (b"<html><body><p>Not found, but with a page.</p></body></html>", {"content_type": "text/html"}),
        (b"# Docs\n\n- [All pages](/llms-full.txt)", {"content_type": "text/markdown"}),
        (b"\x00\x01", {"content_type": "text/markdown"}),
        (b"", {"content_type": "text/markdown"}),
        (b"", {"status": 302, "location": "http://127.0.0.1:1/"}),
    ],
    ids=["missing", "html", "list", "binary", "empty", "forbidden"],
)
async def test_a_page_stays_unchanged_if_the_other_text_is_not_its_markdown(
    api: Any, table: ReaderTable, body: bytes, headers: dict[str, Any]
) -> None:
    api.says("/a", html(LINK.format("/a.md")), content_type="text/html")
    api.says("/a.md", body, **headers)
    assert await read(api, table, "/a") == ("Tides", WORDS.strip())


async def test_waiting_for_the_markdown_ends_after_two_seconds(
    api: Any, table: ReaderTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("websearch_gateway.readers.formats.html.SIBLING_SECONDS", 0.1)
    api.says("/a", html(LINK.format("/a.md")), content_type="text/html")
    api.hangs("/a.md")
    assert await read(api, table, "/a") == ("Tides", WORDS.strip())


async def test_markdown_is_the_preferred_type_of_a_request(api: Any, table: ReaderTable) -> None:
    api.says("/a", html(), content_type="text/html")
    await read(api, table, "/a")
    assert "accept: text/markdown,text/html;q=0.9," in api.heads[0]
