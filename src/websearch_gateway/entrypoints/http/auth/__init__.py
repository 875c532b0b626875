"""Identifies HTTP callers: bearer tokens, their keys and their scopes.

A change here needs a forged token that the old code accepts, or a good one that it refuses, in tests/entrypoints/http.
"""
