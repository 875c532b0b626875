"""Removes invisible content from a parsed page, before anything else reads the page.

It considers the page at load, with its markup and its own style sheets: `docs/extraction.md` lists what it removes and
what it keeps on purpose. `Styles` tells what is declared for an element. One pass in document order, no recursion.
"""
