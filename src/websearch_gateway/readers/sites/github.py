"""GitHub: issues, pull requests, discussions, files and READMEs.

https://docs.github.com/rest/issues/issues, https://docs.github.com/rest/issues/comments,
https://docs.github.com/rest/pulls/comments, https://docs.github.com/rest/repos/contents,
https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.sites.api_reader import (
    ApiRequest,
    Document,
    github_headers,
    json_of,
    quoted,
    section,
    segments,
)
from websearch_gateway.text.markdown import as_user_text, without_comments

_COMMENTS = 100  # the largest page of the API


@dataclass(frozen=True, slots=True)
class GitHubIssues:
    """`github.com/OWNER/REPO/issues/N` and `/pull/N`. Without a token: 60 requests an hour per IP address."""

    api: str = "https://api.github.com"
    token: str = field(default="", repr=False)
    name: str = "github_issues"
    busy: tuple[int, ...] = (403, 429)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is an issue or a pull request."""
        return _issue(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The issue (every pull request is one), its comments, and those on the code of a pull request."""
        owner, repo, kind, number = _issue(url) or ("", "", "", "")
        base, headers = f"{self.api}/repos/{quoted(owner, repo)}", github_headers(self.token)
        paths = [f"issues/{number}", f"issues/{number}/comments?per_page={_COMMENTS}"]
        if kind == "pull":
            paths.append(f"pulls/{number}/comments?per_page={_COMMENTS}")
        return [ApiRequest(f"{base}/{path}", headers) for path in paths]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The text of the issue, then its comments in chronological order."""
        issue, *lists = (json_of(body) for body in bodies)
        labels = ", ".join(filter(None, map(_label, issue["labels"])))
        facts = [f"State: {_state(issue)}", f"labels: {labels or 'none'}", f"opened by {_author(issue)}"]
        comments = sorted((comment for found in lists for comment in found), key=lambda one: one["created_at"])
        parts = ["; ".join(facts) + ".", as_user_text(without_comments(issue["body"] or "")), *map(_comment, comments)]
        if issue["comments"] > _COMMENTS:
            parts.append(f"({issue['comments'] - _COMMENTS} later comments are left out.)")
        title = f"{issue['title']} (#{issue['number']})"
        return Document(title, "\n\n".join(part.strip() for part in parts if part), issue["created_at"][:10])


def _issue(url: str) -> tuple[str, str, str, str] | None:
    path = segments(url, "github.com", "www.github.com") or []
    if len(path) < 4 or path[2] not in ("issues", "pull") or not re.fullmatch(r"[0-9]{1,10}", path[3]):
        return None
    return path[0], path[1], path[2], path[3]


def _state(issue: Mapping[str, Any]) -> str:
    if (issue.get("pull_request") or {}).get("merged_at"):
        return "merged"
    reason = issue.get("state_reason")
    return f"{issue['state']} ({reason.replace('_', ' ')})" if reason else str(issue["state"])


def _label(label: Mapping[str, Any] | str) -> str:
    """The name of a label. The documented schema allows a plain string for an object, and an object without a name."""
    return label if isinstance(label, str) else str(label.get("name") or "")


def _author(post: Mapping[str, Any]) -> str:
    return str((post.get("user") or {}).get("login", "somebody"))


def _comment(comment: Mapping[str, Any]) -> str:
    place = f" on `{comment['path']}`" if "path" in comment else ""
    body = as_user_text(without_comments(comment["body"] or ""))
    return section(f"Comment by {_author(comment)}{place}, {comment['created_at'][:10]}", body)


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
        facts = [
            f"Category: {found['category']['name']}",
            f"labels: {labels or 'none'}",
            f"opened by {_discussion_author(found)}",
        ]
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
        f"{kind} by {_discussion_author(post)}, {post['createdAt'][:10]}",
        as_user_text(without_comments(post["body"])),
        level=level,
    )


def _discussion_author(post: Mapping[str, Any]) -> str:
    return str((post["author"] or {}).get("login", "somebody"))


_MARKDOWN = re.compile(r"(?:.*\.(?:md|markdown|mdx|rst|txt|adoc)|readme|license|copying)", re.IGNORECASE)
_RAW = "application/vnd.github.raw+json"
# First path segments that are GitHub's own pages.
_RESERVED = re.compile(
    "about|account|apps|blog|codespaces|collections|contact|customer-stories|dashboard|enterprise|events|explore|features"
    "|issues|join|login|logout|marketplace|new|notifications|organizations|orgs|pricing|pulls|readme|search|security"
    "|settings|site|solutions|sponsors|stars|team|topics|trending|users",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GitHubFiles:
    """`github.com/OWNER/REPO` (its README) and `/blob/REF/PATH`, where REF is a tag, a commit or a one-word branch."""

    api: str = "https://api.github.com"
    token: str = field(default="", repr=False)
    name: str = "github_files"
    busy: tuple[int, ...] = (403, 429)
    pace: None = None

    def accepts(self, url: str) -> bool:
        """Whether `url` is a repository or a file in one."""
        return _file(url) is not None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the raw file."""
        owner, repo, *inner = _file(url) or ["", ""]
        path = f"contents/{quoted(*inner[1:])}?ref={quote(inner[0], safe='')}" if inner else "readme"
        headers = {**github_headers(self.token), "accept": _RAW}
        return [ApiRequest(f"{self.api}/repos/{quoted(owner, repo)}/{path}", headers)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """Prose as it is, anything else as code.

        Raises:
            SearchFetchError: the file is not text.
        """
        owner, repo, *inner = _file(url) or ["", ""]
        try:
            text = (bodies[0] or b"").decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:
            raise SearchFetchError("The file is not UTF-8 text.") from None
        if "\0" in text:
            raise SearchFetchError("The file is binary.")
        name = inner[-1] if inner else "README"
        title = "/".join([owner, repo, *inner[1:]])
        if not text or _MARKDOWN.fullmatch(name):
            return Document(title, without_comments(text))
        fence = max([*re.findall(r"`{3,}", text), "``"], key=len) + "`"
        return Document(title, f"{fence}{name.rpartition('.')[2]}\n{text}\n{fence}")


def _file(url: str) -> list[str] | None:
    """Owner and repository, and for a file its ref and path."""
    path = segments(url, "github.com", "www.github.com") or []
    if len(path) < 2 or _RESERVED.fullmatch(path[0]):
        return None
    if len(path) == 2:
        return path
    return [*path[:2], *path[3:]] if path[2] in ("blob", "raw") and len(path) > 4 else None
