"""Who did what to whom: detects names that have swapped roles, or that replace another name of the passage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from websearch_gateway.text.retrieval.tokens import STOP_WORDS, fold, tokens, tokens_of_each

_NAME = r"[^\W\d_a-zß-öø-ÿ][\w'’-]*\w"
_FULL_NAME = re.compile(rf"{_NAME}(?:\s+(?:of\s+|the\s+|de\s+|von\s+)?{_NAME})*")
_PASSIVE = re.compile(r"\b(?:was|were|is|are|been|being|be)\b.*\bby\b(?:\s+the)?\s*$", re.DOTALL)
_BREAK = re.compile(r"[,;:()\[\].]|\b(?:and|or|but|who|which|while|when)\b")
_PREPOSITION = re.compile(
    r"\b(?:in|of|at|on|from|for|with|to|near|against|during|under|between|into|as|about)\b(?:\s+(?:the|a|an))?\s*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w[\w'’-]*")
_THAN = re.compile(r"\bthan\b")
_PARTS = re.compile(r"[,;:.]")
_BESIDE, _NEAR = 2, 4
_SIDE = 100
_MOST_NAMES = 20


@dataclass(frozen=True, slots=True)
class Role:
    """`subject` did something to, or is more than, `object`. Both are the last word of a name, folded."""

    subject: str
    object: str

    @property
    def opposite(self) -> Role:
        """The role with subject and object swapped."""
        return Role(self.object, self.subject)


def roles(sentence: str) -> Iterator[Role]:
    """The pairs of names around one verb or comparison: `A beat B`, `B was beaten by A`, `A is taller than B`."""
    for one, other in pairwise(_full_names(sentence)):
        between = sentence[one.end() : other.start()]
        if _BREAK.search(between) or _PREPOSITION.search(sentence[: one.start()][-20:]) or not between.strip():
            continue
        passive = bool(_PASSIVE.search(between))
        if not passive and _PREPOSITION.search(between[-20:]):
            continue
        role = Role(_last(one[0]), _last(other[0]))
        yield role.opposite if passive else role


@dataclass(frozen=True, slots=True)
class Comparison:
    """The stems on either side of a `than`."""

    before: frozenset[str]
    after: frozenset[str]

    def is_reversed_in(self, others: Sequence[Comparison]) -> bool:
        """Whether one of the passage's comparisons shares more words with this one crosswise than side by side."""
        fits = [len(self.before & one.before) + len(self.after & one.after) for one in others]
        turned = [len(self.before & one.after) + len(self.after & one.before) for one in others]
        return max(turned, default=0) > max(fits, default=0)


def comparisons(sentence: str) -> Iterator[Comparison]:
    """The comparisons in a text: what is more or less than what."""
    for match in _THAN.finditer(sentence):
        before = _PARTS.split(sentence[max(0, match.start() - _SIDE) : match.start()])[-1]
        after = _PARTS.split(sentence[match.end() : match.end() + _SIDE])[0]
        yield Comparison(frozenset(tokens(before)), frozenset(tokens(after)))


def full_names(sentence: str) -> Iterator[frozenset[str]]:
    """The parts of each name of several words, as stems."""
    for match in _full_names(sentence):
        if " " in match[0]:
            yield frozenset(tokens(match[0]))


def mixes_names(claim: str, known: Sequence[frozenset[str]]) -> bool:
    """Whether a name of the claim mixes parts of different names."""
    for match in _full_names(claim):
        for one, other in pairwise(match[0].split()):
            first, last = frozenset(tokens(one)), frozenset(tokens(other))
            apart = any(first & name for name in known) and any(last & name for name in known)
            if first and last and apart and not any(first & name and last & name for name in known):
                return True
    return False


def company(sentences: Sequence[str]) -> dict[str, frozenset[str]]:
    """The content words near each name, over all sentences; names by their last word."""
    found: dict[str, frozenset[str]] = {}
    for sentence in sentences:
        for name, near in _neighbours(sentence, _NEAR):
            found[name] = found.get(name, frozenset()) | near
    return found


def is_misplaced(claim: str, known: Mapping[str, frozenset[str]], topic: frozenset[str]) -> bool:
    """Whether the words around a name of the claim occur in the passage around another name, and not around this one.

    Args:
        known: the `company` of the passage.
        topic: the stems of the headings. Any `it` in the passage may refer to what they name.
    """
    said = dict(_neighbours(claim, _BESIDE))

    def fits(name: str, place: str) -> int:
        return len(said[name] & known.get(place, frozenset()))

    for name in said:
        others = [other for other in known if other != name and fits(name, other) > fits(name, name)]
        if any(other in said and fits(other, name) > fits(other, other) for other in others):
            return True
        taken = (fits(name, other) > 1 for other in others if other not in said)
        if not fits(name, name) and any(taken) and topic.isdisjoint(tokens(name)):
            return True
    return False


def _full_names(sentence: str) -> list[re.Match[str]]:
    return [match for match in _FULL_NAME.finditer(sentence) if fold(match[0]) not in STOP_WORDS][:_MOST_NAMES]


def _neighbours(sentence: str, reach: int) -> Iterator[tuple[str, frozenset[str]]]:
    """Each name with the stems of up to `reach` content words on either side, without names."""
    names = _full_names(sentence)
    taken = [(name.start(), name.end()) for name in names]
    plain = [
        match
        for match in (_WORD.finditer(sentence) if names else ())
        if not any(start <= match.start() < end for start, end in taken)
    ]
    stems = zip(plain, tokens_of_each(match[0] for match in plain), strict=True)
    others = [(match.start(), parts[0]) for match, parts in stems if parts and parts[0] not in STOP_WORDS]
    for name in names:
        before = [stem for at, stem in others if at < name.start()][-reach:]
        after = [stem for at, stem in others if at >= name.end()][:reach]
        yield _last(name[0]), frozenset((*before, *after))


def _last(name: str) -> str:
    return fold(name.split()[-1]).removesuffix("'s").removesuffix("’s")
