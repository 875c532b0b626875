"""Extracts the title, date and main text from the HTML of a page; for the crawler also its links and directives.

Pure; runs in a worker process. Keep all code linear in the size of the page, and measure with `make bench-extract`. The
filter chooses the blocks of the main text in the original DOM; the others are blanked in place, and the rest is
rendered. So code, tables, nested lists and links survive, while other extractors simplify them. If the
choice is not clear on a page of prose, for which trafilatura is made, a second filter judges each block by its choice
and by what the first one says of the blocks around it.
"""
