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


def columns(markup: str, title: str = "The title of it all", chosen: str = "") -> tuple[list[str], dict[str, Any]]:
    root = page.parse(markup)
    assert root is not None
    outline = blocks.outline(root)
    measures = Measures(outline, title)
    measures.compare(chosen)
    return [block.text for block in outline.blocks], context_columns(measures)


def test_the_run_of_prose_and_the_element_around_it_are_found() -> None:
    texts, found = columns(PAGE)
    prose = [text.startswith("This paragraph") for text in texts]
    assert (found["core"] == 1).tolist() == prose
    assert found["candidate"][prose].tolist() == [1] * 4
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


def test_the_boxes_and_lines_after_the_text_mark_its_end() -> None:
    author = "<div class='author-box'><p>Someone writes here.</p></div><p>Abonnieren Sie den Newsletter</p><p>Last.</p>"
    texts, found = columns(f"<div class='author-line'>By someone</div><div>{PROSE * 5}</div>{author}")
    box = texts.index("Someone writes here.")
    assert found["end_author"].tolist() == [place - box for place in range(len(texts))]
    assert found["end_words_subscribe"].tolist() == [place - box - 1 for place in range(len(texts))]
    assert set(found["end_share"].tolist()) == {-999}


def test_a_block_knows_how_far_it_is_from_the_prose_in_the_tree() -> None:
    texts, found = columns(f"<div><p>Top.</p></div><div><div><p>Head.</p></div><section>{PROSE * 3}</section></div>")
    assert found["levels_up"].tolist() == [3, 2, 1, 0, 1]
    assert found["levels_down"].tolist() == [2, 2, 1, 0, 1]
    assert len(texts) == 5


def test_a_block_knows_where_the_other_extractor_begins_and_ends() -> None:
    lines = [f"{letter}one {letter}two {letter}three {letter}four {letter}five" for letter in "abcdef"]
    _, found = columns("".join(f"<p>{line}</p>" for line in lines), chosen="\n".join(lines[2:4]))
    assert found["before_found"].tolist() == [2, 1, 0, 0, 0, 0]
    assert found["until_found"].tolist()[:4] == [2, 1, 0, 0]
    assert found["since_found"].tolist()[2:] == [0, 0, 1, 2]
    assert found["found_follows"].tolist() == [1, 1, 0.5, 0, 0, 0]
    assert found["found_in_span"].tolist() == [1] * 6
