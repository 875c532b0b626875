"""The numeric features of each block of a page, for the block filter."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import Outline
from websearch_gateway.readers.extraction.filter.context import context_columns
from websearch_gateway.readers.extraction.filter.lexicon import (
    NAME_HINTS,
    TAGS,
    TEXT_HINTS,
    WITHIN,
    name_bits,
    text_bits,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]

_WORD = re.compile(r"\w+")
_NAMING = ("class", "id", "role", "itemprop", "data-testid")
_TAG_NUMBER = {tag: number for number, tag in enumerate(TAGS, 1)}
_WITHIN_BITS = {tag: 1 << place for place, tag in enumerate(WITHIN)}
_SIZES = (30, 100, 300, 1000)
_LEVELS = 4
_DESCRIBED = ("words", "share", "links", "found", "commas", "stops", "mean", "siblings")
"""The features of an element around a block, in the order of `Features.described`."""
_UPPER, _DIGITS = string.ascii_uppercase.encode(), string.digits.encode()
_DEEPEST = 64


class Features:
    """Builds the matrix for one page: a row for each block, a named column for each feature."""

    def __init__(self, page: Outline, title: str) -> None:
        import numpy as np

        self.np = np
        self.page = page
        self._blocks(title)
        self._containers()

    def matrix(self, found: str) -> Floats:
        """Shape (blocks, features), float32.

        Args:
            found: the main text that another extractor chose, one block per line; "" for none.
        """
        self.columns: dict[str, Any] = {}
        self.found = _covered(self.tokens, found)
        self._sums()
        self._own()
        self._names()
        self._levels()
        self._surroundings()
        self._alike()
        self._page_wide()
        self.columns |= context_columns(self)
        rows = self.np.empty((len(self.words), len(self.columns)), self.np.float32)
        for place, column in enumerate(self.columns.values()):
            rows[:, place] = column
        return rows

    def _blocks(self, title: str) -> None:
        np, texts = self.np, [block.text for block in self.page.blocks]
        self.tokens = tokens = [words_of(text) for text in texts]
        self.words = np.array([len(t) for t in tokens], dtype=np.float64)
        self.chars = np.array([len(text.strip()) for text in texts], dtype=np.float64)
        links = np.array([block.link_chars for block in self.page.blocks], dtype=np.float64)
        self.link_share = np.minimum(1, links / np.maximum(1, self.chars))
        self.link_words = self.link_share * self.words
        self.commas = np.array([text.count(",") + text.count("、") for text in texts], dtype=np.float64)
        self.stops = np.array([text.rstrip()[-1:] in ".!?…。:;" for text in texts], dtype=np.float64)
        self.hints = np.array([text_bits(words) for words in tokens], dtype=np.int64)
        wanted = set(words_of(title))
        self.titled = np.array([_share(wanted, words) for words in tokens])
        self.repeats = _times([text.strip() for text in texts], np)

    def _containers(self) -> None:
        np, containers = self.np, self.page.containers
        self.parent = np.array([c.parent for c in containers])
        self.depth = np.array([c.depth for c in containers])
        self.start = np.array([c.start for c in containers])
        self.end = np.array([c.end for c in containers])
        self.place = np.array([block.place for block in self.page.blocks])
        self.tag = np.array([_TAG_NUMBER.get(c.tag, 0) for c in containers])
        names: list[int] = []
        near: list[int] = []
        far: list[int] = []
        inside: list[int] = []
        signatures: list[str] = []
        for container in containers:
            element = container.element
            present = element.keys()
            own = name_bits(" ".join([element.get(name) for name in _NAMING if name in present])) if present else 0
            tag = _WITHIN_BITS.get(container.tag, 0)
            first = container.parent == len(names)
            names.append(own)
            near.append(own | (0 if first else names[container.parent]))
            far.append(own | (0 if first else far[container.parent]))
            inside.append(tag | (0 if first else inside[container.parent]))
            signatures.append(f"{container.tag} {element.get('class', '') if present else ''}")
        self.near, self.far, self.inside = np.array(near), np.array(far), np.array(inside)
        keyed = [f"{containers[c.parent].start} {c.parent} {s}" for c, s in zip(containers, signatures, strict=True)]
        self.siblings = _times(keyed, np)
        self.signature = [f"{signatures[c.parent]}/{s}" for c, s in zip(containers, signatures, strict=True)]

    def _sums(self) -> None:
        np = self.np
        quantities = (
            self.words,
            self.link_words,
            self.found * self.words,
            self.commas,
            self.stops,
            np.ones_like(self.words),
        )
        self.running = np.zeros((len(self.words) + 1, len(quantities)))
        np.cumsum(np.column_stack(quantities), axis=0, out=self.running[1:])
        self.sums = self.running[self.end] - self.running[self.start]
        words, links, found, commas, stops, blocks = self.sums.T
        one, some = np.maximum(1, words), np.maximum(1, blocks)
        shares = (words / max(1, self.running[-1, 0]), links / one, found / one, commas / one, stops / some)
        self.described = np.array([words, *shares, words / some, self.siblings])

    def _own(self) -> None:
        np, add, n = self.np, self.columns, len(self.words)
        add["words"], add["chars_per_word"] = self.words, self.chars / np.maximum(1, self.words)
        add["link_share"], add["found"], add["commas"], add["stops"] = (
            self.link_share,
            self.found,
            self.commas,
            self.stops,
        )
        add["links"] = np.array([block.links for block in self.page.blocks])
        add["titled"], add["repeats"] = self.titled, self.repeats
        heads = [b.text[:200] for b in self.page.blocks]
        add["upper"] = np.array([_count(head, str.isupper, _UPPER) / max(1, len(head)) for head in heads])
        add["digits"] = np.array([_count(head, str.isdigit, _DIGITS) / max(1, len(head)) for head in heads])
        add["tag"], add["parent_tag"] = self.tag[self.place], self.tag[self.parent[self.place]]
        add["depth"] = self.depth[self.place]
        add["index"], add["index_share"] = np.arange(n), np.arange(n) / n
        add["words_before"] = self.running[:-1, 0] / max(1, self.running[-1, 0])
        for place in range(TEXT_HINTS):
            add[f"text_{place}"] = self.hints >> place & 1

    def _names(self) -> None:
        near, far, inside = self.near[self.place], self.far[self.place], self.inside[self.place]
        for place in range(len(NAME_HINTS)):
            self.columns[f"name_{place}"] = (near >> place & 1) * 2 + (far >> place & 1)
        for place, tag in enumerate(WITHIN):
            self.columns[f"in_{tag}"] = inside >> place & 1

    def _levels(self) -> None:
        np, at = self.np, self.place
        for level in range(_LEVELS):
            self._describe(f"up{level}", at)
            at = self.parent[at]
        for size in _SIZES:
            at = self.place
            for _ in range(_DEEPEST):
                small = self.sums[at, 0] < size
                if not small.any():
                    break
                at = np.where(small, self.parent[at], at)
            self._describe(f"size{size}", at)
            self.columns[f"size{size}_depth"] = self.depth[self.place] - self.depth[at]
            self.columns[f"size{size}_tag"] = self.tag[at]
        self._repeated()

    def _repeated(self) -> None:
        """The nearest ancestor that resembles its siblings: an entry of a list, a card, a post."""
        np, at = self.np, self.place
        for _ in range(_DEEPEST):
            alone = (self.siblings[at] < 3) & (self.parent[at] != at)
            if not alone.any():
                break
            at = np.where(alone, self.parent[at], at)
        self._describe("entry", at)
        self.columns["entry_siblings"] = self.siblings[at]
        self._describe("entries", self.parent[at])

    def _describe(self, name: str, at: Ints) -> None:
        """Add what describes the element at `at[i]` to the row of block i."""
        self.columns.update(zip((f"{name}_{what}" for what in _DESCRIBED), self.described[:, at], strict=True))

    def _surroundings(self) -> None:
        np, n = self.np, len(self.words)
        where = np.arange(n)
        for name, values in (
            ("words", self.words),
            ("link_share", self.link_share),
            ("found", self.found),
            ("tag", self.tag[self.place]),
        ):
            padded = np.concatenate([[-1, -1], values, [-1, -1]])
            for offset in (-2, -1, 1, 2):
                self.columns[f"{name}{offset:+d}"] = padded[where + 2 + offset]
        for width in (3, 8, 20):
            low, high = np.maximum(0, where - width), np.minimum(n, where + width + 1)
            sums = self.running[high] - self.running[low]
            words = np.maximum(1, sums[:, 0])
            self.columns[f"window{width}_words"] = sums[:, 0]
            self.columns[f"window{width}_links"] = sums[:, 1] / words
            self.columns[f"window{width}_found"] = sums[:, 2] / words
        headings = np.isin(self.tag[self.place], [_TAG_NUMBER[f"h{level}"] for level in range(1, 7)])
        last = np.maximum.accumulate(np.where(headings, where, -1))
        self.columns["since_heading"] = where - last
        self.columns["heading_level"] = np.where(last >= 0, self.tag[self.place][last], 0)
        self.columns["heading_found"] = np.where(last >= 0, self.found[last], -1)
        for place in (5, 8, 9):
            self.columns[f"heading_text_{place}"] = np.where(last >= 0, self.hints[last] >> place & 1, 0)
        h1 = np.flatnonzero(self.tag[self.place] == _TAG_NUMBER["h1"])
        self.columns["since_h1"] = where - h1[0] if len(h1) else np.full(n, -999)

    def _alike(self) -> None:
        """Sums over all blocks in elements with the same tags and classes."""
        np = self.np
        _, group = np.unique([self.signature[place] for place in self.place], return_inverse=True)
        found_words = self.found * self.words
        for name, values in (("words", self.words), ("links", self.link_words), ("found", found_words)):
            self.columns[f"alike_{name}"] = np.bincount(group, values)[group]
        words = np.maximum(1, self.columns["alike_words"])
        self.columns["alike_links"] = self.columns["alike_links"] / words
        self.columns["alike_found"] = self.columns["alike_found"] / words
        self.columns["alike_count"] = np.bincount(group)[group]

    def _page_wide(self) -> None:
        np, total, n = self.np, self.running[-1], len(self.words)
        words = max(1, total[0])
        tags = self.tag[self.place]
        wide = {
            "page_words": total[0],
            "page_blocks": n,
            "page_links": total[1] / words,
            "page_found": total[2] / words,
            "page_stops": total[4] / n,
            "page_p": self.words[tags == _TAG_NUMBER["p"]].sum() / words,
            "page_li": self.words[tags == _TAG_NUMBER["li"]].sum() / words,
            "page_td": self.words[tags == _TAG_NUMBER["td"]].sum() / words,
            "page_pre": self.words[tags == _TAG_NUMBER["pre"]].sum() / words,
            "page_articles": (self.tag == _TAG_NUMBER["article"]).sum(),
            "page_main": (self.tag == _TAG_NUMBER["main"]).sum(),
        }
        for name, value in wide.items():
            self.columns[name] = np.full(n, value)


def _count(text: str, is_one: Callable[[str], bool], ascii_ones: bytes) -> int:
    """How many characters of a text are of a class, which has these ASCII characters."""
    if text.isascii():
        return len(text) - len(text.encode("ascii").translate(None, ascii_ones))
    return sum(map(is_one, text))


def _share(wanted: set[str], words: list[str]) -> float:
    """The share of distinct words that are wanted."""
    found = len(wanted.intersection(words))
    return found / len(set(words)) if found else 0.0


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def _covered(tokens: list[list[str]], found: str) -> Floats:
    """The share of each block that is in the text of another extractor, from 0 to 1."""
    import numpy as np

    covered = np.zeros(len(tokens))
    if not found:
        return covered
    sequences = [words_of(line) for line in found.splitlines()]
    whole = {" ".join(sequence) for sequence in sequences}
    triples = {triple for s in sequences for triple in zip(s, s[1:], s[2:], strict=False)}
    for row, words in enumerate(tokens):
        own = list(zip(words, words[1:], words[2:], strict=False))
        if own:
            covered[row] = sum(map(triples.__contains__, own)) / len(own)
        elif words:
            covered[row] = " ".join(words) in whole
    return covered


def _times(keys: list[str], np: Any) -> Any:
    """For each key, how often it occurs among the keys."""
    from collections import Counter

    counts = Counter(keys)
    return np.array([counts[key] for key in keys], dtype=np.float64)


def likelihoods(features: Features, found: str | None) -> Floats:
    """How likely each block belongs to the main text, from 0 to 1.

    Args:
        found: the text that another extractor found; None if it did not run: then the filter trained without it judges.
    """
    from websearch_gateway.readers.extraction.filter.trees import load

    trees = load("block_filter_alone" if found is None else "block_filter")
    return trees.probabilities(features.matrix(found or ""))
