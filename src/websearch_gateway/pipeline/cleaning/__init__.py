"""Cleans titles, snippets, links and texts from providers and answer engines, which are as untrusted as pages.

Each wrapper has the interface of what it wraps. Both go outside all other layers, so that nothing unclean is cached,
ranked or shown.
"""
