"""Backends for the five verbs of `ports.State`, each in one file; only BACKENDS lists them. And a local state that goes
on while its file cannot be used (a full disk, a read-only folder, no home).

To add one, follow docs/adding-a-state-backend.md. Policy (limits, caches, budgets) belongs elsewhere.
"""
