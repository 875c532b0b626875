"""What answer engines do about a query's lists of domains."""

from __future__ import annotations

from typing import Literal

from websearch_gateway.errors import NotAsked
from websearch_gateway.models import SearchQuery


def check_domains(query: SearchQuery, most: int, vendor: str) -> None:
    """An engine that cannot keep to a list steps aside: its text would rest on pages that nobody wants.

    Args:
        most: how long a list may be that the vendor takes; 0 if it takes none.

    Raises:
        NotAsked: `vendor` cannot keep to the lists.
    """
    include, exclude = query.include_domains, query.exclude_domains
    if (exclude and (include or not most)) or len(include) > most:
        raise NotAsked(f"{vendor} cannot keep to these lists of domains.")


def applied_domains(query: SearchQuery, most: int) -> Literal["upstream", "local"] | None:
    """Where the lists were applied that `check_domains` let pass: the rest of a long list of exclusions is local."""
    if not query.include_domains and not query.exclude_domains:
        return None
    return "upstream" if len(query.exclude_domains) <= most else "local"
