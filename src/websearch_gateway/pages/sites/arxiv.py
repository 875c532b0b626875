"""Papers of arXiv: the abstract, then the full text from its HTML or else its PDF.

https://info.arxiv.org/help/api/user-manual.html; at most one request in three seconds, over one connection
(https://info.arxiv.org/help/api/tou.html).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.sites.api import ApiRequest, Document, Source, section, segments

# The old form contains the archive: hep-th/9901001.
_ID = re.compile(
    r"(?:\d{4}\.\d{4,5}|[a-z]{2,10}(?:-[a-z]{2,4})?(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?", re.ASCII
)


@dataclass(frozen=True)
class ArXiv(Source):
    """`/abs/ID`, `/pdf/ID` and `/html/ID`."""

    api: str = "https://export.arxiv.org"
    name: str = "arxiv"
    pace: tuple[int, float] | None = (1, 3.0)

    @staticmethod
    def place(url: str) -> str | None:
        """The id of a paper."""
        path = segments(url, "arxiv.org", "www.arxiv.org", "export.arxiv.org") or [""]
        paper = "/".join(path[1:]).removesuffix(".pdf")
        return paper if path[0] in ("abs", "pdf", "html") and _ID.fullmatch(paper) else None

    def requests(self, url: str) -> Sequence[ApiRequest]:
        """The request for the paper's catalogue entry."""
        return [ApiRequest(f"{self.api}/api/query?id_list={self.place(url)}")]

    @staticmethod
    def parse(url: str, bodies: Sequence[bytes | None]) -> Document:
        """Authors and abstract. For an unknown paper arXiv sends an entry called Error."""
        from websearch_gateway.pages.formats.feed import parse_feed

        entry = parse_feed(bodies[0] or b"").entries[0]
        if entry.title == "Error":
            raise SearchFetchError("arXiv has no paper with this id.")
        text = "\n\n".join(
            [
                f"{entry.author} ({entry.date})",
                section("Abstract", entry.body.strip()),
                "## Full text",
            ]
        )
        full = [f"https://arxiv.org/{kind}/{ArXiv.place(url)}" for kind in ("html", "pdf")]
        return Document(entry.title, text, entry.date, full)
