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

from websearch_gateway.base import as_user_text, without_comments
from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    json_of,
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
        return {**headers, "authorization": f"Bearer {self.token}"} if self.token else headers


def _post(url: str, kinds: Sequence[str]) -> tuple[str, str, str, int] | None:
    """Owner, repository, kind and number of what is at `OWNER/REPO/KIND/N`."""
    path = _path(url)
    if (
        len(path) < 4
        or path[0] == "orgs"
        or path[2] not in kinds
        or not re.fullmatch(r"[0-9]{1,9}", path[3])
    ):
        return None
    return path[0], path[1], path[2], int(path[3])


def _path(url: str) -> list[str]:
    return segments(url, "github.com", "www.github.com") or []


def _document(
    post: Mapping[str, Any], facts: Sequence[str], blocks: Sequence[str], created: str
) -> Document:
    title = f"{post['title']} (#{post['number']})"
    return Document(
        title, "\n\n".join(filter(None, ["; ".join(facts) + ".", *blocks])), created[:10]
    )


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
    def place(url: str) -> tuple[str, str, str, int] | None:
        """Owner, repository, kind and number of an issue or a pull request."""
        return _post(url, ("issues", "pull"))

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The issue (every pull request is one), its comments, and those on the code of a pull request."""
        owner, repo, kind, number = self.place(url) or ("", "", "", 0)
        paths = [f"issues/{number}", f"issues/{number}/comments?per_page={_COMMENTS}"]
        if kind == "pull":
            paths.append(f"pulls/{number}/comments?per_page={_COMMENTS}")
        return [
            ApiRequest(f"{self.api}/repos/{quoted(owner, repo)}/{path}", self.headers())
            for path in paths
        ]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The text of the issue, then its comments in chronological order."""
        issue, *lists = (json_of(body) for body in bodies)
        # The documented schema allows a plain string for a label, and a label without a name.
        labels = ", ".join(
            filter(
                None, (one if isinstance(one, str) else one.get("name") for one in issue["labels"])
            )
        )
        state, reason = str(issue["state"]), issue.get("state_reason")
        if (issue.get("pull_request") or {}).get("merged_at"):
            state = "merged"
        elif reason:
            state += f" ({reason.replace('_', ' ')})"
        blocks = [_prose(issue["body"])]
        for comment in sorted(
            (comment for found in lists for comment in found), key=lambda one: one["created_at"]
        ):
            place = f" on `{comment['path']}`" if "path" in comment else ""
            title = f"Comment by {_by(comment, 'user')}{place}, {comment['created_at'][:10]}"
            blocks.append(section(title, _prose(comment["body"])))
        if issue["comments"] > _COMMENTS:
            blocks.append(_LATER.format(issue["comments"] - _COMMENTS))
        facts = [
            f"State: {state}",
            f"labels: {labels or 'none'}",
            f"opened by {_by(issue, 'user')}",
        ]
        return _document(issue, facts, blocks, issue["created_at"])


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
    def place(url: str) -> tuple[str, str, str, int] | None:
        """Owner, repository, kind and number of a discussion."""
        return _post(url, ("discussions",))

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """One query for the whole discussion.

        Raises:
            SearchFetchError: no token is set.
        """
        if not self.token:
            raise SearchFetchError("Its API requires a token; set GITHUB_TOKEN.")
        owner, repo, _, number = self.place(url) or ("", "", "", 0)
        query = {"query": _QUERY, "variables": {"owner": owner, "repo": repo, "number": number}}
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
        found = reply["data"]["repository"]["discussion"]
        answer, comments = found["answer"], found["comments"]
        posts = [("Chosen answer", answer, 2)] if answer else []
        for comment in comments["nodes"]:
            votes = f" ({comment['upvoteCount']} votes)" if comment["upvoteCount"] else ""
            posts.append((f"Comment{votes}", comment, 2))
            posts += [("Reply", reply, 3) for reply in comment["replies"]["nodes"]]
        blocks = [_prose(found["body"])]
        for kind, post, level in posts:
            if post is answer or not answer or post["id"] != answer["id"]:
                title = f"{kind} by {_by(post, 'author')}, {post['createdAt'][:10]}"
                blocks.append(section(title, _prose(post["body"]), level=level))
        if (left_out := comments["totalCount"] - len(comments["nodes"])) > 0:
            blocks.append(_LATER.format(left_out))
        labels = ", ".join(label["name"] for label in found["labels"]["nodes"])
        facts = [f"Category: {found['category']['name']}", f"labels: {labels or 'none'}"]
        return _document(
            found, [*facts, f"opened by {_by(found, 'author')}"], blocks, found["createdAt"]
        )


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
        return [*path[:2], *path[3:]] if path[2] in ("blob", "raw") and len(path) > 4 else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the raw file."""
        owner, repo, *inner = self.place(url) or ["", ""]
        path = (
            f"contents/{quoted(*inner[1:])}?ref={quote(inner[0], safe='')}" if inner else "readme"
        )
        headers = {**self.headers(), "accept": _RAW}
        return [ApiRequest(f"{self.api}/repos/{quoted(owner, repo)}/{path}", headers)]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """Prose as it is, anything else as code.

        Raises:
            SearchFetchError: the file is not text.
        """
        owner, repo, *inner = GitHubFiles.place(url) or ["", ""]
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
