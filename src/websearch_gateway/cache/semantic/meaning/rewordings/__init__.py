"""Other ways to ask the same question, brought to one: courtesies, passive and active, words of some company.

Add one here only with a near-miss in bench/semantic_pairs.jsonl that it must not let through.
"""
