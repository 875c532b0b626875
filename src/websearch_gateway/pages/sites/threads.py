"""Questions and discussions: Stack Exchange, Hacker News and Reddit.

https://api.stackexchange.com/docs/questions-by-ids, https://api.stackexchange.com/docs/answers-on-questions,
https://api.stackexchange.com/docs/questions-by-answer-ids, https://api.stackexchange.com/docs/throttle;
https://hn.algolia.com/api; Reddit's feeds, since it closed its anonymous JSON.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from websearch_gateway.base import as_user_text
from websearch_gateway.pages.formats.rendering import to_markdown
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    address,
    json_of,
    of_source,
    section,
    segments,
)

if TYPE_CHECKING:
    from websearch_gateway.pages.formats.feed import Entry

_OWN_HOSTS = {
    *("stackoverflow.com", "serverfault.com", "superuser.com"),
    *("askubuntu.com", "mathoverflow.net", "stackapps.com"),
}
_NETWORK = re.compile(r"(?:[a-z0-9-]{2,30}\.){1,2}stackexchange\.com|[a-z]{2}\.stackoverflow\.com")
_KINDS = {"questions": "questions", "q": "questions", "a": "answers"}
_ANSWERS = 10
_DAY_SECONDS = 86_400.0


class _Post(NamedTuple):
    """A question or an answer: the site and the kind of post, in the API's names, and its id."""

    site: str
    kind: str
    number: str


@dataclass(frozen=True)
class StackExchange(Source):
    """`/questions/ID`, `/q/ID` and `/a/ID` of every site. Without a key: 300 requests a day per IP address."""

    api: str = "https://api.stackexchange.com"
    name: str = "stackexchange"
    busy: Sequence[int] = (400, 403, 429, 502, 503)
    """Stack Exchange reports throttling with status 400."""

    @staticmethod
    def place(url: str) -> _Post | None:
        """The post that a URL leads to."""
        parts = address(url)
        if parts is None or parts.hostname is None:
            return None
        site = _site(parts.hostname.removeprefix("www."))
        path = segments(url, parts.hostname) or []
        if site is None or len(path) < 2:
            return None
        kind, number = _KINDS.get(path[0]), path[1]
        if kind is None or not re.fullmatch(r"[0-9]{1,12}", number):
            return None
        return _Post(site, kind, number)

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The requests for the question and its answers; for the URL of an answer, only for that answer."""
        post = of_source(self.place(url))
        base = f"{self.api}/2.3/{post.kind}/{post.number}"
        parameters = f"site={post.site}&filter=withbody"
        if post.kind == "answers":
            question, answers = f"{base}/questions?{parameters}", f"{base}?{parameters}"
        else:
            best = f"order=desc&sort=votes&pagesize={_ANSWERS}"
            question, answers = f"{base}?{parameters}", f"{base}/answers?{parameters}&{best}"
        return [ApiRequest(question), ApiRequest(answers)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The question with its scores, then up to ten answers, the accepted one first."""
        questions, replies = (json_of(body) for body in bodies)
        question = questions["items"][0]
        answers = sorted(replies["items"], key=_is_accepted, reverse=True)
        tags = ", ".join(question.get("tags", ())) or "none"
        about = f"Score {question['score']}, {question['answer_count']} answers. Tags: {tags}."
        parts = [about, as_user_text(to_markdown(question["body"], url))]
        parts += [_answer(answer, url) for answer in answers]
        created = datetime.fromtimestamp(question["creation_date"], UTC)
        return Document(
            html.unescape(question["title"]),
            "\n\n".join(parts),
            created.date().isoformat(),
            pause_seconds=max(_pause(questions), _pause(replies)),
        )


def _site(host: str) -> str | None:
    """The API's name of a site; None of any other host."""
    if host in _OWN_HOSTS:
        return host.removesuffix(".com")
    return host if _NETWORK.fullmatch(host) else None


def _is_accepted(answer: Mapping[str, Any]) -> bool:
    return bool(answer.get("is_accepted"))


def _answer(answer: Mapping[str, Any], url: str) -> str:
    """An answer under a heading with its author and score."""
    kind = "Accepted answer" if _is_accepted(answer) else "Answer"
    owner = answer.get("owner") or {}
    author = html.unescape(owner.get("display_name", "somebody"))
    body = as_user_text(to_markdown(answer["body"], url))
    return section(f"{kind} by {author} (score {answer['score']})", body)


