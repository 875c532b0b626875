"""The documentation index in SQL."""

from __future__ import annotations

from websearch_gateway.docs_index.store.sql.chunks import Searches
from websearch_gateway.docs_index.store.sql.frontier import Frontier
from websearch_gateway.docs_index.store.sql.pages import Pages
from websearch_gateway.docs_index.store.sql.versions import Versions


class SqlDocs(Versions, Frontier, Pages, Searches):
    """Sites, versions, the frontier of a crawl, pages and searches.

    When a method returns, its changes survive a kill.
    """
