"""Pages whose definitions have no headings of their own: DocBook's reference entries, and Vim's help."""

import re

import pytest

from tests.base.safety.test_linear import ALPHABETS
from tests.growth import too_much
from websearch_gateway.docs.crawl.chunking import drafted
from websearch_gateway.docs.crawl.definitions import headed
from websearch_gateway.docs.crawl.scope import Scope
from websearch_gateway.pages.extraction.crawled import CrawledPage, crawled_html

URL = "https://docs.example.org/manual.html"


def entry(name: str, purpose: str, more: str = "") -> str:
    return (
        f"## Name\n\n{name} — {purpose}\n\n## Description\n\n{purpose} {more}\n\n"
        "## See Also\n\n[tide_high](#tide_high)\n\n"
    )


MANUAL = "".join(
    (
        "# Chapter 1. Heights\n\nAll about heights.\n\n## 1.1. Water\n\n",
        entry("tide_high", "Computes the height at noon.", "It takes a harbour and a day. " * 80),
        entry("tide_low, tide_ebb", "Computes the lowest height."),
        entry("~=", "Tells whether two tides are equal."),
        "## 1.2. Wind\n\nWinds are not tides.\n",
    )
)


@pytest.fixture(scope="module")
def manual():
    places = [found.start() for found in re.finditer("^## Name", MANUAL, re.MULTILINE)]
    anchors = tuple(zip(places, ("tide_high", "tide_low", "tide_same"), strict=True))
    return drafted(Scope.of(URL), (), CrawledPage("Tides Manual", MANUAL, anchors))


def chunk_with(page, text):
    return next(
        chunk
        for chunk in page["chunks"]
        if text in page["markdown"][chunk["start"] : chunk["stop"]]
    )


def test_an_entry_is_headed_by_its_name(manual):
    chunk = chunk_with(manual, "lowest height")
    assert chunk["heading_path"] == ("Chapter 1. Heights", "1.1. Water", "tide_low, tide_ebb")
    assert manual["markdown"].startswith("### tide_low, tide_ebb", chunk["start"])


def test_a_chunk_never_holds_two_entries_and_has_the_anchor_of_its_own(manual):
    chunks = [chunk_with(manual, text) for text in ("lowest height", "two tides are equal")]
    texts = [manual["markdown"][chunk["start"] : chunk["stop"]] for chunk in chunks]
    assert [text.count("\n\n#### See Also") for text in texts] == [1, 1]
    assert [chunk["anchor"] for chunk in chunks] == ["tide_low", "tide_same"]


def test_every_name_of_an_entry_is_a_symbol(manual):
    named = {symbol["name"]: symbol["anchor"] for symbol in manual["symbols"]}
    assert {"tide_high", "tide_low", "tide_ebb", "~="} <= named.keys()
    assert named["tide_ebb"] == "tide_low"


def test_the_parts_of_an_entry_stand_below_it_and_the_next_section_does_not(manual):
    assert "#### Description" in manual["markdown"]
    assert chunk_with(manual, "not tides")["heading_path"][-1] == "1.2. Wind"


HELP = """
    <html><head><title>Tides documentation: tides</title></head><body><h1>Tides documentation: tides</h1><pre>

*<a name="tides.txt"></a><b>tides.txt</b>*	For Tides version 9.  Last change: 2023 Feb 17

Tides					*<a name="tides"></a><b>tides</b>*

What the program knows about water, and how it is told what to show of it.

==============================================================================

1. Setting heights			*<a name="set-height"></a><b>set-height</b>*

A height is set with a number, which is in metres above the lowest water of the year.

			*<a name="'tidestop'"></a><b>'tidestop'</b>* *<a name="'ts'"></a><b>'ts'</b>*
'tidestop' 'ts'		number	(default 8)
	The number of metres that a tide counts for. It is used by all commands of this chapter.

					*<a name="E917"></a><b>E917</b>* *<a name=":tide"></a><b>:tide</b>*
:tide {height}		Show the tide with that height. It is an error to name no height, and nothing is shown then.
</pre></body></html>
"""


@pytest.fixture(scope="module")
def vim_help():
    return drafted(Scope.of(URL), (), crawled_html(HELP.encode(), URL, "utf-8"))


def test_tags_of_help_are_symbols_with_their_anchors(vim_help):
    named = {symbol["name"]: symbol["anchor"] for symbol in vim_help["symbols"]}
    expected = {
        "'tidestop'": "'tidestop'",
        "tidestop": "'tidestop'",
        "E917": "E917",
        ":tide": ":tide",
    }
    assert expected.items() <= named.items()


def test_tagged_lines_of_help_become_headings(vim_help):
    headings = [line for line in vim_help["markdown"].splitlines() if line.startswith("#")]
    assert headings[1:] == [
        "## 1. Setting heights",
        "### `'tidestop'`",
        "### `E917`",
    ]


def test_the_text_of_help_is_kept(vim_help):
    for text in ("For Tides version 9.", "how it is told", "in metres", "(default 8)", "{height}"):
        assert vim_help["markdown"].count(text) == 1


def test_a_page_without_such_marks_is_left_as_it_is():
    markdown = "# Tide\n\n## Name\n\nA name is a word.\n\n```\nx = *pointer* + 1\n```\n"
    assert headed(markdown, [(0, "tide")]).markdown == markdown


def test_work_grows_with_the_length_of_the_text():
    def read(text: str) -> None:
        headed(f"## Name\n\na - b\n\n## Name\n\n{text}", ())
        headed(f"```\n*a* \n{text}", ())

    slow = {kind: found for kind, text in ALPHABETS.items() if (found := too_much(read, text))}
    assert not slow


def test_the_parts_of_the_deepest_entry_have_headings_of_the_sixth_level():
    deep = "###### Name\n\ntide_high — Says it.\n\n###### See Also\n\nMore.\n\n"
    lines = [line for line in headed(deep * 2, ()).markdown.splitlines() if line.startswith("#")]
    assert lines == ["##### tide_high", "###### See Also"] * 2


@pytest.mark.parametrize(("entries", "is_one"), [(1, False), (2, True)])
def test_a_page_has_entries_if_two_headings_are_called_name(entries, is_one):
    text = entry("tide_high", "Says it.") * entries
    assert (headed(text, ()).markdown != text) is is_one


@pytest.mark.parametrize(
    ("name", "heading"),
    [("tide high", "tide high"), ("~=", "`~=`"), ("a`b", "a`b"), ("git-add", "git-add")],
)
def test_a_name_of_signs_is_written_as_code(name, heading):
    lines = headed(entry(name, "Says it.") * 2, ()).markdown.splitlines()
    assert lines[0] == f"## {heading}"
