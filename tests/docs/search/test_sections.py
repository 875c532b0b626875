"""The sections of a chunk, and the words of a query in them."""

import pytest

from websearch_gateway.docs.models import Chunk
from websearch_gateway.docs.search.sections import (
    Section,
    beginnings_of,
    held_words,
    link_share,
    sections_of,
)


def chunk(text: str, ordinal: int = 0) -> Chunk:
    return Chunk(1, "", 1, 1, ordinal, "https://a.example/", "a", "", "A", ("A",), text, 0.0)


def sections(text: str, *terms: str, ordinal: int = 0) -> list[Section]:
    return sections_of(chunk(text, ordinal), beginnings_of(terms), ())


def test_a_section_without_a_word_of_the_query_is_left_out_but_for_the_first():
    text = "Tide.\n\n## Gulls\n\nThey fly.\n\n## Terns\n\nThey dive."
    assert [section.text for section in sections(text, "tern")] == [
        "Tide.\n\n",
        "## Terns\n\nThey dive.",
    ]


def test_words_beyond_what_is_seen_of_a_section_are_not_held():
    for filler, count in ((1_380, 1), (1_420, 0)):
        (section,) = sections(f"## A\n\n{'x' * (filler - 6)} tern", "tern")
        assert len(section.held) == count


def test_only_the_beginning_of_a_long_chunk_is_looked_at():
    for filler, count in ((7_980, 2), (8_020, 1)):
        assert len(sections(f"{'x' * filler}\n\n## Tern", "tern")) == count


def test_a_chunk_without_a_heading_begins_inside_a_section_unless_it_is_the_first():
    assert [sections("Tern.", "tern", ordinal=place)[0].begins_inside for place in (0, 1)] == [
        False,
        True,
    ]
    assert not sections("## Tern", "tern", ordinal=1)[0].begins_inside


def test_a_heading_in_code_begins_no_section():
    assert len(sections("```\n# tern\n```\n\ntern", "tern")) == 1


@pytest.mark.parametrize(
    ("stem", "text", "places"),
    [
        ("queri", "Query the queries.", [0, 10]),
        ("write", "Writing, rewrite", [0]),
        ("索引", "创建索引", [2]),
    ],
)
def test_words_are_found_by_their_stems(stem, text, places):
    held = held_words(text, beginnings_of([stem]))
    assert [(word.offset, word.stem) for word in held] == [(place, stem) for place in places]


def test_the_links_of_a_table_of_contents_are_most_of_its_text():
    contents = "\n".join(f"- [Chapter {n}](https://docs.example/{n}.html)" for n in range(30))
    assert link_share(contents) > 0.9
    text = (
        "The [loop](https://docs.example/loop.html) runs what it is given, and tasks wait for it. "
    )
    assert 0.3 < link_share(text * 20) < 0.5
    assert link_share("") == 0.0
