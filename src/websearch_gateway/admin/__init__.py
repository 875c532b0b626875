"""What operators use: reports and the doctor (`operations.py`); care for the cache and the state (`maintenance.py`).

Entrypoints call it through the Gateway. Nothing here runs within a search.
"""
