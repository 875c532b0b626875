"""The documentation of Heron, a library that does not exist, in three versions below `/docs/`.

`2.0` is what a well-kept site looks like; `3.0b1` has an llms.txt and Markdown twins; `1.0` is everything that makes
crawling hard: endless addresses, a page that scripts make, one that asks for patience, and redirects out of the site.
"""

from websearch_gateway.sandbox.documentation.routes import ROUTES, sitemap_url

__all__ = ["ROUTES", "sitemap_url"]
