"""Each numeric limit of the house fails closed: what is beyond it is refused, left out, or counts as suspicious."""

from __future__ import annotations

import base64
import time
from datetime import UTC, datetime
from urllib.parse import quote

import pytest

from tests.limits import (
    Limit,
    check_that_a_test_holds_it,
    check_that_it_fails_closed,
    limits_of,
)
from websearch_gateway.base import carried_data, sanitise, secrets, urls
from websearch_gateway.base.dates import spoken_date
from websearch_gateway.base.net import requests
from websearch_gateway.base.net.redirects import refresh_of
from websearch_gateway.base.same_page import target_of
from websearch_gateway.base.workers import pool
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.models import SearchQuery

NOW = datetime(2026, 11, 21, tzinfo=UTC)
URL = "https://a.example/"
SEARCH = "https://www.google.com/search?q=how+tall+is+the+eiffel+tower"
SLUG = f"{URL}how-tall-is-the-eiffel-tower-in-paris"
KEY = "sk-proj-abcDEF1234567890abcDEF1234567890"


def carried(url: str) -> str:
    return f"carries {carried_data.carried_characters(url)}"


def encoded(times: int) -> str:
    text = KEY
    for _ in range(times):
        text = base64.b64encode(text.encode()).decode()
    return text


def wrapped(times: int) -> str:
    url = URL
    for _ in range(times):
        url = f"https://www.google.com/url?q={quote(url, safe='')}"
    return url


def told_by_worker() -> str:
    try:
        pool._result(wrapped, {"fault": "there is a long message"})
    except SearchFetchError as error:
        return error.message
    raise AssertionError


def clean(markdown: str) -> str:
    return sanitise.clean_markdown(markdown, "https://a.example/")[0]


def within_sites() -> str:
    query = SearchQuery(text="tides", include_domains=("a.example", "b.example"))
    return urls.with_sites(query, most_included=urls.MOST_SITES)


def pause() -> str:
    return str(requests.parse_retry_after({"retry-after": "90"}, time.time()))


ROWS = (
    Limit(
        "dates._LONGEST_SPOKEN_DATE",
        3,
        lambda: str(spoken_date("3 days ago", NOW)),
        "2026-11-18",
        "None",
    ),
    Limit(
        "dates._MOST_UNITS",
        2,
        lambda: str(spoken_date("3 days ago", NOW)),
        "2026-11-18",
        "2026-11-19",
    ),
    Limit(
        "net.redirects.LONGEST_REFRESH",
        1,
        lambda: str(refresh_of(URL, {"refresh": "3;url=/b"})),
        f"{URL}b",
        "None",
    ),
    Limit("net.requests.LONGEST_PAUSE_SECONDS", 5.0, pause, "90", "5.0"),
    Limit("same_page.MOST_WRAPPERS", 1, lambda: target_of(wrapped(2)), URL, said="google"),
    Limit("sanitise.MAX_ALT_CHARS", 3, lambda: clean("![a long label](/i.png)"), "a long label"),
    Limit(
        "sanitise.MAX_IMAGE_PATH_CHARS",
        3,
        lambda: clean("![a](https://b.example/image.png)"),
        "https://b.example",
    ),
    Limit("sanitise.MAX_ROUNDS", 1, lambda: clean("[1]: https://b.example/"), "[1] :", "&#91;1] :"),
    Limit(
        "secrets._DEEPEST",
        0,
        lambda: str(secrets.credential_kind(encoded(1))),
        "OpenAI key",
        "encoded several times",
    ),
    Limit("carried_data._LONGEST_ADDRESS", 10, lambda: carried(f"{URL}about"), "carries 0"),
    Limit("carried_data._LONGEST_SEARCH", 5, lambda: carried(SEARCH), "carries 0"),
    Limit("carried_data._LONGEST_SLUG", 10, lambda: carried(SLUG), "carries 0"),
    Limit("carried_data._MOST_SLUG_WORDS", 3, lambda: carried(SLUG), "carries 0"),
    Limit(
        "urls.LONGEST_ENTRY",
        5,
        lambda: str(urls._domain("docs.example.com")),
        "docs.example.com",
        "None",
    ),
    Limit("urls.LONGEST_QUERY", 5, within_sites, "site:"),
    Limit("urls.MOST_WORDS", 2, within_sites, "site:"),
    Limit("urls.MOST_SITES", 1, within_sites, "site:"),
    Limit("workers.pool.MAX_MESSAGE_CHARS", 5, told_by_worker, "a long message"),
)
"""Text beyond `site:` operators is searched without them, and the hits are filtered afterwards."""

