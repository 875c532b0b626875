"""GitHub: issues, pull requests, discussions, files and READMEs.

https://docs.github.com/rest/issues/issues, https://docs.github.com/rest/issues/comments,
https://docs.github.com/rest/pulls/comments, https://docs.github.com/rest/repos/contents,
https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import quote

from websearch_gateway.base import as_user_text, without_comments
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    json_of,
    of_source,
    quoted,
    section,
    segments,
)

_COMMENTS = 100  # the largest page of the API
_LATER = "({} later comments are left out.)"


@dataclass(frozen=True)
class _GitHub(Source):
    """What the sources of GitHub share. Without a token: 60 requests an hour per IP address."""

    api: str = "https://api.github.com"
    busy: Sequence[int] = (403, 429)
    token: str = field(default="", repr=False)

    def headers(self) -> dict[str, str]:
        """The headers of all requests (https://docs.github.com/rest/using-the-rest-api/getting-started)."""
        headers = {"accept": "application/vnd.github+json", "x-github-api-version": "2022-11-28"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        return headers


class _Post(NamedTuple):
    """What is at `OWNER/REPO/KIND/N`."""

    owner: str
    repo: str
    kind: str
    number: int


def _post(url: str, kinds: Sequence[str]) -> _Post | None:
    """The post of one of these kinds that a URL leads to."""
    path = _path(url)
    if len(path) < 4 or path[0] == "orgs":
        return None
    owner, repo, kind, number = path[:4]
    if kind not in kinds or not re.fullmatch(r"[0-9]{1,9}", number):
        return None
    return _Post(owner, repo, kind, int(number))


def _path(url: str) -> list[str]:
    return segments(url, "github.com", "www.github.com") or []


def _document(
    post: Mapping[str, Any], facts: Sequence[str], blocks: Sequence[str], created: str
) -> Document:
    about = "; ".join(facts) + "."
    text = "\n\n".join(filter(None, [about, *blocks]))
    return Document(f"{post['title']} (#{post['number']})", text, created[:10])


def _prose(markdown: str | None) -> str:
    return as_user_text(without_comments(markdown or "")).strip()


def _by(post: Mapping[str, Any], kind: str) -> str:
    """The login of an author, whose account may be gone."""
    return str((post.get(kind) or {}).get("login", "somebody"))


@dataclass(frozen=True)
class GitHubIssues(_GitHub):
    """`github.com/OWNER/REPO/issues/N` and `/pull/N`."""

    name: str = "github_issues"

    @staticmethod
    def place(url: str) -> _Post | None:
        """An issue or a pull request."""
        return _post(url, ("issues", "pull"))

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The issue (every pull request is one), its comments, and those on the code of a pull request."""
        post = of_source(self.place(url))
        number = post.number
        paths = [f"issues/{number}", f"issues/{number}/comments?per_page={_COMMENTS}"]
        if post.kind == "pull":
            paths.append(f"pulls/{number}/comments?per_page={_COMMENTS}")
        base = f"{self.api}/repos/{quoted(post.owner, post.repo)}"
        return [ApiRequest(f"{base}/{path}", self.headers()) for path in paths]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The text of the issue, then its comments in chronological order."""
        issue, *lists = (json_of(body) for body in bodies)
        comments = [comment for comments in lists for comment in comments]
        comments.sort(key=lambda comment: comment["created_at"])
        blocks = [_prose(issue["body"])]
        for comment in comments:
            place = f" on `{comment['path']}`" if "path" in comment else ""
            title = f"Comment by {_by(comment, 'user')}{place}, {comment['created_at'][:10]}"
            blocks.append(section(title, _prose(comment["body"])))
        if issue["comments"] > _COMMENTS:
            blocks.append(_LATER.format(issue["comments"] - _COMMENTS))
        facts = [
            f"State: {_state(issue)}",
            f"labels: {_labels(issue) or 'none'}",
            f"opened by {_by(issue, 'user')}",
        ]
        return _document(issue, facts, blocks, issue["created_at"])


def _labels(issue: Mapping[str, Any]) -> str:
    """The labels of an issue; the documented schema allows a plain string, and a label without a name."""
    names = []
    for label in issue["labels"]:
        name = label if isinstance(label, str) else label.get("name")
        if name:
            names.append(name)
    return ", ".join(names)


def _state(issue: Mapping[str, Any]) -> str:
    if (issue.get("pull_request") or {}).get("merged_at"):
        return "merged"
    state, reason = str(issue["state"]), issue.get("state_reason")
    return f"{state} ({reason.replace('_', ' ')})" if reason else state


_POST = "id body createdAt author { login }"
_QUERY = f"""query ($owner: String!, $repo: String!, $number: Int!) {{
  repository(owner: $owner, name: $repo) {{ discussion(number: $number) {{
    title number {_POST} category {{ name }} labels(first: 20) {{ nodes {{ name }} }} answer {{ {_POST} }}
    comments(first: 50) {{ totalCount nodes {{ {_POST} upvoteCount replies(first: 20) {{ nodes {{ {_POST} }} }} }} }}
  }} }}
}}"""


@dataclass(frozen=True)
class GitHubDiscussions(_GitHub):
    """`github.com/OWNER/REPO/discussions/N`. The API requires a token."""

    name: str = "github_discussions"

    @staticmethod
    def place(url: str) -> _Post | None:
        """A discussion."""
        return _post(url, ("discussions",))

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """One query for the whole discussion.

        Raises:
            SearchFetchError: no token is set.
        """
        if not self.token:
            raise SearchFetchError("Its API requires a token; set GITHUB_TOKEN.")
        post = of_source(self.place(url))
        variables = {"owner": post.owner, "repo": post.repo, "number": post.number}
        query = {"query": _QUERY, "variables": variables}
        return [ApiRequest(f"{self.api}/graphql", self.headers(), json=query)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The chosen answer comes first and is not repeated among the comments.

        Raises:
            SearchFetchError: the reply contains errors instead, with status 200.
        """
        reply = json_of(bodies[0])
        if reply.get("errors"):
            kind = reply["errors"][0].get("type", "no reason given")
            raise SearchFetchError(f"Its API rejected the request ({kind}).")
        discussion = reply["data"]["repository"]["discussion"]
        answer, comments = discussion["answer"], discussion["comments"]
        blocks = [_prose(discussion["body"])]
        if answer:
            blocks.append(_reply("Chosen answer", answer))
        for comment in comments["nodes"]:
            votes = f" ({comment['upvoteCount']} votes)" if comment["upvoteCount"] else ""
            if not _is_same(comment, answer):
                blocks.append(_reply(f"Comment{votes}", comment))
            blocks += [
                _reply("Reply", nested, level=3)
                for nested in comment["replies"]["nodes"]
                if not _is_same(nested, answer)
            ]
        later = comments["totalCount"] - len(comments["nodes"])
        if later > 0:
            blocks.append(_LATER.format(later))
        labels = ", ".join(label["name"] for label in discussion["labels"]["nodes"])
        facts = [
            f"Category: {discussion['category']['name']}",
            f"labels: {labels or 'none'}",
            f"opened by {_by(discussion, 'author')}",
        ]
        return _document(discussion, facts, blocks, discussion["createdAt"])


def _reply(kind: str, post: Mapping[str, Any], level: int = 2) -> str:
    title = f"{kind} by {_by(post, 'author')}, {post['createdAt'][:10]}"
    return section(title, _prose(post["body"]), level=level)


def _is_same(post: Mapping[str, Any], answer: Mapping[str, Any] | None) -> bool:
    return answer is not None and post["id"] == answer["id"]


_MARKDOWN = re.compile(
    r"(?:.*\.(?:md|markdown|mdx|rst|txt|adoc)|readme|license|copying)", re.IGNORECASE
)
_RAW = "application/vnd.github.raw+json"
# First path segments that are GitHub's own pages.
_RESERVED = re.compile(
    "about|account|apps|blog|codespaces|collections|contact|customer-stories|dashboard|enterprise|events|explore|features"
    "|issues|join|login|logout|marketplace|new|notifications|organizations|orgs|pricing|pulls|readme|search|security"
    "|settings|site|solutions|sponsors|stars|team|topics|trending|users",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class GitHubFiles(_GitHub):
    """`github.com/OWNER/REPO` (its README) and `/blob/REF/PATH`, where REF is a tag, a commit or a one-word branch."""

    name: str = "github_files"

    @staticmethod
    def place(url: str) -> list[str] | None:
        """Owner and repository, and for a file its ref and path."""
        path = _path(url)
        if len(path) < 2 or _RESERVED.fullmatch(path[0]):
            return None
        if len(path) == 2:
            return path
        is_file = len(path) > 4 and path[2] in ("blob", "raw")
        return [*path[:2], *path[3:]] if is_file else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the raw file."""
        owner, repo, *file = of_source(self.place(url))
        path = "readme"
        if file:
            ref, *names = file
            path = f"contents/{quoted(*names)}?ref={quote(ref, safe='')}"
        headers = {**self.headers(), "accept": _RAW}
        return [ApiRequest(f"{self.api}/repos/{quoted(owner, repo)}/{path}", headers)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """Prose as it is, anything else as code.

        Raises:
            SearchFetchError: the file is not text.
        """
        owner, repo, *file = of_source(GitHubFiles.place(url))
        try:
            text = (bodies[0] or b"").decode("utf-8-sig").strip("\r\n")
        except UnicodeDecodeError:
            raise SearchFetchError("The file is not UTF-8 text.") from None
        if "\0" in text:
            raise SearchFetchError("The file is binary.")
        name = file[-1] if file else "README"
        title = "/".join([owner, repo, *file[1:]])
        if not text or _MARKDOWN.fullmatch(name):
            return Document(title, without_comments(text))
        fence = max([*re.findall(r"`{3,}", text), "``"], key=len) + "`"
        return Document(title, f"{fence}{name.rpartition('.')[2]}\n{text}\n{fence}")
