"""Measures the blocks and elements of a page, as arrays from which the features are computed."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from websearch_gateway.readers.extraction.blocks import Outline
from websearch_gateway.readers.extraction.filter.lexicon import TAGS, WITHIN, name_bits, text_bits

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Ints = NDArray[np.int64]

TAG_NUMBER = {tag: number for number, tag in enumerate(TAGS, 1)}
"""The number of each tag in `Measures.tag`; other tags have 0."""

_WORD = re.compile(r"\w+")
_NAMING = ("class", "id", "role", "itemprop", "data-testid")
_WITHIN_BITS = {tag: 1 << place for place, tag in enumerate(WITHIN)}


class Measures:
    """The measures of one page. Arrays hold one value for each block or, where marked with (e), for each element.

    Elements are the containers of the outline.

    Attributes:
        words, chars, commas, links: the counts in a block.
        link_share, link_words: the share of its characters, and the number of its words, that are in links.
        stops: 1 if it ends like a sentence.
        hints: the bits of `lexicon.text_bits`.
        titled: the share of its distinct words that are in the title.
        repeats: the number of blocks with the same text.
        place: the index of its innermost element.
        parent, depth, start, end, tag (e): as in `blocks.Container`; a tag is its TAG_NUMBER.
        near, far (e): the bits of `lexicon.name_bits` of the element and its parent, or of it and all its ancestors.
        inside (e): a bit for each tag of `lexicon.WITHIN` that the element or an ancestor has.
        siblings (e): the number of children of the same parent with the same tag and classes.
        signature (e): the tag and classes of the element and of its parent.
        found: the share of a block that another extractor chose; see `compare`.
        running, sums: of words, link words, found words, commas, stops and blocks, the sums over all blocks before a
            block, and the sums over the blocks below an element (e).
        described (e): the features that describe an element around a block, one row each.
    """

    def __init__(self, outline: Outline, title: str) -> None:
        import numpy as np

        self.np = np
        self.outline = outline
        self._measure_blocks(title)
        self._measure_containers()

    def compare(self, found: str) -> None:
        """Compare the blocks with the main text that another extractor chose, one block per line; "" for none."""
        self.found = _covered(self._tokens, found)
        self._sum()

    def _measure_blocks(self, title: str) -> None:
        np, texts = self.np, [block.text for block in self.outline.blocks]
        self._tokens = tokens = [words_of(text) for text in texts]
        self.words = np.array([len(t) for t in tokens], dtype=np.float64)
        self.chars = np.array([len(text.strip()) for text in texts], dtype=np.float64)
        self.links = np.array([block.links for block in self.outline.blocks])
        link_chars = np.array([block.link_chars for block in self.outline.blocks], dtype=np.float64)
        self.link_share = np.minimum(1, link_chars / np.maximum(1, self.chars))
        self.link_words = self.link_share * self.words
        self.commas = np.array([text.count(",") + text.count("、") for text in texts], dtype=np.float64)
        self.stops = np.array([text.rstrip()[-1:] in ".!?…。:;" for text in texts], dtype=np.float64)
        self.hints = np.array([text_bits(words) for words in tokens], dtype=np.int64)
        wanted = set(words_of(title))
        self.titled = np.array([_share(wanted, words) for words in tokens])
        self.repeats = _times([text.strip() for text in texts], np)

    def _measure_containers(self) -> None:
        np, containers = self.np, self.outline.containers
        self.parent = np.array([c.parent for c in containers])
        self.depth = np.array([c.depth for c in containers])
        self.start = np.array([c.start for c in containers])
        self.end = np.array([c.end for c in containers])
        self.place = np.array([block.place for block in self.outline.blocks])
        self.tag = np.array([TAG_NUMBER.get(c.tag, 0) for c in containers])
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
            is_root = container.parent == len(names)
            names.append(own)
            near.append(own | (0 if is_root else names[container.parent]))
            far.append(own | (0 if is_root else far[container.parent]))
            inside.append(tag | (0 if is_root else inside[container.parent]))
            signatures.append(f"{container.tag} {element.get('class', '') if present else ''}")
        self.near, self.far, self.inside = np.array(near), np.array(far), np.array(inside)
        keyed = [f"{containers[c.parent].start} {c.parent} {s}" for c, s in zip(containers, signatures, strict=True)]
        self.siblings = _times(keyed, np)
        self.signature = [f"{signatures[c.parent]}/{s}" for c, s in zip(containers, signatures, strict=True)]

    def _sum(self) -> None:
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


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def _share(wanted: set[str], words: list[str]) -> float:
    """The share of distinct words that are wanted."""
    found = len(wanted.intersection(words))
    return found / len(set(words)) if found else 0.0


def _times(keys: list[str], np: Any) -> Any:
    """For each key, how often it occurs among the keys."""
    counts = Counter(keys)
    return np.array([counts[key] for key in keys], dtype=np.float64)


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
