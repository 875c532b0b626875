"""Cleans titles, snippets, links and texts from providers and answer engines, which are as untrusted as pages.

Each wrapper has the interface of the object inside it. Both are outside all other layers, so that only clean text is
cached, ranked or shown.
"""
