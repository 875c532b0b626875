"""Answers, web results and pages that may be served again, and single flight for identical calls.

Entries live in the state and, briefly, in memory. Values from the state are untrusted: validate them on read.
"""
