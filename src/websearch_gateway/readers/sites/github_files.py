"""Files and READMEs on GitHub. https://docs.github.com/rest/repos/contents"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.readers.sites.source import ApiRequest, Document, github_headers, quoted, segments
from websearch_gateway.text.markdown import without_comments

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
