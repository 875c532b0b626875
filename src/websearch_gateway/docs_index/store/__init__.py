"""Keeps sites, pages and chunks of documentation.

Everything that the index stores goes through here; crawl and rank hold no rows of their own.
"""
