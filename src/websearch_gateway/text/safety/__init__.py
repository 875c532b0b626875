"""Makes untrusted text safe to pass on: invisible characters, links, secrets, instructions to a model.

Never remove visible words. Patterns may only warn; only a secret in a query is a reason to refuse it.
"""
