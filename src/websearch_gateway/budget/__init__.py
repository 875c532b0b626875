"""Limits for callers: money, reserved before a paid call and booked after it, and calls per window.

Only `ledger.py` books amounts; wrap a paid searcher or engine in `budgeted.py`.
"""
