"""Ranks quotes in languages other than English: shared letters, the weights and gate of each language, Thai clauses.

The numbers in `scores` were fitted on data; change them with `make bench-languages` before and after.
"""
