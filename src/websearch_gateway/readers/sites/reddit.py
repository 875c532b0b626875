"""Reddit through its feeds, which still work without an account (https://www.reddit.com/wiki/rss)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.readers.formats.feed import Entry, parse_feed
from websearch_gateway.readers.formats.rendering import to_markdown
from websearch_gateway.readers.sites.api_reader import ApiRequest, Document, section, segments
from websearch_gateway.text.markdown import as_user_text

_HOSTS = ("reddit.com", "www.reddit.com", "old.reddit.com", "new.reddit.com", "m.reddit.com")
_NAME = re.compile(r"\w{1,30}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Reddit:
    """`/r/SUB` and `/r/SUB/comments/ID`. Reddit often blocks shared IP addresses."""

    api: str = "https://www.reddit.com"
    name: str = "reddit"
    busy: tuple[int, ...] = (403, 429, 503)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is a thread or a subreddit."""
        return _feed(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The feed of the thread or of the subreddit."""
        return [ApiRequest(f"{self.api}/{_feed(url)}/.rss", {"accept": "application/atom+xml"})]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """A thread as its post and comments, a subreddit as its posts."""
        found = parse_feed(bodies[0] or b"")
        if not (_feed(url) or "").startswith("comments/"):
            return Document(found.title, "\n\n".join(_entry(entry.title, entry) for entry in found.entries))
        post, *comments = found.entries
        texts = [f"Posted by {post.author}.", as_user_text(to_markdown(post.body, url))]
        texts += [_entry(f"Comment by {comment.author}", comment) for comment in comments]
        return Document(post.title, "\n\n".join(texts), post.date or None)


def _feed(url: str) -> str | None:
    """The path of the feed for `url`."""
    path = segments(url, *_HOSTS) or []
    if len(path) < 2 or path[0] != "r" or not all(map(_NAME.fullmatch, path[1:4])):
        return None
    if len(path) > 3 and path[2] == "comments":
        return f"comments/{path[3]}"
    return f"r/{path[1]}" if len(path) == 2 else None


def _entry(title: str, entry: Entry) -> str:
    return section(title, entry.link, as_user_text(to_markdown(entry.body, entry.link)))
