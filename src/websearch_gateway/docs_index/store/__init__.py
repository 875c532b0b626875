"""Keeps sites, pages and chunks of documentation.

Everything that the index stores goes through here; crawl and rank hold no rows of their own. To read it, begin with
`sql/docs`: it implements both ports, and each of its methods is one transaction of functions beside it. `sqlite` and
`postgres` run these transactions and index text and vectors; `lance` may index the vectors instead.
"""
