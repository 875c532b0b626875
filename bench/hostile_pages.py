"""The CPU time per megabyte that expensive pages cost a worker, from the bytes to the cleaned text.

The patterns are the most expensive of some two hundred that were tried for each format.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.table import Row
from websearch_gateway.pages.formats.kinds import CONVERTERS, Kind, warm_up
from websearch_gateway.pages.formats.rendering import cleaned

BYTES = 2_000_000
URL = "https://a.example/"

_PAGES: dict[Kind, dict[str, str | Callable[[int], str]]] = {
    "html": {
        "paragraphs": "<p>",
        "short paragraphs": "<p>a",
        "paragraphs of words": "<p>Some words of text, here.</p>",
        "headings": "<h1>a</h1>",
        "code": "<pre>a</pre>",
        "lists": "<ol><li>a</ol>",
        "tables": "<table><tr><td>a<td>b</table>",
        "tables in tables": "<table><tr><td>a",
        "quotations in quotations": "<blockquote>a",
        "headings in headings": lambda size: (
            "<h2>" * 2_000 + "<a href=x>b</a>" * ((size - 8_000) // 15)
        ),
        "hidden paragraphs": "<p hidden>a</p>",
        "words": "word ",
        "escaped characters": "_ _",
    },
    "text": {
        "brackets": "[",
        "link middles": "](",
        "links in links": lambda size: "[" * (size // 5) + "](a)" * (size // 5),
        "fences": "~~~\n",
        "lines of code": "`a`\n",
        "headings": "# a\n",
        "items": "- a\n",
        "direction marks": "\u202ea",
        "joined emoji": "👩\u200d👩\u200d👧",
        "words": "word ",
    },
    "json": {
        "nested": lambda size: (
            "[" + ",".join("[" * 900 + "]" * 900 for _ in range(size // 1_801)) + "]"
        ),
        "objects": lambda size: "[" + '{"a":1},' * (size // 8) + "1]",
    },
    "csv": {"rows": "a,b\n", "links": "[a](b),c\n"},
    "feed": {
        "empty entries": lambda size: "<rss><channel>" + "<item/>" * (size // 7),
        "entries": lambda size: (
            "<rss><channel>" + "<item><description>&lt;b&gt;a</description></item>" * (size // 50)
        ),
    },
}


def measure() -> list[Row]:
    """One row for each pattern, the most expensive of a format first."""
    warm_up()
    rows = []
    for kind, pages in _PAGES.items():
        costs = {name: _cost(kind, text) for name, text in pages.items()}
        rows += [
            Row(f"{kind}: {name}", f"{1000 * seconds:.0f} ms/MB", "CPU time", "", "< 2000 ms/MB")
            for name, seconds in sorted(costs.items(), key=lambda cost: -cost[1])
        ]
    return rows


def _cost(kind: Kind, text: str | Callable[[int], str]) -> float:
    """CPU seconds for each megabyte."""
    page = text(BYTES) if callable(text) else text * (BYTES // len(text.encode()))
    body = (f"<title>t</title><body><article>{page}" if kind == "html" else page).encode()
    began = time.process_time()
    cleaned(CONVERTERS[kind], URL, body, URL, "utf-8")
    return (time.process_time() - began) / (len(body) / 1e6)
