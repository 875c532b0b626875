"""Treats what providers and answer engines send as untrusted, as pages are: their titles, snippets, links and texts.

Each wrapper has the interface of what it wraps. Both belong outside of every other layer, so that nothing unclean is
cached, ranked or shown.
"""
