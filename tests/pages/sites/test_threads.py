"""Threads of Stack Exchange, Hacker News and Reddit are found by their URLs and read from their APIs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from websearch_gateway.models import Deadline
from websearch_gateway.pages.sites.threads import HackerNews, Reddit, StackExchange


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://stackoverflow.com/questions/17/why", ("stackoverflow", "questions", "17")),
        ("https://www.superuser.com/q/17", ("superuser", "questions", "17")),
        ("https://boats.stackexchange.com/a/17", ("boats.stackexchange.com", "answers", "17")),
        ("https://stackoverflow.com/questions", None),
        ("https://stackoverflow.com/users/17", None),
        ("https://stackoverflow.com/q/1234567890123", None),
        ("https://example.com/q/17", None),
        ("mailto:a@stackoverflow.com", None),
    ],
)
def test_a_post_of_stack_exchange_is_known_by_its_url(url: str, place: tuple[str, ...]) -> None:
    assert StackExchange.place(url) == place


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://news.ycombinator.com/item?id=17", "17"),
        ("https://news.ycombinator.com/item?id=x", None),
        ("https://news.ycombinator.com/item", None),
        ("https://news.ycombinator.com/user?id=17", None),
        ("https://example.com/item?id=17", None),
        ("mailto:a@news.ycombinator.com", None),
    ],
)
def test_an_item_of_hacker_news_is_known_by_its_url(url: str, place: str | None) -> None:
    assert HackerNews.place(url) == place


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://www.reddit.com/r/sailing", "r/sailing"),
        ("https://old.reddit.com/r/sailing/comments/abc/title", "comments/abc"),
        ("https://www.reddit.com/r/sailing/comments", None),
        ("https://www.reddit.com/r/sailing/wiki/abc", None),
        ("https://www.reddit.com/r/a%20b", None),
        ("https://www.reddit.com/u/mara", None),
        ("https://www.reddit.com/r", None),
    ],
)
def test_a_thread_or_subreddit_is_known_by_its_url(url: str, place: str | None) -> None:
    assert Reddit.place(url) == place


@pytest.mark.parametrize("status", [400, 403, 429, 502, 503])
async def test_stack_exchange_is_not_called_again_after_a_busy_status(
    bench: Any, cases: Any, status: int
) -> None:
    case = cases["stackexchange"]
    bench.api.says(next(iter(case.replies)), b"", status=status)
    reader = bench.reader(case)
    for _ in range(2):
        page = await reader.read(case.url, Deadline.after(300))
        assert page.markdown == "The plain page."
    assert len(bench.api.seen) == 1


def test_the_ten_best_answers_to_a_question_are_asked_for() -> None:
    question, answers = StackExchange().requests("https://stackoverflow.com/q/17")
    assert question.url.endswith("/2.3/questions/17?site=stackoverflow&filter=withbody")
    assert answers.url.endswith("&order=desc&sort=votes&pagesize=10")


def test_the_url_of_an_answer_asks_for_that_answer_and_its_question() -> None:
    question, answer = StackExchange().requests("https://stackoverflow.com/a/17")
    assert "/2.3/answers/17/questions?" in question.url
    assert "/2.3/answers/17?" in answer.url


@pytest.mark.parametrize(
    ("told", "seconds"),
    [({}, 0), ({"backoff": 10}, 10), ({"quota_remaining": 0}, 86_400), ({"quota_remaining": 1}, 0)],
)
def test_stack_exchange_says_how_long_to_wait(told: dict[str, int], seconds: float) -> None:
    question = {"title": "Why?", "body": "", "score": 1, "answer_count": 0, "creation_date": 0}
    bodies = [json.dumps({"items": items} | told).encode() for items in ([question], [])]
    found = StackExchange.parse("https://stackoverflow.com/q/17", bodies)
    assert found.pause_seconds == seconds
    assert found.published == "1970-01-01"


def item(*children: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An item of Hacker News with replies to it."""
    return {"created_at": "2024-02-03T00:00:00Z", "children": children, "text": "Words.", **more}


def read(story: dict[str, Any]) -> Any:
    return HackerNews.parse("https://news.ycombinator.com/item?id=1", [json.dumps(story).encode()])


def test_the_first_300_comments_are_read() -> None:
    found = read(item(*[item()] * 301, title="Tides"))
    assert found.markdown.count("## Comment by somebody") == 300
    assert found.warnings == ("Comments after the first 300 were left out.",)
    assert read(item(item())).warnings == ()


def test_replies_to_replies_have_deeper_headings_of_at_most_six_levels() -> None:
    thread = item()
    for _ in range(6):
        thread = item(thread)
    levels = [line.split(" ")[0] for line in read(thread).markdown.splitlines() if "#" in line]
    assert levels == ["##", "###", "####", "#####", "######", "######"]


def test_a_story_says_its_points_if_it_has_some() -> None:
    assert read(item(points=0, author="kit")).markdown.startswith("0 points, posted by kit.")
    assert read(item(author="kit")).markdown.startswith("posted by kit.")
