"""The quality and speed of `extract` on labelled pages: `python -m bench.extract FOLDER`.

The folder holds pairs of ID.html and ID.json; the JSON has `url`, `kind` and `gold`, the plain text that a person
would keep, or `with` and `without`, lists of texts that the Markdown must and must not hold. The measure for `gold` is
word-level: precision, recall and F1 over the multisets of lower-cased words of the gold and of the Markdown, links
reduced to their labels. Every figure is the mean over pages, so a long page counts no more than a short one. Time is
CPU time of this one process. trafilatura's Markdown of the same pages is judged and timed beside ours. The line
`equal` is the mean over kinds.

Structure is counted for pages of the kind `documentation`: what an HTML parser finds inside the page's main element
(`<main>`, `<article>`, `role=main`, else the body), and how much of it the Markdown has.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.formats.kinds import warm_up

STRUCTURE = ("code", "rows", "headings", "items", "links")
_WORD = re.compile(r"\w+")
_FENCE_LINE = re.compile(r"^[\s>*-]*(?:```|~~~).*$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TARGET = re.compile(r"\]\((?:<[^>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)")
_IN_MARKDOWN = {
    "code": re.compile(r"^[ >]*(?:```|~~~)[^\n]*\n", re.MULTILINE),
    "rows": re.compile(r"^[ >]*\|(?![ |:-]+$)[^\n]*\|[ ]*$", re.MULTILINE),
    "headings": re.compile(r"^[ >*-]*#{1,6} ", re.MULTILINE),
    "items": re.compile(r"^[ >]*(?:[-*+]|\d+[.)]) ", re.MULTILINE),
    "links": re.compile(r"\]\("),
}
_IN_HTML = {
    "code": ".//pre",
    "rows": ".//tr[td or th][not(ancestor::table[2])]",
    "headings": ".//*[self::h1 or self::h2 or self::h3 or self::h4 or self::h5 or self::h6]",
    "items": ".//li",
    "links": ".//a[@href]",
}
_LONG = 3
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_MAIN = "//main | //article | //*[@role='main'] | //body"


@dataclass(frozen=True, slots=True)
class Measured:
    """One page. `structure` maps each of STRUCTURE to how many there are and how many survive.

    `peer` is trafilatura's result for the same page.
    """

    kind: str
    precision: float
    recall: float
    f1: float
    seconds: float
    structure: dict[str, tuple[int, int]]
    peer: Peer


@dataclass(frozen=True, slots=True)
class Peer:
    """The F1 of trafilatura's Markdown of a page, and the CPU seconds that it took."""

    f1: float
    seconds: float


def words(markdown: str) -> Counter[str]:
    """The words that a reader of the rendered Markdown sees."""
    return Counter(_words(markdown))


def _words(markdown: str) -> list[str]:
    text = _TARGET.sub("]", _FENCE_LINE.sub("", markdown))
    return _WORD.findall(_ESCAPE.sub(r"\1", text).lower())


def scores(gold: str, markdown: str) -> tuple[float, float, float]:
    """Precision, recall and F1 between 0 and 1. Two empty texts agree."""
    wanted, found = Counter(_WORD.findall(gold.lower())), words(markdown)
    common = (wanted & found).total()
    if not wanted and not found:
        return 1.0, 1.0, 1.0
    precision = common / found.total() if found else 0.0
    recall = common / wanted.total() if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def snippet_scores(
    wanted: list[str], unwanted: list[str], markdown: str
) -> tuple[float, float, float]:
    """Precision, recall and F1 between 0 and 1 of a page of which only some texts are labelled."""
    text = f" {' '.join(_words(markdown))} "
    kept, wrong = (
        sum(holds(text, _WORD.findall(one.lower())) for one in ones) for ones in (wanted, unwanted)
    )
    precision, recall = kept / max(1, kept + wrong), kept / max(1, len(wanted))
    return precision, recall, 2 * precision * recall / (precision + recall) if kept else 0.0


def holds(text: str, snippet: list[str]) -> bool:
    """Whether a text has the words of a snippet, which may begin and end inside a word if it is long.

    Args:
        text: words with a blank before and after each.
    """
    joined = " ".join(snippet)
    return (joined if len(snippet) >= _LONG else f" {joined} ") in text


