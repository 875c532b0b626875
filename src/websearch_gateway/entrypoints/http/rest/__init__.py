"""REST for every tool: `POST /v1/tools/NAME` and short paths, their OpenAPI document, and a page that shows it.

The tools table is the source of all four, and the table of compatible endpoints of their part of the document; only the
examples of the document are written by hand.
"""
