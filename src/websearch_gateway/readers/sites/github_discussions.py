"""GitHub discussions: the question, the chosen answer, then the comments with their replies.

https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.sites.source import ApiRequest, Document, github_headers, json_of, section, segments
from websearch_gateway.text.markdown import as_user_text, without_comments

_POST = "id body createdAt author { login }"
_QUERY = f"""query ($owner: String!, $repo: String!, $number: Int!) {{
  repository(owner: $owner, name: $repo) {{ discussion(number: $number) {{
    title number {_POST} category {{ name }} labels(first: 20) {{ nodes {{ name }} }} answer {{ {_POST} }}
    comments(first: 50) {{ totalCount nodes {{ {_POST} upvoteCount replies(first: 20) {{ nodes {{ {_POST} }} }} }} }}
  }} }}
}}"""


@dataclass(frozen=True, slots=True)
class GitHubDiscussions:
    """`github.com/OWNER/REPO/discussions/N`. The API requires a token."""

    api: str = "https://api.github.com"
    token: str = field(default="", repr=False)
    name: str = "github_discussions"
    busy: tuple[int, ...] = (403, 429)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is a discussion."""
        return _discussion(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """One query for the whole discussion.

        Raises:
            SearchFetchError: no token is set.
        """
        if not self.token:
            raise SearchFetchError("Its API requires a token; set GITHUB_TOKEN.")
        owner, repo, number = _discussion(url) or ("", "", 0)
        query = {"query": _QUERY, "variables": {"owner": owner, "repo": repo, "number": number}}
        return [ApiRequest(f"{self.api}/graphql", github_headers(self.token), json=query)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The chosen answer comes first and is not repeated among the comments.

        Raises:
            SearchFetchError: the reply contains errors instead, with status 200.
        """
        reply = json_of(bodies[0])
        if reply.get("errors"):
            raise SearchFetchError(
                f"Its API rejected the request ({reply['errors'][0].get('type', 'no reason given')})."
            )
        found = reply["data"]["repository"]["discussion"]
        labels = ", ".join(label["name"] for label in found["labels"]["nodes"])
        answer, comments = found["answer"], found["comments"]
        facts = [f"Category: {found['category']['name']}", f"labels: {labels or 'none'}", f"opened by {_author(found)}"]
        parts = ["; ".join(facts) + ".", as_user_text(without_comments(found["body"]))]
        if answer:
            parts.append(_section("Chosen answer", answer))
        for comment in comments["nodes"]:
            parts += _thread(comment, answer["id"] if answer else None)
        if (left_out := comments["totalCount"] - len(comments["nodes"])) > 0:
            parts.append(f"({left_out} later comments are left out.)")
        title = f"{found['title']} (#{found['number']})"
        return Document(title, "\n\n".join(part.strip() for part in parts if part), found["createdAt"][:10])


def _discussion(url: str) -> tuple[str, str, int] | None:
    path = segments(url, "github.com", "www.github.com") or []
    if len(path) < 4 or path[0] == "orgs" or path[2] != "discussions" or not re.fullmatch(r"[0-9]{1,9}", path[3]):
        return None
    return path[0], path[1], int(path[3])


def _thread(comment: Mapping[str, Any], answer_id: str | None) -> list[str]:
    """A comment with its replies, unless it is the answer."""
    votes = f" ({comment['upvoteCount']} votes)" if comment["upvoteCount"] else ""
    own = [] if comment["id"] == answer_id else [_section(f"Comment{votes}", comment)]
    replies = [reply for reply in comment["replies"]["nodes"] if reply["id"] != answer_id]
    return own + [_section("Reply", reply, level=3) for reply in replies]


def _section(kind: str, post: Mapping[str, Any], level: int = 2) -> str:
    return section(
        f"{kind} by {_author(post)}, {post['createdAt'][:10]}",
        as_user_text(without_comments(post["body"])),
        level=level,
    )


def _author(post: Mapping[str, Any]) -> str:
    return str((post["author"] or {}).get("login", "somebody"))
