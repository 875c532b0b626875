"""HTML pages for people: how they are written, the style that they share, and the page for a browser without a token.

Everything that is not made by `pages.html` is escaped text. No page holds a script or loads anything.
"""
