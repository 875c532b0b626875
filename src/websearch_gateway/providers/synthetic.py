"""synthetic.new: search as part of a subscription. https://dev.synthetic.new/docs/synthetic/search"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from websearch_gateway.models import Capabilities, Hit, HttpRequest, SearchQuery
from websearch_gateway.ports import Provider
from websearch_gateway.text.hits import json_object, linked, make_hit, opening, records
from websearch_gateway.text.numbers import iso_date


@dataclass(frozen=True, slots=True)
class Synthetic(Provider):
    """Takes only a query; returns the text of each page too."""

    key: str = field(repr=False)
    base_url: str = "https://api.synthetic.new"

    name: ClassVar[str] = "synthetic"
    key_setting: ClassVar[str | None] = "SYNTHETIC_API_KEY"
    capabilities: ClassVar[Capabilities] = Capabilities()

    def request(self, query: SearchQuery) -> HttpRequest:
        """POST /v2/search."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return HttpRequest("POST", f"{self.base_url}/v2/search", headers=headers, json={"query": query.text})

    def parse(self, body: bytes) -> list[Hit]:
        """`results`; the beginning of the page's text serves as the snippet."""
        hits = (self._hit(row) for row in records(json_object(body, self.name), "results", self.name))
        return linked(hits, self.name)

    def _hit(self, row: Mapping[str, object]) -> Hit | None:
        text, published = row.get("text"), iso_date(row.get("published"))
        return make_hit(self.name, row.get("url"), row.get("title"), opening(text), published=published, content=text)
