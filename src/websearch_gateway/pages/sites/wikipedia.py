"""Wikipedia in every language: the article with its tables, without its boxes, footnotes and edit links.

https://www.mediawiki.org/wiki/API:REST_API/Reference#Get_HTML; rate limits:
https://www.mediawiki.org/wiki/Wikimedia_APIs/Rate_limits
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from websearch_gateway.pages.formats.rendering import parse_html, tree_to_markdown
from websearch_gateway.pages.sites.api import (
    ApiRequest,
    Document,
    Source,
    address,
    of_source,
    quoted,
    segments,
)

ANONYMOUS, WITH_CONTACT = (10, 60.0), (200, 60.0)
"""The pace of user agents without and with a contact address."""
_HOST = re.compile(r"([a-z]{2,12}(?:-[a-z]{2,12}){0,2})(?:\.m)?\.wikipedia\.org")
# Classes of elements that are not text of the article: navigation, references, notices.
_ASIDE = (
    *("navbox", "reference", "reflist", "metadata", "ambox", "hatnote", "noprint", "sistersitebox"),
    *(
        "navigation-not-searchable",
        "mw-editsection",
        "mw-references-wrap",
        "mw-empty-elt",
        "mw-cite-backlink",
    ),
    *("mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"),
)
_DROPPED = " or ".join(
    f"contains(concat(' ', normalize-space(@class), ' '), ' {name} ')" for name in _ASIDE
)


@dataclass(frozen=True)
class Wikipedia(Source):
    """Articles under `LANGUAGE.wikipedia.org`, the mobile site too."""

    api: str = "https://{language}.wikipedia.org"
    name: str = "wikipedia"
    pace: tuple[int, float] | None = ANONYMOUS

    @staticmethod
    def place(url: str) -> tuple[str, str] | None:
        """The language and the title of the article, which the URL names by its path or only by `title=`."""
        parts = address(url)
        host = _HOST.fullmatch(parts.hostname or "") if parts else None
        if parts is None or host is None:
            return None
        path = segments(url, parts.hostname or "") or []
        if path[:1] == ["wiki"] and len(path) > 1 and not parts.query:
            return host[1], "/".join(path[1:])
        query = parse_qs(parts.query)
        if path == ["w", "index.php"] and query.keys() == {"title"}:
            return host[1], query["title"][0]
        return None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The article as HTML."""
        language, title = of_source(self.place(url))
        base = self.api.format(language=language)
        return [
            ApiRequest(f"{base}/w/rest.php/v1/page/{quoted(title)}/html", {"accept": "text/html"})
        ]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """The article as Markdown. The title is that in the page, since the URL may be a redirect."""
        language, title_in_url = of_source(Wikipedia.place(url))
        tree = parse_html((bodies[0] or b"").decode("utf-8", "replace"))
        title = " ".join(tree.xpath("string(.//title)").split())
        for element in tree.xpath(f".//*[{_DROPPED}]"):
            if element.getparent() is not None:
                element.drop_tree()
        markdown = tree_to_markdown(tree, f"https://{language}.wikipedia.org/wiki/")
        if not tree.xpath(".//section | .//p"):
            return Document(title, "")
        return Document(title or title_in_url.replace("_", " "), markdown)
