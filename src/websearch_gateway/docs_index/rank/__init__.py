"""Ranks: parses a query, searches in three ways, and returns sections within a token budget.

Pure except for the searches passed in. To read the code, begin with `search`, which is the whole path: `query` parses,
and `excerpt` cuts the texts of pages. Measure the quality of the index
before and after a change.
"""
