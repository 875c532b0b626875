"""A searchable index of documentation sites: `crawl` fills it, `store` keeps it, `search` finds the sections that answer.

To read the code, begin with `models`, the values and interfaces. `library` is what the pipeline calls, with `searching`,
`reading` and `reports`, which make the replies. `transfer` exports and imports versions, `project` finds the
documentation of a project's dependencies.

Readers, embedders and the fetcher come in through ports, from `app`. A crawl never leaves the site that was named, and
a version is searched only after it is whole.
"""

from typing import TYPE_CHECKING

from websearch_gateway.faces import lazy

if TYPE_CHECKING:
    from websearch_gateway.docs.crawl.runner import CrawlRunner
    from websearch_gateway.docs.library import DocsLibrary
    from websearch_gateway.docs.models import (
        ChunkDraft,
        CrawlOptions,
        CrawlProgress,
        Document,
        SiteVersion,
        Symbol,
    )
    from websearch_gateway.docs.packages import Registries, package_named
    from websearch_gateway.docs.reports import NO_SITE
    from websearch_gateway.docs.store import has_site
    from websearch_gateway.docs.store.database import MOST_SEARCHES, Turn
    from websearch_gateway.docs.store.docs import SqlDocs
    from websearch_gateway.docs.store.lance import LanceVectors
    from websearch_gateway.docs.store.postgres import PostgresDocs
    from websearch_gateway.docs.store.sqlite import SqliteDocs
    from websearch_gateway.docs.transfer import export_site, import_site
else:
    __getattr__, __all__ = lazy(__spec__)
