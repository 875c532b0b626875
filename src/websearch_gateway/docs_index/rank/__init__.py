"""Ranking: a query is parsed, searched in three ways, fused, grouped by page and cut to a token budget.

Pure except for the searches passed in; measure the index before and after a change.
"""
