"""Finds the stored answer to the same question in other words: vectors propose, `meaning/` decides.

Change the rules of equality in `meaning/` only, with a pair in bench/semantic_pairs.jsonl; indexes hold no rules.
"""
