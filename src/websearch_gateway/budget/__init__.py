"""What callers may use: money, reserved before a paid call and booked after it, and calls per window.

Amounts are booked through `ledger.py` alone; wrap a paid searcher or engine in `budgeted.py`.
"""