HELD_ELSEWHERE = {
    "net.fetch.MAX_REDIRECTS": "base/net/test_fetch.py::test_endless_redirects_end",
    "workers.pool.MAX_JOBS": "base/workers/test_pool.py::test_a_process_is_replaced_after_many_jobs",
}
"""Limits that only a server or a process can spend, with the test that does."""

SERVED = {
    "net.dialling.MAX_ADDRESSES": "each address is checked before it is used; others are not tried",
    "net.outbound.MAX_CONNECTIONS": "further requests wait, until their deadline",
    "net.bodies.MAX_REPLY_BYTES": "`tests/answers/test_http_engine.py` refuses larger replies",
    "net.bodies.MAX_BYTES": "`tests/base/net/test_fetch_hostile_servers.py` refuses larger replies",
    "net.client.MAX_PAGES": "`tests/base/net/test_client_searcher.py` counts the pages of a search",
    "net.fetch.LONGEST_SECONDS": "`tests/base/net/test_fetch.py` waits for no longer",
    "net.fetch.MAX_PIECES": "`tests/base/net/test_fetch_hostile_servers.py` refuses replies in too many pieces",
    "net.redirects.LONGEST_COOKIES": "a longer cookie is not sent",
    "net.redirects.MOST_COOKIES": "further cookies are not kept",
    "net.requests.MAX_ATTEMPTS": "`tests/base/net/test_requests.py` counts the attempts",
    "query.LONGEST_RAW_QUERY": "`tests/pipeline/test_guard.py` refuses longer queries",
    "workers.pool.MAX_REPLY_BYTES": "the reply of a worker is an error",
}

WINDOWS = {
    "memory.LARGEST_SHARE": "a larger entry is not kept; `base/test_memory.py` tries one",
    "hits._LONGEST_WORD": "the beginning of a word that is compared",
    "hits._MOST_LETTERS": "the beginning of a text whose script is judged",
    "net.charsets.MOST_BROKEN": "the share of characters that cannot be decoded",
    "net.charsets._LONGEST_LINE": "the part of a line whose letters are counted",
    "notes._MOST_NAMED": "the domains that a note names, followed by ...",
    "sanitise._LONGEST_NEEDED": "the longest allowed run of invisible characters; others are removed",
    "carried_data.MOST_ADDRESSES": "further addresses are not known as given, so that they count as suspicious",
    "carried_data.MOST_EXAMINED": "further addresses are not known as given, so that they count as suspicious",
    "secrets._LONGEST_DECODED": "longer than any text that a caller may send",
    "carried_data._LONGEST_ID": "a longer number counts as data",
    "secrets._LONGEST_KEY": "the longest key in pieces; it is judged by its beginning",
    "carried_data._LONGEST_NUMBERED": "a longer word counts as data",
    "carried_data._LONGEST_WORD": "a longer word counts as data",
    "carried_data._MOST_DIGITS": "more digits count as data",
    "carried_data._MOST_ESCAPED_LETTERS": "more escaped letters count as data",
    "carried_data._MOST_LABELS": "more labels of a host count as data",
    "carried_data._MOST_NESTED": "a deeper address counts as data",
    "secrets._MOST_PIECES": "the pieces of a key",
    "carried_data._MOST_TOKENS": "a longer list counts as data",
    "tokenization._LONGEST_QUESTION": "the beginning of a text whose language is judged",
}
"""Thresholds and samples: no input is work without end, and what is beyond them counts as suspicious or is cut."""


def test_every_limit_has_a_row_here() -> None:
    lists = [[limit.where for limit in ROWS], HELD_ELSEWHERE, SERVED, WINDOWS]
    known = [where for places in lists for where in places]
    assert sorted(known) == sorted(limits_of("base"))


@pytest.mark.parametrize("limit", ROWS, ids=lambda limit: limit.where)
def test_a_spent_limit_fails_closed(limit: Limit, monkeypatch: pytest.MonkeyPatch) -> None:
    check_that_it_fails_closed(limit, "base", monkeypatch)


@pytest.mark.parametrize("where", HELD_ELSEWHERE)
def test_another_test_holds_the_limit(where: str) -> None:
    check_that_a_test_holds_it(where, HELD_ELSEWHERE[where])
