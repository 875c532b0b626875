"""Makes untrusted text safe to pass on: invisible characters, links, secrets, instructions to a model.

Never remove visible words. Patterns only warn, with one exception: a query that contains a secret is refused.
"""
