"""The documentation of Heron, a library that does not exist, in three versions below `/docs/`.

`2.0` is a well-kept site; `3.0b1` has an llms.txt and Markdown copies; `1.0` has everything that makes crawling hard:
endless addresses, a page built by scripts, a page that asks clients to wait, and redirects out of the site.
"""

from websearch_gateway.sandbox.documentation.routes import ROUTES, sitemap_url

__all__ = ["ROUTES", "sitemap_url"]
