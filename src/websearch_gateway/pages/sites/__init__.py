"""Readers of known sites through their APIs: what a source is, and the reader that runs any source.

A source is a class of pure functions; to add one, follow docs/adding-a-reader.md. If an API fails, the plain page is
read instead.
"""
