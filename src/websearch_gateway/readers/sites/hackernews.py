"""A thread of Hacker News. https://hn.algolia.com/api"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from websearch_gateway.readers.formats.rendering import to_markdown
from websearch_gateway.readers.sites.api_reader import ApiRequest, Document, address, json_of, section, segments
from websearch_gateway.text.markdown import as_user_text

_MOST_COMMENTS = 300
_HEADING_LEVELS = 6


@dataclass(frozen=True, slots=True)
class HackerNews:
    """`news.ycombinator.com/item?id=N`, a story or a comment with its replies."""

    api: str = "https://hn.algolia.com"
    name: str = "hackernews"
    busy: tuple[int, ...] = (403, 429, 503)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is an item."""
        return _item(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the item, whose reply contains the whole tree."""
        return [ApiRequest(f"{self.api}/api/v1/items/{_item(url)}")]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The story, then its comments, each under a heading whose level is the depth of the comment."""
        item = json_of(bodies[0])
        points = f"{item['points']} points, " if item.get("points") is not None else ""
        about = f"{points}posted by {_author(item)}."
        comments = [comment for comment, _ in zip(_comments(item, 2), range(_MOST_COMMENTS), strict=False)]
        parts = [about, item.get("url") or "", as_user_text(to_markdown(item.get("text") or "", url)), *comments]
        title = item.get("title") or f"Comment by {_author(item)}"
        return Document(title, "\n\n".join(part for part in parts if part), item["created_at"][:10])


def _item(url: str) -> str | None:
    parts = address(url)
    if parts is None or segments(url, "news.ycombinator.com") != ["item"]:
        return None
    number = parse_qs(parts.query).get("id", [""])[0]
    return number if re.fullmatch(r"[0-9]{1,12}", number) else None


def _author(item: Mapping[str, Any]) -> str:
    return item.get("author") or "somebody"


def _comments(item: Mapping[str, Any], level: int) -> Iterator[str]:
    for child in item["children"]:
        if child.get("text"):
            title = f"Comment by {_author(child)}"
            yield section(title, as_user_text(to_markdown(child["text"])), level=min(level, _HEADING_LEVELS))
        yield from _comments(child, level + 1)
