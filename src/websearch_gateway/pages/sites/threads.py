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
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from websearch_gateway.base import as_user_text
from websearch_gateway.pages.formats.rendering import to_markdown
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    address,
    json_of,
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


@dataclass(frozen=True)
class StackExchange(Source):
    """`/questions/ID`, `/q/ID` and `/a/ID` of every site. Without a key: 300 requests a day per IP address."""

    api: str = "https://api.stackexchange.com"
    name: str = "stackexchange"
    busy: Sequence[int] = (400, 403, 429, 502, 503)
    """Stack Exchange reports throttling with status 400."""

    @staticmethod
    def place(url: str) -> tuple[str, str, str] | None:
        """The site and the kind of post, in the API's names, and the id of the post."""
        parts = address(url)
        host = (parts.hostname or "").removeprefix("www.") if parts else ""
        if parts is None or not (host in _OWN_HOSTS or _NETWORK.fullmatch(host)):
            return None
        path = segments(url, parts.hostname or "") or []
        kind = _KINDS.get(path[0]) if len(path) > 1 else None
        if kind is None or not re.fullmatch(r"[0-9]{1,12}", path[1]):
            return None
        return host.removesuffix(".com") if host in _OWN_HOSTS else host, kind, path[1]

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The requests for the question and its answers; for the URL of an answer, only for that answer."""
        site, kind, number = self.place(url) or ("", "", "")
        base, parameters = f"{self.api}/2.3/{kind}/{number}", f"site={site}&filter=withbody"
        if kind == "answers":
            return [
                ApiRequest(f"{base}/questions?{parameters}"),
                ApiRequest(f"{base}?{parameters}"),
            ]
        best = f"order=desc&sort=votes&pagesize={_ANSWERS}"
        return [
            ApiRequest(f"{base}?{parameters}"),
            ApiRequest(f"{base}/answers?{parameters}&{best}"),
        ]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The question with its scores, then up to ten answers, the accepted one first."""
        questions, replies = (json_of(body) for body in bodies)
        question = questions["items"][0]
        answers = sorted(replies["items"], key=lambda answer: not answer.get("is_accepted", False))
        tags = ", ".join(question.get("tags", ()))
        parts = [
            f"Score {question['score']}, {question['answer_count']} answers. Tags: {tags or 'none'}."
        ]
        parts.append(as_user_text(to_markdown(question["body"], url)))
        for answer in answers:
            accepted = "Accepted answer" if answer.get("is_accepted") else "Answer"
            author = html.unescape((answer.get("owner") or {}).get("display_name", "somebody"))
            body = as_user_text(to_markdown(answer["body"], url))
            parts.append(section(f"{accepted} by {author} (score {answer['score']})", body))
        return Document(
            html.unescape(question["title"]),
            "\n\n".join(parts),
            datetime.fromtimestamp(question["creation_date"], UTC).date().isoformat(),
            pause_seconds=max(_pause(questions), _pause(replies)),
        )


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
        points = f"{item['points']} points, " if item.get("points") is not None else ""
        about = f"{points}posted by {_author(item)}."
        comments = list(islice(_comments(item, 2), _MOST_COMMENTS + 1))
        cut = (MORE.format(_MOST_COMMENTS),) if len(comments) > _MOST_COMMENTS else ()
        parts = [
            about,
            item.get("url") or "",
            as_user_text(to_markdown(item.get("text") or "", url)),
            *comments[:_MOST_COMMENTS],
        ]
        title = item.get("title") or f"Comment by {_author(item)}"
        text = "\n\n".join(filter(None, parts))
        return Document(title, text, item["created_at"][:10], warnings=cut)


def _author(item: Mapping[str, Any]) -> str:
    return item.get("author") or "somebody"


def _comments(item: Mapping[str, Any], level: int) -> Iterator[str]:
    for child in item["children"]:
        if child.get("text"):
            title = f"Comment by {_author(child)}"
            yield section(
                title, as_user_text(to_markdown(child["text"])), level=min(level, _HEADING_LEVELS)
            )
        yield from _comments(child, level + 1)


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
        if len(path) < 2 or path[0] != "r" or not all(map(_NAME.fullmatch, path[1:4])):
            return None
        if len(path) > 3 and path[2] == "comments":
            return f"comments/{path[3]}"
        return f"r/{path[1]}" if len(path) == 2 else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The feed of the thread or of the subreddit."""
        return [
            ApiRequest(f"{self.api}/{self.place(url)}/.rss", {"accept": "application/atom+xml"})
        ]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """A thread as its post and comments, a subreddit as its posts."""
        from websearch_gateway.pages.formats.feed import parse_feed

        found = parse_feed(bodies[0] or b"")
        if not (Reddit.place(url) or "").startswith("comments/"):
            return Document(
                found.title, "\n\n".join(_entry(entry.title, entry) for entry in found.entries)
            )
        post, *comments = found.entries
        texts = [f"Posted by {post.author}.", as_user_text(to_markdown(post.body, url))]
        texts += [_entry(f"Comment by {comment.author}", comment) for comment in comments]
        return Document(post.title, "\n\n".join(texts), post.date or None)


def _entry(title: str, entry: Entry) -> str:
    return section(title, entry.link, as_user_text(to_markdown(entry.body, entry.link)))
