"""Each source accepts its own URLs and no look-alikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from websearch_gateway.pages.sites.api import Source
from websearch_gateway.pages.sites.arxiv import ArXiv
from websearch_gateway.pages.sites.github import GitHubDiscussions, GitHubFiles, GitHubIssues
from websearch_gateway.pages.sites.threads import HackerNews, Reddit, StackExchange
from websearch_gateway.pages.sites.wikipedia import Wikipedia

ACCEPTED = {
    Wikipedia: (
        "https://de.m.wikipedia.org/wiki/Caf%C3%A9",
        "http://zh-min-nan.wikipedia.org/wiki/A/B",
        "https://en.wikipedia.org/w/index.php?title=Mill",
    ),
    GitHubIssues: ("https://github.com/a/b/issues/1/", "https://www.github.com/a/b/pull/2/commits"),
    GitHubDiscussions: (
        "https://github.com/a/b/discussions/23",
        "https://www.github.com/a/b/discussions/4/x?sort=top",
    ),
    GitHubFiles: (
        "https://github.com/a/b/",
        "https://github.com/a/.b/blob/v1/README.md",
        "https://github.com/a/b/raw/m/x",
    ),
    StackExchange: (
        "https://www.stackoverflow.com/q/1/2",
        "https://unix.stackexchange.com/questions/5",
        "https://unix.meta.stackexchange.com/questions/5/x",
        "https://pt.stackoverflow.com/questions/5/x",
        "https://mathoverflow.net/q/9",
        "https://askubuntu.com/a/12/34",
    ),
    HackerNews: ("http://news.ycombinator.com/item?id=1&p=2",),
    ArXiv: (
        "https://arxiv.org/abs/2301.00001",
        "https://www.arxiv.org/pdf/hep-th/9901001v3",
        "http://arxiv.org/html/math.GT/0309136",
    ),
    Reddit: (
        "https://reddit.com/r/a_b/",
        "https://www.reddit.com/r/x/comments/1abc",
        "https://m.reddit.com/r/x",
    ),
}
LOOK_ALIKES = {
    GitHubDiscussions: (
        "https://github.com/a/b/discussions",
        "https://github.com/a/b/discussions/categories/q-a",
        "https://github.com/a/b/discussions/1234567890",
        "https://github.com/orgs/a/discussions/5",
        "https://github.com.evil.example/a/b/discussions/1",
    ),
    Wikipedia: (
        "https://en.wikipedia.org.evil.example/wiki/Mill",
        "https://wikipedia.org/wiki/Mill",
        "https://en.wikipedia.org/wiki/",
        "https://en.wikipedia.org/w/index.php?title=Mill&oldid=3",
        "https://en.wikipedia.org/wiki/Mill?action=history",
        "https://en.wikipedia.org/wiki/%2e%2e/x",
    ),
    GitHubIssues: (
        "https://github.com.evil.example/a/b/issues/1",
        "https://github.com@evil.example/a/b/issues/1",
        "https://github.com:8443/a/b/issues/1",
        "https://gist.github.com/a/b/issues/1",
        "https://github.com/a/b/issues",
        "https://github.com/a/b/issues/new",
        "https://github.com/a/b/issues/%D9%A1",
        "https://github.com/../b/issues/1",
    ),
    GitHubFiles: (
        "https://github.com.evil.example/a/b",
        "https://github.com/features/actions",
        "https://github.com/a",
        "https://github.com/a/b/wiki",
        "https://github.com/a/b/blob/main",
        "https://github.com/a/b/blob/main/../../../x",
    ),
    StackExchange: (
        "https://stackoverflow.com.evil.example/questions/1",
        "https://evilstackoverflow.com/questions/1",
        "https://stackexchange.com/questions/1",
        "https://stackoverflow.com/questions/tagged/python",
        "https://stackoverflow.com/users/12",
    ),
    HackerNews: (
        "https://news.ycombinator.com.evil.example/item?id=1",
        "https://news.ycombinator.com/user?id=1",
        "https://news.ycombinator.com/item?id=x",
        "https://news.ycombinator.com/item",
    ),
    ArXiv: (
        "https://arxiv.org.evil.example/abs/2301.00001",
        "https://arxiv.org/list/cs/new",
        "https://arxiv.org/abs/2301.1&id_list=2301.00001",
        "https://arxiv.org/abs/",
    ),
    Reddit: (
        "https://reddit.com.evil.example/r/x",
        "https://www.reddit.com/user/x",
        "https://www.reddit.com/r/x/wiki/index",
        "https://www.reddit.com/r/x%2Fy",
    ),
}
NO_ADDRESSES = (
    "",
    "no url",
    "ftp://github.com/a/b",
    "https://[::1/x",
    "https://github.com:x/a/b",
    "https://me@github.com/a/b",
)


@pytest.mark.parametrize("source", ACCEPTED, ids=lambda source: source.__name__)
def test_a_source_accepts_its_own_urls_and_no_look_alikes(source: Callable[..., Source]) -> None:
    own = source()
    assert [url for url in ACCEPTED[source] if not own.accepts(url)] == []
    assert [url for url in (*LOOK_ALIKES[source], *NO_ADDRESSES) if own.accepts(url)] == []


def test_a_source_accepts_the_url_of_its_document_but_not_on_another_host(case: Any) -> None:
    source, parts = case.source(), urlsplit(case.url)
    domain = ".".join(parts.netloc.split(".")[-2:])
    others = (
        f"{parts.netloc}.evil.example",
        f"evil{domain}",
        f"{parts.netloc}@evil.example",
        "evil.example",
    )
    assert source.accepts(case.url)
    assert not source.accepts(case.url.replace("https:", "ftp:", 1))
    assert [host for host in others if source.accepts(parts._replace(netloc=host).geturl())] == []
    assert not source.accepts(parts._replace(netloc=f"{parts.netloc}:8443").geturl())
