"""Lists of links are distinguished from text."""

from websearch_gateway.docs_index.rank.navigation import is_navigation


def test_a_table_of_contents_is_navigation():
    assert is_navigation("\n".join(f"- [Chapter number {n}](https://docs.example/{n}.html)" for n in range(30)))


def test_text_with_links_is_not_navigation():
    text = (
        "The [loop](https://docs.example/loop.html) runs what it is given, and [tasks](https://x.example) wait for it. "
    )
    assert not is_navigation(text * 20)
    assert not is_navigation("")
