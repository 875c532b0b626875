"""From the DOM of a page to Markdown: cut it into blocks, choose those of the main text, render what is left.

Runs in a worker. Keep all code linear in the size of the page, and measure with `make bench-extract`.
"""