def _pause(reply: Mapping[str, Any]) -> float:
    """The seconds for which the API must not be called."""
    # The quota resets at midnight UTC, so after a day at most.
    until_reset = _DAY_SECONDS if reply.get("quota_remaining") == 0 else 0.0
    return max(float(reply.get("backoff", 0)), until_reset)


_MOST_COMMENTS = 300
MORE = "Comments after the first {:,} were left out."
_HEADING_LEVELS = 6


@dataclass(frozen=True)
class HackerNews(Source):
    """`news.ycombinator.com/item?id=N`, a story or a comment with its replies."""

    api: str = "https://hn.algolia.com"
    name: str = "hackernews"

    @staticmethod
    def place(url: str) -> str | None:
        """The number of an item."""
        parts = address(url)
        if parts is None or segments(url, "news.ycombinator.com") != ["item"]:
            return None
        number = parse_qs(parts.query).get("id", [""])[0]
        return number if re.fullmatch(r"[0-9]{1,12}", number) else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the item, whose reply contains the whole tree."""
        return [ApiRequest(f"{self.api}/api/v1/items/{self.place(url)}")]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The story, then its comments, each under a heading whose level is the depth of the comment."""
        item = json_of(bodies[0])
        about = f"posted by {_author(item)}."
        if item.get("points") is not None:
            about = f"{item['points']} points, {about}"
        words = as_user_text(to_markdown(item.get("text") or "", url))
        comments = list(islice(_comments(item, 2), _MOST_COMMENTS + 1))
        is_cut = len(comments) > _MOST_COMMENTS
        parts = [about, item.get("url"), words, *comments[:_MOST_COMMENTS]]
        return Document(
            item.get("title") or f"Comment by {_author(item)}",
            "\n\n".join(filter(None, parts)),
            item["created_at"][:10],
            warnings=(MORE.format(_MOST_COMMENTS),) if is_cut else (),
        )


def _author(item: Mapping[str, Any]) -> str:
    return item.get("author") or "somebody"


def _comments(item: Mapping[str, Any], level: int) -> Iterator[str]:
    """The replies to an item, each followed by its own; the first ones have this level."""
    for reply in item["children"]:
        if reply.get("text"):
            words = as_user_text(to_markdown(reply["text"]))
            yield section(f"Comment by {_author(reply)}", words, level=min(level, _HEADING_LEVELS))
        yield from _comments(reply, level + 1)


_REDDIT = ("reddit.com", "www.reddit.com", "old.reddit.com", "new.reddit.com", "m.reddit.com")
_NAME = re.compile(r"\w{1,30}", re.ASCII)


@dataclass(frozen=True)
class Reddit(Source):
    """`/r/SUB` and `/r/SUB/comments/ID`. Reddit often blocks shared IP addresses."""

    api: str = "https://www.reddit.com"
    name: str = "reddit"

    @staticmethod
    def place(url: str) -> str | None:
        """The path of the feed of a thread or a subreddit."""
        path = segments(url, *_REDDIT) or []
        is_in_subreddit = len(path) > 1 and path[0] == "r"
        if not is_in_subreddit or not all(map(_NAME.fullmatch, path[1:4])):
            return None
        if len(path) == 2:
            return f"r/{path[1]}"
        is_thread = len(path) > 3 and path[2] == "comments"
        return f"comments/{path[3]}" if is_thread else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The feed of the thread or of the subreddit."""
        feed = f"{self.api}/{self.place(url)}/.rss"
        return [ApiRequest(feed, {"accept": "application/atom+xml"})]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """A thread as its post and comments, a subreddit as its posts."""
        from websearch_gateway.pages.formats.feed import parse_feed

        feed = parse_feed(bodies[0] or b"")
        if not of_source(Reddit.place(url)).startswith("comments/"):
            posts = [_entry(post.title, post) for post in feed.entries]
            return Document(feed.title, "\n\n".join(posts))
        post, *comments = feed.entries
        parts = [f"Posted by {post.author}.", as_user_text(to_markdown(post.body, url))]
        parts += [_entry(f"Comment by {comment.author}", comment) for comment in comments]
        return Document(post.title, "\n\n".join(parts), post.date or None)


def _entry(title: str, entry: Entry) -> str:
    """A post or a comment of a feed under a heading, with its address."""
    words = as_user_text(to_markdown(entry.body, entry.link))
    return section(title, entry.link, words)
