"""Ranking: a query is parsed, searched in three ways, fused, grouped by page and cut to a token budget.

Pure but for the searches that it is given; change it with the figures of the index before and after.
"""
