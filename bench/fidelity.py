"""The parts of a documentation page that its Markdown keeps: `python -m bench.fidelity FILE ... [--missing KIND]`.

Each FILE is a page of HTML. A parser counts what stands in its main element (the first that the page has of MAINS,
without navigation), and each thing counts as kept if its text stands in the Markdown in the same role. Words are
compared as multisets. `--missing` lists what was lost of one kind.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from lxml import etree

from bench.extract import words
from websearch_gateway.pages.extraction.extract import extract
from websearch_gateway.pages.formats.kinds import warm_up
from websearch_gateway.pages.rendering import INLINE

KINDS = ("fences", "languages", "rows", "headings", "items", "links")
MAINS = (
    "//main",
    "//*[@role='main']",
    "//*[@id='main-content' or @id='apicontent' or @id='page-content']",
    "//article",
    "//body",
)
_LEFT_OUT = ("nav", "header", "footer", "aside", "script", "style", "template", "button")
_LEFT_OUT_CLASSES = re.compile(
    r"\b(?:sidebar|sphinxsidebar|related|toc|navheader|navfooter|menu|breadcrumbs?|headerlink)\b"
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?-|highlight-)([\w+#.]+)")
_WORD = re.compile(r"\w+")
_FENCE = re.compile(r"^[ >]*(`{3,}|~{3,})([^\n`]*)\n(.*?)^[ >]*\1[ ]*$", re.MULTILINE | re.DOTALL)
_NOT_NAMED = frozenset({"default", "none", "text", "plaintext", "plain"})


def main_of(html: bytes) -> Any:
    """The main element, without navigation and permalinks."""
    tree = etree.fromstring(html, etree.HTMLParser(huge_tree=True, encoding="utf-8"))
    main = next(found[0] for path in MAINS if (found := tree.xpath(path)))
    for element in list(main.iter()):
        if element is not main and element.getparent() is not None and _is_left_out(element):
            _cut(element)
    return main


def _is_left_out(element: Any) -> bool:
    if not isinstance(element.tag, str) or element.tag in _LEFT_OUT:
        return True
    return bool(_LEFT_OUT_CLASSES.search(element.get("class", "")))


def _cut(element: Any) -> None:
    parent, before = element.getparent(), element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def excerpt(text: str, most: int = 8) -> str:
    """The first words of a text, to find it again."""
    return " ".join(_WORD.findall(text.lower())[:most])


def _text(element: Any) -> str:
    return "".join(element.itertext())


def _spaced(element: Any) -> str:
    """The text, with a blank wherever a block begins or ends."""
    parts = []
    for event, one in etree.iterwalk(element, events=("start", "end")):
        parts.append("" if one.tag in INLINE else " ")
        text = one.text if event == "start" else one.tail if one is not element else None
        parts.append(text or "")
    return "".join(parts)


def _own(item: Any) -> str:
    """The text of a list item before its inner lists and blocks of code."""
    parts = [item.text or ""]
    for child in item:
        if child.tag in ("ul", "ol", "dl", "pre", "table"):
            break
        parts += [_text(child), child.tail or ""]
        if child.tag in ("p", "div") and excerpt("".join(parts)):
            break
    return "".join(parts)


def wanted(main: Any, base: str) -> Iterator[tuple[str, str]]:
    """The kind and the identifying text of each part of the page."""
    for pre in main.iter("pre"):
        if (
            pre.getparent().tag == "pre"
            or not excerpt(_text(pre))
            or any(True for _ in pre.iterancestors("pre", "table"))
        ):
            continue
        yield "fences", excerpt(_text(pre))
        near = [pre, *pre.iterdescendants("pre", "code"), *list(pre.iterancestors())[:2]]
        names = [
            found[1].lower() for one in near if (found := _LANGUAGE.search(one.get("class", "")))
        ]
        if names and names[0] not in _NOT_NAMED:
            yield "languages", f"{names[0]} {excerpt(_text(pre))}"
    for row in main.xpath(".//tr[not(ancestor::table[2])]"):
        cells = [excerpt(_text(cell), 4) for cell in row if cell.tag in ("td", "th")]
        if len(cells) > 1 and any(cells) and not row.xpath("ancestor::table//pre"):
            yield "rows", " | ".join(filter(None, cells))
    for level in range(1, 7):
        for heading in main.iter(f"h{level}"):
            if excerpt(_text(heading)):
                yield "headings", excerpt(_text(heading))
    for item in main.iter("li"):
        if excerpt(_own(item), 4):
            yield "items", excerpt(_own(item), 4)
    for link in main.iter("a"):
        if (
            link.get("href")
            and excerpt(_text(link))
            and not any(True for _ in link.iterancestors("pre"))
        ):
            yield "links", urljoin(base, link.get("href").strip())


def found(markdown: str) -> dict[str, Counter[str]]:
    """The parts of the Markdown, by kind, in the same form as `wanted`, but rows as whole lines."""
    fences = [(name.strip().lower(), excerpt(code)) for _, name, code in _FENCE.findall(markdown)]
    prose = _FENCE.sub("", markdown)
    plain = re.sub(
        r"\\([!-/:-@\[-`{-~])",
        r"\1",
        re.sub(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)", "]", prose),
    )
    lines = plain.split("\n")
    return {
        "fences": Counter(code for _, code in fences),
        "languages": Counter(f"{name} {code}" for name, code in fences),
        "rows": Counter(
            " ".join(_WORD.findall(line.lower()))
            for line in lines
            if line.lstrip("> ").startswith("|")
        ),
        "headings": Counter(excerpt(line) for line in lines if re.match(r"[ >*-]*#{1,6} ", line)),
        "items": Counter(
            excerpt(re.sub(r"^[ >]*(?:(?:[-*+]|\d+[.)]) +)+", "", line), 4)
            for line in lines
            if re.match(r"[ >]*(?:[-*+]|\d+[.)]) ", line)
        ),
        "links": Counter(re.findall(r"\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)", prose)),
    }


def missing(main: Any, markdown: str, base: str) -> tuple[Counter[str], list[tuple[str, str]]]:
    """The number of parts of each kind, and the lost parts."""
    there: Counter[str] = Counter()
    lost = []
    have = found(markdown)
    rows = list(have["rows"])
    for kind, what in wanted(main, base):
        there[kind] += 1
        if kind == "rows":
            kept = any(all(cell in row for cell in what.split(" | ")) for row in rows)
        else:
            kept = have[kind][what] > 0
            have[kind][what] -= kept
        if not kept:
            lost.append((kind, what))
    return there, lost


def main() -> None:
    """Print a line for each kind, and the words."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--missing", choices=(*KINDS, "words"), help="list what was lost")
    given = parser.parse_args()
    warm_up()
    there, lost = Counter[str](), Counter[str]()
    recall = precision = seconds = 0.0
    for path in given.files:
        html, base = path.read_bytes(), f"https://docs.example/{path.name}"
        started = time.process_time()
        markdown = extract(html, base, None).markdown
        seconds += time.process_time() - started
        element = main_of(html)
        counted, gone = missing(element, markdown, base)
        there += counted
        lost += Counter(kind for kind, _ in gone)
        gold, have = Counter(_WORD.findall(_spaced(element).lower())), words(markdown)
        recall += (gold & have).total() / max(1, gold.total()) / len(given.files)
        precision += (gold & have).total() / max(1, have.total()) / len(given.files)
        if given.missing == "words":
            print(
                path, "lost", (gold - have).most_common(12), "added", (have - gold).most_common(12)
            )
        elif given.missing:
            print("\n".join(f"{path}: {what}" for kind, what in gone if kind == given.missing))
    for kind in KINDS:
        print(
            f"{kind:<10}{there[kind] - lost[kind]:>7} of {there[kind]:>6}  {1 - lost[kind] / max(1, there[kind]):.1%}"
        )
    print(
        f"words: recall {recall:.3f}, precision {precision:.3f}; {seconds / len(given.files) * 1000:.0f} ms CPU a page"
    )


if __name__ == "__main__":
    main()
