"""Finds the sections that answer a query, best first.

`query` reads the query, `spelling` mends its words. `candidates` are the pages that three searches find. `features` says in
numbers what is known of a page and of its sections, `model` is their product with fitted weights. `ranker` puts the
sections in order; `reply` and `excerpt` show as much of them as fits.
"""
