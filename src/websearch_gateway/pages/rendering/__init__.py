"""The one renderer: it writes an lxml tree of HTML as Markdown (CommonMark with tables), with absolute links.

Readers of formats build such a tree, and everything that is not text of the page is taken out of it; `prepared` gives
what looks like a table, a listing, a formula or a note that form by its element; then `to_markdown` or `with_anchors`
writes it. Each element and property is known in one place:

    vocabulary  which elements are inline, and the attributes that builders of trees may set
    prepare     ARIA tables, ticks, raised text in code, what stands inside of a line
    styles      what styles show: tables, raised and struck text, kept lines, other marks of lists
    listings    listings of highlighters -> `<pre>`
    notes       marks and their notes
    formulas    MathML, KaTeX, MathJax, LaTeXML and pictures of formulas -> `<tex>`
    drawings    what KaTeX has drawn -> MathML
    mathml      builds the elements of a formula
    writer      blocks, lists, inline elements
    numerals    Roman numerals
    scripts     raised and lowered text
    tables      a table's grid; rows of values for formats that are tables alone and too large for a tree
    code        `<pre>` -> a fence
    escapes     what would be markup, and addresses
    anchors     ids -> offsets

Nothing here recurses without a limit, and all is linear in the size of the tree.
"""

from websearch_gateway.pages.rendering.anchors import Anchors
from websearch_gateway.pages.rendering.escapes import absolute, as_paragraph, escaped
from websearch_gateway.pages.rendering.formulas import declare_formulas, write_pictured_formulas
from websearch_gateway.pages.rendering.prepare import prepared
from websearch_gateway.pages.rendering.tables import as_cell, is_data, row_line, rule_line
from websearch_gateway.pages.rendering.vocabulary import INLINE, MARKER, NOTE, TEX, TICK, with_class
from websearch_gateway.pages.rendering.writer import to_markdown, with_anchors

__all__ = [
    "INLINE",
    "MARKER",
    "NOTE",
    "TEX",
    "TICK",
    "Anchors",
    "absolute",
    "as_cell",
    "as_paragraph",
    "declare_formulas",
    "escaped",
    "is_data",
    "prepared",
    "row_line",
    "rule_line",
    "to_markdown",
    "with_anchors",
    "with_class",
    "write_pictured_formulas",
]
