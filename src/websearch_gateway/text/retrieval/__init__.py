"""Finds the passages and sentences that answer a query: tokens, BM25, windows, relevance, evidence, duplicates.

Coefficients were fitted on data; change them with `make bench-questions` and `make bench-languages` before and after.
"""
