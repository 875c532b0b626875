"""Rewrites other wordings of a question to one: courtesies, passive and active, synonyms in some contexts.

Add one here only with a near-miss in bench/semantic_pairs.jsonl that it must not let through.
"""
