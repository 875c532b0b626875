"""Ranking: a query is parsed, searched in three ways, fused, grouped by page and cut to a token budget.

Pure except for the searches passed in; measure the index before and after a change. To read it, begin with `search`,
which is the whole path: `query` parses, `fusion` makes one ranking of pages out of three, `versions` and `navigation`
order them, `budget` and `excerpt` cut their texts.
"""
