"""A stand-in for a language model that knows the right sentence: it rewrites the sentence, or invents.

It rewrites as models do: synonyms, another order of the parts, a shorter form, two sentences in one. Readers would not
notice its inventions.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

_SYNONYMS = {
    "began": "started",
    "started": "began",
    "large": "big",
    "big": "large",
    "called": "named",
    "located": "situated",
    "built": "constructed",
    "constructed": "built",
    "used": "employed",
    "many": "numerous",
    "show": "demonstrate",
    "also": "additionally",
    "people": "persons",
    "important": "significant",
    "several": "various",
    "get": "obtain",
    "created": "made",
    "made": "created",
    "received": "got",
    "helped": "assisted",
    "area": "region",
    "city": "town",
    "known": "recognised",
    "part": "portion",
    "found": "discovered",
    "often": "frequently",
    "difficult": "hard",
    "near": "close to",
    "main": "principal",
    "caused": "led to",
    "required": "needed",
    "became": "turned into",
    "about": "roughly",
    "around": "approximately",
    "over": "more than",
    "reported": "stated",
    "said": "stated",
    "increased": "grew",
    "decreased": "fell",
    "ended": "finished",
    "buy": "purchase",
    "wrote": "authored",
    "company": "firm",
    "war": "conflict",
    "students": "pupils",
    "method": "approach",
    "problem": "issue",
}
_LEAD = re.compile(
    r"^((?:In|On|During|After|Before|By|At|From|Since|For|Under|With|While|When|Although)\s[^,]{3,80}),\s"
)
_TAIL = re.compile(r"\s((?:in|on|during|after|before|by|at|since|until)\s[^,.;]{3,60})\.$")
_ASIDE = re.compile(r"\s\([^()]{1,80}\)|,\s(?:which|who|where)\s[^,.]{3,120}(?=,)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-zé]{3,}(?: [A-Z][a-zé]+)*")
_YEAR = re.compile(r"\b(1[0-9]|20)\d\d\b")
_NUMBER = re.compile(r"\b\d+(?:[.,]\d+)?\b")
_VERB = re.compile(r"\b(is|was|are|were|has|had|can|could|did|does|will)\b")
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)(?= \d)"
)
_UNITS = {
    "metres": "feet",
    "million": "billion",
    "percent": "points",
    "km": "miles",
    "years": "months",
    "%": " points",
}
_TURNED = {
    "before": "after",
    "after": "before",
    "more": "less",
    "largest": "smallest",
    "first": "last",
    "won": "lost",
}
_TURNED |= {
    "north": "south",
    "east": "west",
    "increased": "decreased",
    "higher": "lower",
    "most": "least",
}

_OVERSTATED = {
    "some": "all",
    "many": "most",
    "often": "always",
    "may": "will",
    "could": "must",
    "most": "all",
}
_OVERSTATED |= {"several": "all", "usually": "always", "can": "must", "about": "exactly"}
_ANTONYMS = {
    "accepted": "rejected",
    "included": "excluded",
    "remained": "ceased",
    "attacked": "defended",
}
_ANTONYMS |= {
    "created": "destroyed",
    "built": "demolished",
    "public": "private",
    "common": "rare",
    "free": "costly",
}
_ANTONYMS |= {
    "important": "trivial",
    "early": "late",
    "old": "recent",
    "major": "minor",
    "high": "low",
    "new": "old",
}
_ANTONYMS |= {
    "popular": "unpopular",
    "developed": "abandoned",
    "direct": "indirect",
    "internal": "external",
}
_COMMON = re.compile(
    r"(?<![\w-])(?!about|after|which|where|their|there|these|while)[a-z]{5,}(?![\w-])"
)
_REFERS = re.compile(r"(?:It|He|She|They|This|These|The)\b")

Rewrite = Callable[[str, random.Random], str]
Borrow = Callable[[str, random.Random, Sequence[str]], str]


def synonyms(sentence: str, chance: random.Random) -> str:
    """Replace up to three words with synonyms."""
    known = [word for word in re.findall(r"\b[a-z]+\b", sentence) if word in _SYNONYMS]
    for word in chance.sample(known, min(3, len(known))):
        sentence = re.sub(rf"\b{word}\b", _SYNONYMS[word], sentence, count=1)
    return sentence


def reordered(sentence: str, chance: random.Random) -> str:
    """Move a part from the beginning to the end, or back."""
    if lead := _LEAD.match(sentence):
        rest = sentence[lead.end() :].rstrip(".")
        part = lead[1][0].lower() + lead[1][1:]
        return f"{rest[:1].upper()}{rest[1:]} {part}."
    if tail := _TAIL.search(sentence):
        part = tail[1][0].upper() + tail[1][1:]
        rest = sentence[: tail.start()]
        return f"{part}, {rest if rest[:2].istitle() else rest[:1].lower() + rest[1:]}."
    return sentence


def shortened(sentence: str, chance: random.Random) -> str:
    """Leave out asides."""
    return _ASIDE.sub("", sentence)


def retold(sentence: str, chance: random.Random) -> str:
    """Apply all of these."""
    return synonyms(reordered(shortened(sentence, chance), chance), chance)


PARAPHRASES: dict[str, Rewrite] = {
    "copied": lambda sentence, _: sentence,
    "synonyms": synonyms,
    "reordered": reordered,
    "shortened": shortened,
    "retold": retold,
}
"""Rewritings with the same meaning. `bench.answers` makes `merged` sentences of two."""


def other_number(sentence: str, chance: random.Random) -> str:
    """Replace a number."""
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return sentence
    match = chance.choice(found)
    digits = re.sub(r"\D.*", "", match[0])
    return (
        f"{sentence[: match.start()]}{int(digits) + chance.randint(1, 9)}{sentence[match.end() :]}"
    )


def added_number(sentence: str, chance: random.Random) -> str:
    """Add a number in words."""
    return f"{sentence.rstrip('.')}, {chance.choice(['twelve', 'forty-two', 'six hundred', 'nineteen'])} times."


def other_name(sentence: str, chance: random.Random) -> str:
    """Replace a name."""
    return _NAME.sub(chance.choice(["Zebediah Quill", "Marwick", "Ostrovia"]), sentence, count=1)


def other_year(sentence: str, chance: random.Random) -> str:
    """Replace a year."""
    return _YEAR.sub(lambda match: str(int(match[0]) - chance.randint(1, 12)), sentence, count=1)


def other_month(sentence: str, chance: random.Random) -> str:
    """Replace a month."""
    return _MONTH.sub(lambda match: "June" if match[0] != "June" else "May", sentence, count=1)


def added_date(sentence: str, chance: random.Random) -> str:
    """Add a date."""
    return (
        f"{sentence.rstrip('.')} on {chance.randint(1, 28)} October {chance.randint(1801, 1899)}."
    )


def denied(sentence: str, chance: random.Random) -> str:
    """Negate the first verb."""
    return _VERB.sub(lambda match: f"{match[0]} not", sentence, count=1)


def other_unit(sentence: str, chance: random.Random) -> str:
    """Replace a unit, keeping its number."""
    for unit, wrong in _UNITS.items():
        changed = re.sub(rf"(?<=\d)(\s?){re.escape(unit)}", rf"\1{wrong}", sentence, count=1)
        if changed != sentence:
            return changed
    return sentence


def _replaced(sentence: str, words: dict[str, str]) -> str:
    """Replace the first word that `words` has."""
    for word, other in words.items():
        changed = re.sub(rf"\b{word}\b", other, sentence, count=1)
        if changed != sentence:
            return changed
    return sentence


def turned(sentence: str, chance: random.Random) -> str:
    """Replace a word with its opposite."""
    return _replaced(sentence, _TURNED)


def swapped(sentence: str, chance: random.Random) -> str:
    """Swap two names."""
    found = [match[0] for match in _NAME.finditer(sentence)]
    if len(set(found)) < 2 or any(
        one != other and one in other for one in found for other in found
    ):
        return sentence
    one, other = found[0], next(name for name in found if name != found[0])
    return sentence.replace(one, "\0").replace(other, one).replace("\0", other)


def no_longer(sentence: str, chance: random.Random) -> str:
    """Say that it no longer holds."""
    return re.sub(r"\b(is|was|are|were)\b", r"\1 no longer", sentence, count=1)


def never(sentence: str, chance: random.Random) -> str:
    """Say that it never happens."""
    return re.sub(r"\b(has|had|have|can|could|will)\b", r"\1 never", sentence, count=1)


def affirmed(sentence: str, chance: random.Random) -> str:
    """Leave out a negation."""
    return re.sub(
        r"\b(is|was|are|were|has|had|can|could|did|does|will|do|would|have) not\b",
        r"\1",
        sentence,
        count=1,
    )


def only(sentence: str, chance: random.Random) -> str:
    """Say that one of several is the only one."""
    return re.sub(r"\b(is|was|are|were) (?:a|an|the)\b", r"\1 the only", sentence, count=1)


def overstated(sentence: str, chance: random.Random) -> str:
    """Turn some into all, or a possibility into a fact."""
    return _replaced(sentence, _OVERSTATED)


def antonym(sentence: str, chance: random.Random) -> str:
    """Replace a word with an antonym that lists of opposites lack."""
    found = [word for word in re.findall(r"\b[a-z]+\b", sentence) if word in _ANTONYMS]
    return re.sub(rf"\b{found[0]}\b", _ANTONYMS[found[0]], sentence, count=1) if found else sentence


def words_swapped(sentence: str, chance: random.Random) -> str:
    """Swap two common words."""
    found = list(dict.fromkeys(_COMMON.findall(sentence)))
    return _swapped(sentence, *chance.sample(found, 2)) if len(found) > 1 else sentence


def numbers_swapped(sentence: str, chance: random.Random) -> str:
    """Swap two numbers."""
    found = list(dict.fromkeys(re.findall(r"\b\d+(?:[.,]\d+)*\b", sentence)))
    return _swapped(sentence, *found[:2]) if len(found) > 1 else sentence


def _swapped(sentence: str, one: str, other: str) -> str:
    pattern = re.compile(rf"\b(?:({re.escape(one)})|{re.escape(other)})\b")
    return pattern.sub(lambda match: other if match[1] else one, sentence)


def of_the_page(pattern: re.Pattern[str]) -> Borrow:
    """A rewriting that replaces a match of `pattern` with another one of the same page."""

    def rewrite(sentence: str, chance: random.Random, others: Sequence[str]) -> str:
        own = pattern.findall(sentence)
        strange = [
            found for other in others for found in pattern.findall(other) if found not in sentence
        ]
        if not own or not strange:
            return sentence
        return re.sub(
            rf"\b{re.escape(chance.choice(own))}\b", chance.choice(strange), sentence, count=1
        )

    return rewrite


def spliced(sentence: str, chance: random.Random, others: Sequence[str]) -> str:
    """Combine the subject with the predicate of another sentence."""
    verb = _VERB.search(sentence)
    whole = [other for other in others if _VERB.search(other)]
    if not verb or not whole or _REFERS.match(sentence):
        return sentence
    other = chance.choice(whole)
    found = _VERB.search(other)
    if not found or _REFERS.match(other) or other[: found.start()] == sentence[: verb.start()]:
        return sentence
    return sentence[: verb.start()] + other[found.start() :]


FOREIGN: dict[str, Rewrite] = {
    "number": other_number,
    "added number": added_number,
    "name": other_name,
    "year": other_year,
    "month": other_month,
    "added date": added_date,
}
"""Inventions with a number, a name or a date that the passage does not have."""

TURNED: dict[str, Rewrite] = {
    "denied": denied,
    "unit": other_unit,
    "opposite": turned,
    "swapped": swapped,
}
"""Inventions from the passage's own words."""

MORE_TURNED: dict[str, Rewrite] = TURNED | {
    "no longer": no_longer,
    "never": never,
    "affirmed": affirmed,
    "only": only,
    "overstated": overstated,
    "antonym": antonym,
    "words swapped": words_swapped,
    "figures swapped": numbers_swapped,
}
"""More of these inventions; each is tried on every sentence."""

BORROWED: dict[str, Borrow] = {
    "page's number": of_the_page(_NUMBER),
    "page's name": of_the_page(_NAME),
    "page's word": of_the_page(_COMMON),
    "spliced": spliced,
}
"""Inventions from words of other sentences of the passage."""
