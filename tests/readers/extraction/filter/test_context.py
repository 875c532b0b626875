"""The features of a block from the rest of its page."""

from typing import Any

from websearch_gateway.readers.extraction import blocks, page
from websearch_gateway.readers.extraction.filter.context import context_columns
from websearch_gateway.readers.extraction.filter.measures import Measures

PROSE = "<p>This paragraph has many words, and it ends in a full stop as prose does.</p>"
TEASERS = "".join(f"<li><h3><a href='/{n}'>Another headline of the day</a></h3></li>" for n in range(4))
PAGE = (
    f"<div><a href='/'>Home</a></div><article><h1>The title of it all</h1>{PROSE * 4}</article>"
    f"<aside><h2>Related stories</h2><ul>{TEASERS}</ul></aside><div class='comments'><p>I liked it.</p></div>"
)


def columns(markup: str, title: str = "The title of it all") -> tuple[list[str], dict[str, Any]]:
    root = page.parse(markup)
    assert root is not None
    outline = blocks.outline(root)
    measures = Measures(outline, title)
    measures.compare("")
    return [block.text for block in outline.blocks], context_columns(measures)


def test_the_run_of_prose_and_the_element_around_it_are_found() -> None:
    texts, found = columns(PAGE)
    prose = [text.startswith("This paragraph") for text in texts]
    assert (found["core"] == 1).tolist() == prose
    assert (found["candidate_child"] == 1).tolist() == prose
    assert found["core_distance"][0] < 0 < found["core_distance"][-1]


def test_blocks_under_a_related_heading_and_linked_headings_are_marked() -> None:
    texts, found = columns(PAGE)
    teasers = [text.startswith("Another") for text in texts]
    assert (found["in_related"] == 1).tolist() == [
        teaser or text == "Related stories" for teaser, text in zip(teasers, texts, strict=True)
    ]
    assert {(teaser, lines > 0) for teaser, lines in zip(teasers, found["up1_linked_lines"], strict=True)} >= {
        (True, True),
        (False, False),
    }
    assert found["up1_linked_headings"][teasers].tolist() == [1] * 4


def test_blocks_have_their_distances_from_the_title_and_the_first_comment() -> None:
    texts, found = columns(PAGE)
    assert found["since_title"].tolist() == [place - 1 for place in range(len(texts))]
    assert found["since_comments"].tolist() == [place - len(texts) + 1 for place in range(len(texts))]


def test_a_page_without_prose_or_headings_also_has_all_columns() -> None:
    texts, found = columns("<ul><li><a href='/'>Home</a></li></ul>", "")
    assert {len(values) for values in found.values()} == {len(texts)}
