"""Checks whether an answer engine can apply a query's lists of domains, and reports where they were applied."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.errors import NotAsked
from websearch_gateway.models import SearchQuery


def check_domains(query: SearchQuery, most: int, vendor: str) -> None:
    """Raise unless the vendor can apply the lists: its answer could rest on unwanted pages.

    Args:
        most: the longest list that the vendor accepts; 0 if it accepts none.

    Raises:
        NotAsked: `vendor` cannot apply the lists.
    """
    include, exclude = query.include_domains, query.exclude_domains
    if (exclude and (include or not most)) or len(include) > most:
        raise NotAsked(f"{vendor} cannot apply these lists of domains.")


def applied_domains(query: SearchQuery, most: int) -> Literal["upstream", "local"] | None:
    """`upstream` or `local` for lists that `check_domains` accepted: long exclusion lists are applied locally too."""
    if not query.include_domains and not query.exclude_domains:
        return None
    return "upstream" if len(query.exclude_domains) <= most else "local"
