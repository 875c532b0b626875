"""Makes foreign text safe to hand on: invisible characters, links, secrets, instructions to a model.

Visible words are never removed. Patterns may warn; only secrets in a query make it a refusal.
"""
