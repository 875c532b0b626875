"""GitHub issues and pull requests with their state, labels and comments.

https://docs.github.com/rest/issues/issues, https://docs.github.com/rest/issues/comments,
https://docs.github.com/rest/pulls/comments
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from websearch_gateway.readers.sites.source import (
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
