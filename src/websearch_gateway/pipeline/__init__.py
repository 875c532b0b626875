"""The five stages of a search: guard, cache, rate limit, answer, finalize. Read `search.py` first.

The other modules are stages, or tools with fewer stages. Adapters arrive as Protocols (`ports.py`); none is imported
here.
"""
