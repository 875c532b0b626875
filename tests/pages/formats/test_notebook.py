"""Notebooks keep their text, their code and what it wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from websearch_gateway.errors import SearchFetchError
from websearch_gateway.pages.formats.notebook import LEFT_OUT, LONGEST_OUTPUT, notebook


def read(*cells: dict[str, Any], **metadata: Any) -> str:
    value = {"cells": cells, "metadata": metadata, "nbformat": 4}
    return notebook(json.dumps(value).encode(), "https://example.com/a", "").markdown


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": outputs}


def test_text_code_and_outputs() -> None:
    cells = (
        {"cell_type": "markdown", "source": ["# Nets\n", "Text ![a knot](attachment:x.png)"]},
        code("x <- 1", {"output_type": "stream", "text": ["[1] 1\n"]}),
        code(
            "",
            {
                "output_type": "display_data",
                "data": {"image/png": "iVBOR", "text/plain": "<Figure>"},
            },
        ),
        code("t", {"data": {"text/html": "<table><tr><th>k</th></tr><tr><td>v</td></tr></table>"}}),
        code("z", {"output_type": "error", "ename": "NameError", "evalue": "\x1b[31mno z\x1b[0m"}),
    )
    assert read(*cells, language_info={"name": "R"}) == (
        "# Nets\nText [Image: a knot]\n\n```r\nx <- 1\n```\n\n```\n[1] 1\n```\n\n[Image: image/png]\n\n"
        "```r\nt\n```\n\n| k |\n| --- |\n| v |\n\n```r\nz\n```\n\n```\nNameError: no z\n```"
    )


def test_code_with_fences_stays_code() -> None:
    assert read(code("'''\n```\n'''")) == "````python\n'''\n```\n'''\n````"


def test_an_endless_output_is_cut() -> None:
    text = read(code("x", {"output_type": "stream", "text": "a\n" * LONGEST_OUTPUT}))
    assert len(text) < LONGEST_OUTPUT + 200
    assert LEFT_OUT in text


@pytest.mark.parametrize("body", [b"{", b"[" * 100_000, b"[]", b"5"])
def test_damaged_notebooks_are_refused(body: bytes) -> None:
    with pytest.raises(SearchFetchError, match="damaged"):
        notebook(body, "https://example.com/a", "")


def test_cells_of_a_wrong_shape_are_left_out() -> None:
    body = b'{"cells": [1, null, {"cell_type": "code", "outputs": 5, "source": 7}], "metadata": 3}'
    assert notebook(body, "https://example.com/a", "").markdown == ""


def test_a_notebook_of_the_third_version_is_read() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Gulls"]},
        {"cell_type": "markdown", "source": "Of **all** kinds."},
        {
            "cell_type": "code",
            "input": ["1 + 1"],
            "outputs": [{"output_type": "pyout", "text": ["2"]}],
        },
        {
            "cell_type": "code",
            "input": "x",
            "outputs": [{"output_type": "display_data", "png": "iVBO"}],
        },
        {
            "cell_type": "code",
            "input": "y",
            "outputs": [{"output_type": "pyout", "html": "<b>bold</b>", "text": "b"}],
        },
    ]
    value = {"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    page = notebook(json.dumps(value).encode(), "", "utf-8")
    assert page.title == "Gulls"
    assert page.markdown.split("\n\n") == [
        "## Gulls",
        "Of **all** kinds.",
        "```python\n1 + 1\n```",
        "```\n2\n```",
        "```python\nx\n```",
        "[Image: image/png]",
        "```python\ny\n```",
        "**bold**",
    ]


@pytest.mark.parametrize(("letters", "is_cut"), [(20_000, False), (20_001, True)])
def test_an_output_has_at_most_20_000_letters(letters: int, *, is_cut: bool) -> None:
    text = read(code("", {"output_type": "stream", "text": "a" * letters}))
    assert (LEFT_OUT in text) == is_cut
    assert text.count("a") - is_cut * LEFT_OUT.count("a") == 20_000


@pytest.mark.parametrize(("letters", "is_read"), [(200_000, True), (200_001, False)])
def test_html_of_more_than_200_000_letters_is_left_out(letters: int, *, is_read: bool) -> None:
    data = {"text/html": "<b>Words</b>".ljust(letters)}
    text = read(code("", {"output_type": "display_data", "data": data}))
    assert text == ("**Words**" if is_read else LEFT_OUT)


@pytest.mark.parametrize(("level", "mark"), [(1, "#"), (6, "######"), (7, "######"), (0, "#")])
def test_a_heading_has_six_levels(level: int, mark: str) -> None:
    assert read({"cell_type": "heading", "level": level, "source": "Tides"}) == f"{mark} Tides"
