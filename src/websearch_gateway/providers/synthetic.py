"""synthetic.new: search as part of a subscription. https://dev.synthetic.new/docs/synthetic/search"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from websearch_gateway.models import Capabilities, HttpRequest, SearchQuery
from websearch_gateway.providers.table import Columns, SharedProvider


@dataclass(frozen=True)
class Synthetic(SharedProvider):
    """Takes only a query; returns the text of each page too."""

    key: str = field(repr=False)
    base_url: str = "https://api.synthetic.new"

    name: ClassVar[str] = "synthetic"
    columns: ClassVar[Columns] = Columns(snippet="", date="published", text="text")
    capabilities: ClassVar[Capabilities] = Capabilities()

    def page(self, query: SearchQuery, page: int) -> HttpRequest:
        """POST /v2/search."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest(
            "POST", f"{self.base_url}/v2/search", headers=headers, json={"query": query.text}
        )
