"""Stores sites, pages and chunks of documentation.

All data of the index is here; crawl and rank keep none of their own. To read the code, begin with `sql/docs`, which
implements both ports of `docs_index.ports`: each method is one transaction of functions beside it. `sql/frontier` has
the addresses of a crawl, `sql/pages` its pages, `sql/versions` the sites, and `sql/chunks` the searches. `sqlite` and
`postgres` run these transactions, and index text and vectors; `lance` may index the vectors instead.
"""
