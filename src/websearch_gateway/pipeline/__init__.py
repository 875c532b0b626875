"""The five stages of a search: guard, rate limit, cache, answer, finalize. Read `search.py` first.

One module per tool and per stage. Adapters arrive as Protocols (`ports.py`); none is imported here.
"""
