"""The author of a page chooses its text, so every function over page text must take linear time.

`tests.growth` says how that is counted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator

import pytest

from tests.growth import COUNTED, TIMED, Text, too_much, without_collector
from websearch_gateway.answers.extractive import find_evidence
from websearch_gateway.base.carried_data import addresses_with_data, carried_characters
from websearch_gateway.base.hits import one_line
from websearch_gateway.base.markdown import LINK, blocks, lines, plain, without_comments
from websearch_gateway.base.query import matching_form
from websearch_gateway.base.sanitise import (
    clean_markdown,
    reads_like_orders,
    strip_invisible_characters,
    suspicious,
    without_orders,
    wrap_untrusted,
)
from websearch_gateway.base.secrets import credential_kind
from websearch_gateway.base.tokenization import estimate_tokens, tokens
from websearch_gateway.base.urls import (
    canonical,
    find_urls,
    host,
    may_read,
    rules_for,
    strip_trackers,
)
from websearch_gateway.evidence.chunks import chunk, window
from websearch_gateway.evidence.citations import (
    in_code_points,
    repair,
    strip_markers,
    without_trackers,
)
from websearch_gateway.evidence.cited_sentences import snippets
from websearch_gateway.evidence.embedders.local import encode
from websearch_gateway.evidence.offsets import from_utf16
from websearch_gateway.evidence.passages import near_duplicates, score_passages
from websearch_gateway.evidence.quotes import Quotable
from websearch_gateway.evidence.sentences import Document
from websearch_gateway.evidence.verdicts import findings
from websearch_gateway.models import Passage, Span
from websearch_gateway.pages.formats.plain import csv_table, json_text

QUESTION = "How tall is the tower?"
CLAIM = "Anna Berg did not open the tower of 330 metres on 3 May 1962, 5 June 1984 or 1999."


def _counting(size: int) -> str:
    """Runs of ticks that are all of different lengths, so that no code span ever ends."""
    return " ".join("`" * length for length in range(1, math.isqrt(2 * size)))


ALPHABETS: dict[str, Text] = {
    "image marks": "![",
    "brackets": "[",
    "escaped brackets": "\\[",
    "brackets in brackets with escapes": "[\\][a]",
    "link middles": "](",
    "links without an end": "[a](",
    "images without an end": "![a](<",
    "images by name": "![a][b]",
    "images": "![a](//b.example?c) ",
    "links": "[a](http://a.example/?b=c) ",
    "links in links": lambda size: "[" * (size // 5) + "](a)" * (size // 5),
    "images in images": lambda size: "![" * (size // 9) + "](//b?c)" * (size // 9),
    "definitions": "[a]: b\n",
    "titles": '[a](b "',
    "ticks": "`",
    "ticks and letters": "``a`",
    "counting ticks": _counting,
    "stars": "*a",
    "strong": "**a ",
    "underscores": "_",
    "tildes": "~~",
    "comments": "<!--",
    "closed comments": "<!-- a -->",
    "quotes": "> ",
    "quoted lines": "\n> ",
    "pipes": "|",
    "rows": "| a |\n",
    "empty headings": "# \n",
    "headings": "# a\n",
    "underlined headings": "a\n=\n",
    "items": "- a\n",
    "numbered items": "1. ",
    "unclosed fence": lambda size: "```\n" + "a\n" * (size // 2),
    "one fence": "~",
    "fences": "~~~\n",
    "cells": "a,",
    "stops": ". ",
    "abbreviations": "Dr. ",
    "short sentences": "A. B",
    "questions": "? ",
    "digits": "1",
    "dates": "2024-01-01 ",
    "bare addresses": "http://a.b ",
    "schemes": "http://",
    "addresses with brackets": "https://a(",
    "no-break spaces": "\u00a0",
    "blanks": " ",
    "empty lines": "\n",
    "lines": "a\n",
    "joined emoji": "👩\u200d👩\u200d👧",
    "overrides": "\u202e",
    "accents": "e\u0301",
    "only accents": "\u0301",
    "ideographs": "中。",
    "one word": "a",
    "words": "word ",
    "long ligatures": "\ufdfa",
    "deep brackets": "(",
    "deep lists": "[[",
    "tags": "<a",
    "less than": "<",
    "autolinks": "<a:",
    "entities": "&#40;",
    "backslashes": "\\",
    "terminal commands": "\x1b[",
    "colour commands": "\\[0;",
    "orders": "ignore all ",
    "roles": "system: ",
    "modes": "enable dan mode a",
    "citation marks": "\ue200cite\ue202turn0search0",
    "torn citation marks": "citeturn0search0",
    "wide brackets": "【",
    "parameters": "?a&utm_a=b",
    "agents": "user-agent: a\n",
    "rules": "disallow: /*a\n",
    "objects": '{"a":',
    "lists": "[1,",
    "prefixes of keys": "sk-a1 ",
    "keys in pieces": "jina_ a1B ",
    "keys of one letter": "j i n a _ a 1 ",
    "connection strings": "server= ",
    "cookies": "session=",
    "percents": "%25",
    "encoded": "c2stcHJvai",
    "cards": "4111-",
}

# Without functions that one of these calls with the whole text and little other work.
FUNCTIONS: dict[str, Callable[[str], object]] = {
    "markdown.blocks": lambda text: list(blocks(text)),
    "markdown.lines": lambda text: list(lines(text, 0, len(text))),
    "markdown.LINK": LINK.findall,
    "markdown.plain": plain,
    "markdown.without_comments": without_comments,
    "chunk.chunk": chunk,
    "citation.repair": lambda text: repair(
        text, [Span("http://a.b", "word", 5, 9), Span("http://c.d", "", 3, 3)]
    ),
    "citation.without_trackers": lambda text: without_trackers(text, []),
    "citation.in_code_points": lambda text: in_code_points(
        text, [Span("http://a.b", "word", 5, 9)]
    ),
    "citation.snippets": lambda text: snippets(
        text, [(at, at + 4) for at in range(0, len(text), len(text) // 4 + 1)]
    ),
    "citation.strip_markers": lambda text: strip_markers(text, []),
    "citation.from_utf16": from_utf16,
    "quotes.Quotable": Quotable.of,
    "quotes.findings": lambda text: findings([CLAIM], text, "The tower"),
    "safety.strip_invisible_characters": strip_invisible_characters,
    "safety.suspicious": suspicious,
    "safety.reads_like_orders": reads_like_orders,
    "safety.without_orders": without_orders,
    "safety.clean_markdown": lambda text: clean_markdown(text, "https://example.com/"),
    "safety.wrap_untrusted": lambda text: wrap_untrusted(text, "a1" * 10),
    "safety.carried_characters": lambda text: carried_characters(
        f"https://a.example/{text[:8_000]}?b={text[:8_000]}"
    ),
    "safety.addresses_with_data": lambda text: addresses_with_data(
        [text, f"https://a.example/{text}"]
    ),
    "safety.credential_kind": lambda text: credential_kind(text, ("Correct-Horse-7-Battery",)),
    "normalise.matching_form": matching_form,
    "payload.one_line": one_line,
    "retrieval.near_duplicates": lambda text: near_duplicates(
        [text[at : at + 500] for at in range(0, len(text), 500)]
    ),
    "retrieval.find_evidence": lambda text: find_evidence(
        QUESTION, [Document("A", text)], 800, encode, 4
    ),
    "retrieval.score_passages": lambda text: score_passages(
        tokens(QUESTION), [Passage(text, (), "a")]
    ),
    "retrieval.tokens": tokens,
    "retrieval.estimate_tokens": estimate_tokens,
    "retrieval.window": lambda text: window(text, 0, len(text) - 1),
    "robots_txt.may_read": lambda text: may_read(
        text, "https://example.com/aaaaaa", "websearch-gateway"
    ),
    "robots_txt.rules_for": lambda text: rules_for(
        f"User-agent: *\nAllow: {text}", "websearch-gateway"
    ),
    "trackers.strip_trackers": strip_trackers,
    "urls.find_urls": find_urls,
    "urls.canonical": canonical,
    "urls.host": host,
    "plain.json_text": lambda text: json_text(text.encode("utf-8", "replace"), "", "utf-8"),
    "plain.csv_table": lambda text: csv_table(text.encode("utf-8", "replace"), "", "utf-8"),
}
LONGEST = TIMED[-1] if "FUZZ_EXAMPLES" in os.environ else 16_000
"""`make fuzz` times longer texts than `make test`."""
SIZES = {
    # Reads short texts in many ways.
    "safety.credential_kind": ((500, 2_100), (2_100, LONGEST)),
    # Reads four passages; the lines that choose them are counted for `find_evidence`.
    "quotes.findings": ((), (4_200, LONGEST)),
}
"""What is counted and what is timed of functions for which other sizes say more, or the same in less time."""
USUAL = (COUNTED, (4_200, LONGEST))


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    with without_collector():
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_work_on_a_text_grows_with_its_length(name: str) -> None:
    slow = {
        kind: found
        for kind, text in ALPHABETS.items()
        if (found := too_much(FUNCTIONS[name], text, *SIZES.get(name, USUAL)))
    }
    assert not slow


def test_quadratic_work_in_python_is_found_by_its_lines() -> None:
    def quadratic(text: str) -> int:
        return sum(
            text[at] == text[to] for at in range(0, len(text), 20) for to in range(0, len(text), 20)
        )

    assert (too_much(quadratic, "a", counted=(500,), timed=()) or "").startswith("lines")


def test_quadratic_work_of_single_calls_is_found_by_its_time() -> None:
    def quadratic(text: str) -> int:
        return sum(text[at:].count("b") for at in range(0, len(text), 200))

    assert (too_much(quadratic, "a") or "").startswith("time")
