"""A URL or bytes -> `Page`: the readers of sites, formats, HTML and the browser. To add a reader, follow
docs/adding-a-reader.md.

`ReaderTable` is the way in: it reads a URL with the first reader that accepts it, HTML last. `CONVERTERS` turn bytes of
a format into a page; they run in worker processes, since a stranger chooses their input, and raise `SearchFetchError`
with a reason for what is damaged, encrypted or too large. Text that no reader of the page sees is left out; where that
cannot be judged, the text is left out too.

Importing this package loads none of the readers: worker processes import it too, and start twice as fast without an
HTTP stack.
"""

from typing import TYPE_CHECKING

from websearch_gateway.faces import lazy

if TYPE_CHECKING:
    from websearch_gateway.pages.browser import Browser
    from websearch_gateway.pages.extraction.crawled import (
        CrawledPage,
        crawled,
        crawled_html,
        crawled_text,
        followed_html,
    )
    from websearch_gateway.pages.formats.html import Renderer
    from websearch_gateway.pages.formats.kinds import CONVERTERS, HEAVY, kind_of, warm_up
    from websearch_gateway.pages.reader_table import ReaderTable
    from websearch_gateway.pages.robots_fetcher import RobotsFetcher
else:
    __getattr__, __all__ = lazy(__spec__)
