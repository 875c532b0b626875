"""HTML pages for people: the HTML writer, the shared style, and the page for a browser without a token.

`pages.html` escapes everything that it did not make. No page holds a script or loads anything.
"""
