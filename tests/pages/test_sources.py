"""One contract for every source: the text from its replies, and the fallback if they are invalid."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import Any

import pytest

from websearch_gateway.base.net.address import AddressPolicy
from websearch_gateway.base.net.fetch import Fetcher
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import Deadline, Page
from websearch_gateway.pages.sites.api import ApiRequest
from websearch_gateway.pages.sites.github import GitHubDiscussions, GitHubFiles, GitHubIssues
from websearch_gateway.pages.sites.threads import StackExchange
from websearch_gateway.pages.sites.wikipedia import Wikipedia


def soon() -> Deadline:
    return Deadline.after(300)


async def test_a_document_is_read_through_the_api(bench: Any, case: Any) -> None:
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


NO_TEXT = (b"", b"\xff\x00 not it")
GARBAGE = (*NO_TEXT, b"{}", b"[1]", b'{"items": [], "children": 1}', b"[" * 9_999)


@pytest.mark.defective
@pytest.mark.parametrize("body", GARBAGE, ids=range(len(GARBAGE)))
async def test_after_an_invalid_reply_the_plain_page_is_read(
    bench: Any, case: Any, body: bytes
) -> None:
    """A file on GitHub may be any text, so only a reply that is not text is invalid."""
    if makes_sense := case.make is GitHubFiles and body not in NO_TEXT:
        expected = ()
    else:
        expected = ("Its own warning.", f"Read from the plain page of {case.source().name}: ")
    for path in case.replies:
        bench.api.says(path, body)
    page = await bench.reader(case).read(case.url, soon())
    assert bench.pages.read_urls == ([] if makes_sense else [case.url])
    assert len(page.warnings) == len(expected)
    assert all(map(str.startswith, page.warnings, expected))


def test_a_source_uses_tls_by_default_and_its_repr_hides_the_token(bench: Any, case: Any) -> None:
    source = case.source()
    requests = source.requests(case.url)
    assert all(request.url.startswith("https://") for request in requests)
    assert bench.token not in repr((source, requests, [request.url for request in requests]))
    assert bench.token.encode() not in pickle.dumps(source.parse)


async def test_a_token_is_sent_only_to_the_api(bench: Any, case: Any) -> None:
    """A redirect to another host is followed without the token; a posted request is not redirected at all."""
    bench.play(case)
    first, name = next(iter(case.replies.items()))
    elsewhere = f"http://localhost:{bench.api.port}/elsewhere"
    bench.api.says(first, b"", status=302, location=elsewhere)
    bench.api.says("/elsewhere", bench.recorded(name))
    async with Fetcher(AddressPolicy([bench.api.pair, f"localhost:{bench.api.port}"])) as fetcher:
        bench.fetcher = fetcher
        page = await bench.reader(case).read(case.url, soon())
    own, *others = bench.api.heads
    assert (f"bearer {bench.token}" in own) == case.make.__name__.startswith("GitHub")
    assert page.title == ("Plain" if bench.api.posted else case.title)
    assert bool(others) != bool(bench.api.posted)
    assert not any("authorization" in other for other in others[:1])


async def test_a_discussion_is_requested_by_its_number_and_only_with_a_token(
    bench: Any, cases: Any
) -> None:
    """GitHub documents that GraphQL requires a token, and reports errors with status 200."""
    case = cases["github_discussions"]
    bench.play(case)
    await bench.reader(case).read(case.url, soon())
    asked = json.loads(bench.api.posted[0])
    assert asked["variables"] == {"owner": "tide", "repo": "watch", "number": 23}
    bench.api.says(
        "/graphql",
        b'{"data": {"repository": null}, "errors": [{"type": "NOT_FOUND", "message": "x"}]}',
    )
    page = await bench.reader(case).read(case.url, soon())
    assert page.warnings[-1].endswith("Its API rejected the request (NOT_FOUND).")
    asked_before = len(bench.api.posted)
    page = await bench.reader_of(GitHubDiscussions(bench.api.url)).read(case.url, soon())
    assert page.warnings[-1].endswith("Its API requires a token; set GITHUB_TOKEN.")
    assert len(bench.api.posted) == asked_before


async def test_if_the_operator_blocks_the_api_the_plain_page_is_read(
    bench: Any, cases: Any
) -> None:
    case = cases["wikipedia"]
    bench.play(case)
    async with Fetcher(AddressPolicy([bench.api.pair], blocked=("127.0.0.1",))) as fetcher:
        bench.fetcher = fetcher
        page = await bench.reader(case).read(case.url, soon())
    assert page.title == "Plain"
    assert "does not allow 127.0.0.1" in page.warnings[-1]


async def test_if_the_api_and_the_page_fail_the_error_is_that_of_the_page(
    bench: Any, cases: Any
) -> None:
    async def fail(url: str, deadline: Deadline) -> Page:
        raise SearchFetchError("The page is gone.")

    bench.pages.read = fail  # type: ignore[method-assign]
    with pytest.raises(SearchFetchError, match="The page is gone"):
        await bench.reader(cases["wikipedia"]).read(cases["wikipedia"].url, soon())


async def test_a_paper_without_html_is_read_from_its_pdf_or_else_only_its_abstract(
    bench: Any, cases: Any
) -> None:
    case = cases["arxiv"]
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


async def test_a_document_with_a_truncated_full_text_is_truncated(bench: Any, cases: Any) -> None:
    async def cut(url: str, deadline: Deadline) -> Page:
        return Page(url, url, "PDF", "Its first pages.", truncated=True)

    bench.play(cases["arxiv"])
    bench.pages.read = cut  # type: ignore[method-assign]
    page = await bench.reader(cases["arxiv"]).read(cases["arxiv"].url, soon())
    assert page.truncated
    assert page.markdown.endswith("## Full text\n\nIts first pages.")


@dataclass(frozen=True)
class TwoPages(Wikipedia):
    """Wants a second reply that need not be there."""

    def requests(self, url: str) -> list[ApiRequest]:
        return [*super().requests(url), ApiRequest(f"{self.api}/missing", may_be_missing=True)]


async def test_a_reply_may_be_missing_if_the_source_allows_it(bench: Any, cases: Any) -> None:
    case = cases["wikipedia"]
    bench.play(case)
    reader = bench.reader_of(TwoPages(api=bench.api.url))
    assert (await reader.read(case.url, soon())).title == case.title
    bench.api.says("/missing", b"", status=500)
    assert (await reader.read(case.url, soon())).title == "Plain"


def test_labels_are_read_in_all_forms_of_github_s_schema() -> None:
    issue = {
        "title": "T",
        "number": 1,
        "state": "open",
        "user": None,
        "body": None,
        "created_at": "2026-01-02T00:00:00Z",
    }
    body = json.dumps(
        {**issue, "comments": 0, "labels": ["bug", {"name": "tide"}, {"name": None}]}
    ).encode()
    document = GitHubIssues.parse("https://github.com/a/b/issues/1", [body, b"[]"])
    assert document.markdown == "State: open; labels: bug, tide; opened by somebody."


def test_an_answer_of_a_deleted_author_is_read() -> None:
    question = {
        "title": "T",
        "score": 1,
        "answer_count": 1,
        "creation_date": 1,
        "body": "<p>Why?</p>",
    }
    answer = {"score": 2, "body": "<p>So.</p>", "owner": None}
    bodies = [json.dumps({"items": [post]}).encode() for post in (question, answer)]
    document = StackExchange.parse("https://stackoverflow.com/q/1", bodies)
    assert document.markdown.endswith("## Answer by somebody (score 2)\n\nSo.")
