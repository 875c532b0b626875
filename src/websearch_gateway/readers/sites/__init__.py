"""Readers of known sites through their APIs, one file of pure functions each; `api_reader.py` runs them all.

To add one, follow docs/adding-a-reader.md. If an API fails, the plain page is read instead.
"""