def structure(html: bytes, markdown: str) -> dict[str, tuple[int, int]]:
    """For each of STRUCTURE: its number in the page's main element, and how many of those the Markdown has."""
    from lxml import etree

    tree = etree.fromstring(html, etree.HTMLParser(huge_tree=True))
    main = tree.xpath(_MAIN)
    places = [place for place in main if place.tag != "body"] or main
    counted = {name: len(places[0].xpath(path)) if places else 0 for name, path in _IN_HTML.items()}
    found = {name: len(pattern.findall(markdown)) for name, pattern in _IN_MARKDOWN.items()}
    found["code"] //= 2
    return {name: (counted[name], min(counted[name], found[name])) for name in STRUCTURE}


def measure(folder: Path) -> Iterator[Measured]:
    """Extract every page of the folder."""
    warm_up()
    for path in sorted(folder.rglob("*.json")):
        about, html = json.loads(path.read_text("utf-8")), path.with_suffix(".html").read_bytes()
        started = time.process_time()
        markdown = extract(html, about["url"], None).markdown
        seconds = time.process_time() - started
        counted = structure(html, markdown) if about["kind"] == "documentation" else {}
        yield Measured(
            about["kind"], *judged(about, markdown), seconds, counted, peer_of(html, about)
        )


def peer_of(html: bytes, about: dict[str, Any]) -> Peer:
    """What trafilatura makes of a page, with its own decoding and the title, date and links that ours has too."""
    import trafilatura

    started = time.process_time()
    markdown = trafilatura.extract(
        html,
        url=about["url"],
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        with_metadata=True,
    )
    seconds = time.process_time() - started
    _, _, f1 = judged(about, _without_front_matter(markdown or ""))
    return Peer(f1, seconds)


def _without_front_matter(markdown: str) -> str:
    return _FRONT_MATTER.sub("", markdown, count=1)


def judged(about: dict[str, Any], markdown: str) -> tuple[float, float, float]:
    """The scores of a page by its JSON."""
    if "gold" in about:
        return scores(about["gold"], markdown)
    return snippet_scores(about["with"], about["without"], markdown)


def report(pages: Iterable[Measured]) -> str:
    """A table with a line for each kind of page, one for all and one for kinds in equal shares; then structure and
    speed."""
    pages = list(pages)
    kinds = sorted({page.kind for page in pages})
    lines = [
        f"{'kind':<16}{'pages':>6}{'F1':>8}{'precision':>11}{'recall':>8}{'trafilatura':>13}{'CPU':>7}"
    ]
    lines += [_line(kind, [page for page in pages if page.kind == kind]) for kind in kinds]
    lines.append(_line("all", pages))
    lines.append(_equal_shares(pages, kinds))
    for name in STRUCTURE:
        pairs = [page.structure[name] for page in pages if page.structure]
        there = sum(there for there, _ in pairs)
        kept = sum(kept for _, kept in pairs)
        lines.append(f"{name:<16}{there:>6} there, {kept} kept")
    seconds = [page.seconds for page in pages]
    lines.append(
        f"{len(pages) / sum(seconds):.1f} pages/s; median {statistics.median(seconds) * 1000:.0f} ms a page"
    )
    return "\n".join(lines)


def _line(kind: str, group: list[Measured]) -> str:
    """The means of the pages of a kind. CPU is our time as a multiple of trafilatura's."""
    f1 = statistics.fmean(page.f1 for page in group)
    precision = statistics.fmean(page.precision for page in group)
    recall = statistics.fmean(page.recall for page in group)
    peer = statistics.fmean(page.peer.f1 for page in group)
    cpu = sum(page.seconds for page in group) / sum(page.peer.seconds for page in group)
    return f"{kind:<16}{len(group):>6}{f1:>8.3f}{precision:>11.3f}{recall:>8.3f}{peer:>13.3f}{cpu:>7.2f}"


def _equal_shares(pages: list[Measured], kinds: list[str]) -> str:
    """The means over kinds, each the mean of its pages."""
    groups = [[page for page in pages if page.kind == kind] for kind in kinds]
    ours = statistics.fmean(statistics.fmean(page.f1 for page in group) for group in groups)
    peer = statistics.fmean(statistics.fmean(page.peer.f1 for page in group) for group in groups)
    return f"{'equal':<16}{len(pages):>6}{ours:>8.3f}{'':>19}{peer:>13.3f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    if not any(arguments.folder.rglob("*.json")):
        sys.exit(f"There is no ID.json in {arguments.folder}.")
    print(report(measure(arguments.folder)))
