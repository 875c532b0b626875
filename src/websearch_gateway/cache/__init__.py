"""Answers, web results and pages that may be served again, and single flight for identical calls.

Entries live in the state and, briefly, in memory. Whatever comes from the state is untrusted: validate it on read.
"""
