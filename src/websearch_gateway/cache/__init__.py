"""Answers, web results and pages that may be served again.

Entries live in the state and, briefly, in memory. Values from the state are untrusted: validate them on read.
"""
