"""Turns the DOM of a page into Markdown: cuts it into blocks, chooses those of the main text, and renders them.

Runs in a worker. Keep all code linear in the size of the page, and measure with `make bench-extract`.
"""
