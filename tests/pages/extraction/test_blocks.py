from __future__ import annotations

from websearch_gateway.pages.extraction import blocks, page

PAGE = """<body><nav><a href=/a>Home</a> <a href=/b>Shop</a></nav><main><h1>Head</h1><p>Some <b>bold</b> text here.</p>
<pre>code()</pre><p>More text after it.</p><table><tr><th>K<th>V<tr><td>a<td>b</table></main>
<footer>All rights</footer>"""


def outline_of(html: str) -> blocks.Outline:
    root = page.parse(html)
    assert root is not None
    page.strip_unread(root)
    return blocks.outline(root)


def test_blocks_are_runs_of_text_in_document_order() -> None:
    texts = [block.text.strip() for block in outline_of(PAGE).blocks]
    assert texts == [
        "Home Shop",
        "Head",
        "Some bold text here.",
        "code()",
        "More text after it.",
        *"KVab",
        "All rights",
    ]


def test_the_blocks_below_an_element_are_one_range() -> None:
    outline = outline_of(PAGE)
    for container in outline.containers:
        below = {n for n, b in enumerate(outline.blocks) if container.element in _above(outline, b)}
        assert below == set(range(container.start, container.end))


def _above(outline: blocks.Outline, block: blocks.Block) -> list[object]:
    element = outline.containers[block.place].element
    return [element, *element.iterancestors()]
