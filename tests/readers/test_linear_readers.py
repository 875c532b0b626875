"""The author of a page chooses its elements and their nesting, so every reader must take linear time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.growth import Text, growth, without_collector
from websearch_gateway.readers.extraction.extract import extract, warm_up
from websearch_gateway.readers.formats.feed import feed
from websearch_gateway.readers.formats.plain import csv_table, json_text

SIZES = (8_000, 32_000)
LARGEST_RATIO = 10.0
"""Trees of many objects miss the processor's caches, so four times as many take up to seven times as long."""

NESTED = ("a", "blockquote", "code", "details", "div", "dt", "h1", "h2", "li", "rp", "table", "x-y")
REPEATED = {
    "paragraphs": "<p>",
    "short paragraphs": "<p>a",
    "headings": "<h2>a</h2>",
    "titles": "<h1>a</h1>",
    "links": "<a href=x>b</a> ",
    "hidden": "<p hidden>a</p>",
    "styled": '<span style="color:red">a</span>',
    "pictures": "<img alt=a src=b>",
    "tables": "<table><tr><td>a<td>b</table>",
    "lists": "<ol><li>a</ol>",
    "code": "<pre>a</pre>",
    "terms": "<dl><dt>a<dd>b</dl>",
    "line breaks": "a<br>",
    "words": "word ",
    "escaped characters": "_ _",
}
FEEDS = {
    "empty entries": "<item/>",
    "entries": "<item><title>a</title><description>&lt;b&gt;c</description></item>",
    "links": "<link/>",
}
JSON: dict[str, Text] = {
    "nested": lambda size: "[" + ",".join("[" * 400 + "]" * 400 for _ in range(size // 800)) + "]",
    "numbers": lambda size: "[" + "1," * (size // 2) + "1]",
    "numbers deep down": lambda size: "[" * 200 + "1," * (size // 2) + "1" + "]" * 200,
}
CELLS = {"rows": "a,b\n", "cells": "a,", "links": "[a](b),c\n"}


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    warm_up()


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    with without_collector():
        yield


def nested(tag: str, filling: str) -> Callable[[int], str]:
    """A page of elements in each other around others, as deep as libxml2 allows."""

    def page(size: int) -> str:
        depth = min(size // 20, 2_000)
        return f"<{tag}>" * depth + filling * (size // len(filling))

    return page


@pytest.mark.parametrize("tag", NESTED)
def test_elements_around_thousands_of_others_take_linear_time(tag: str) -> None:
    fillings = ("<p>a</p>", "<a href=x>b</a>", "<i></i>")
    slow = {filling: ratio for filling in fillings if (ratio := _of_html(nested(tag, filling))) > LARGEST_RATIO}
    assert not slow


@pytest.mark.parametrize("name", REPEATED)
def test_a_page_four_times_as_long_takes_about_four_times_as_long(name: str) -> None:
    assert _of_html(REPEATED[name]) <= LARGEST_RATIO


@pytest.mark.parametrize("name", FEEDS)
def test_a_feed_four_times_as_long_takes_about_four_times_as_long(name: str) -> None:
    ratio = growth(lambda text: feed(b"<rss><channel>" + text.encode(), "", "utf-8"), FEEDS[name], SIZES)
    assert ratio <= LARGEST_RATIO


@pytest.mark.parametrize("name", JSON)
def test_json_four_times_as_long_takes_about_four_times_as_long(name: str) -> None:
    assert growth(lambda text: json_text(text.encode(), "", "utf-8"), JSON[name], SIZES) <= LARGEST_RATIO


@pytest.mark.parametrize("name", CELLS)
def test_a_table_four_times_as_long_takes_about_four_times_as_long(name: str) -> None:
    assert growth(lambda text: csv_table(text.encode(), "", "utf-8"), CELLS[name], SIZES) <= LARGEST_RATIO


def _of_html(text: Text) -> float:
    return growth(
        lambda page: extract(f"<title>t</title><body><article>{page}", "https://a.example/", None), text, SIZES
    )
