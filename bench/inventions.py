"""Makes false sentences from true ones by fixed templates: `python -m bench.inventions FOLDER OUT [--seed N]`.

FOLDER is that of `bench.claims`. A true sentence is a supported claim or a sentence of its evidence; each template
changes one thing in it. OUT is an `inventions.jsonl.gz` for `bench.claims`, with 30 of each kind. A template does not
understand: some few of its sentences are true by accident ("all" made "some"), and count against the check all the
same.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from websearch_gateway.base.markdown import split_sentences

A_KIND = 30


def _pairs(text: str) -> list[tuple[str, str]]:
    """The pairs of a text such as "some:all, often:always"."""
    return [(old, new) for old, _, new in (pair.partition(":") for pair in text.split(", "))]


_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?: (?:of )?[A-Z][a-z]+)*")
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-]|[.,]\d)")
_PRONOUN = re.compile(r"\A(?:He|She|It|They) (?=\w+(?:s|ed|as|ad|ere)\b)")
_SPOKEN = (
    re.compile(r"\AAccording to (?P<who>[^,]{3,60}), (?P<what>.{25,})\Z"),
    re.compile(
        r"\A(?P<who>.{3,70}?) (?:said|says|stated|claimed|claims|believes?|believed|argued|argues|suggested|reported|"
        r"reports|thinks?|thought|alleged|hoped|feared) that (?P<what>.{25,})\Z"
    ),
    re.compile(r"\A(?P<what>.{25,}), (?P<who>[A-Z][^,.]{3,50}) (?:said|says)\.\Z"),
    re.compile(r"\A[\"“](?P<what>.{25,}?),?[\"”],? (?:said|says) (?P<who>[^.]{3,60})\.\Z"),
)
_CONDITION = (
    re.compile(r"\A(?:If|Unless|As long as|Provided that|In case) [^,]{5,120}, (?:then )?(?P<what>.{25,})\Z"),
    re.compile(r"\A(?P<what>.{25,}?),? (?:if|unless|provided that|as long as|only when|in case|except) .{8,}\Z"),
)
UNITS = dict(
    _pairs(
        "percent:million, %: km, million:billion, billion:million, thousand:million, km:miles, kilometers:miles, "
        "kilometres:miles, miles:kilometers, meters:feet, metres:feet, feet:meters, inches:feet, years:months, "
        "months:years, weeks:days, days:weeks, hours:minutes, minutes:hours, seconds:minutes, kg:pounds, pounds:kg, "
        "dollars:euros, euros:dollars, acres:hectares, hectares:acres, goals:assists, points:rebounds, "
        "episodes:seasons, seasons:episodes, votes:percent"
    )
)
_UNIT = re.compile(rf"(?<=\d)(\s?)({'|'.join(sorted(map(re.escape, UNITS), key=len, reverse=True))})(?!\w)")
_QUANTITIES = _pairs(
    "some of the:all of the, most of the:all of the, many of the:all of the, "
    "one of the:the only one of the, some:all, many:all, most:all, several:no, few:many, a few:many, "
    "often:always, usually:always, sometimes:always, generally:always, rarely:often, at least:at most, "
    "up to:at least, more than:less than, less than:more than, over:under, about half:all, half:all, "
    "a number of:all, various:all, both:neither of, only:mainly, all:some, every:nearly every, "
    "mostly:only"
)
_DOUBTS = _pairs(
    "may have:has, might have:has, could have:has, may be:is, might be:is, could be:is, may:will, "
    "might:will, could:did, can:must, should:must, is expected to:will, are expected to:will, "
    "is likely to:will, plans to:will, planned to:did, hopes to:will, is believed to be:is, "
    "is said to be:is, is considered:is, probably:, possibly:, reportedly:, allegedly:, likely:, "
    "perhaps:, apparently:, would:did, wanted to:did, tried to:did, attempted to:managed to, "
    "seems to be:is, appears to be:is, potential:proven, alleged:proven"
)
_VERBS = re.compile(r"\b(is|was|are|were|has|had|can|will|did|does)\b(?! not\b)(?!n't)")
_DENIAL = re.compile(
    r"\b(is|was|are|were|has|had|can|will|did|does|have|do|could) not\b"
    r"|\b(is|was|are|were|has|had|did|does|do|could|would)n['’]t\b"
)


@dataclass(frozen=True, slots=True)
class Base:
    """A true sentence with its passage, and names of other passages."""

    sentence: str
    evidence: str
    elsewhere: Sequence[str]


Template = Callable[[Base, random.Random], str | None]


def _other(pool: Sequence[str], taken: str, dice: random.Random) -> str | None:
    free = sorted({one for one in pool if one not in taken and taken not in one})
    return dice.choice(free) if free else None


def pronoun(base: Base, dice: random.Random) -> str | None:
    """Another name of the passage, not of the sentences before, for the pronoun at the start."""
    if not _PRONOUN.match(base.sentence):
        return None
    place = base.evidence.find(base.sentence)
    near = base.evidence[max(0, place - 400) : place + len(base.sentence)]
    name = _other(_NAME.findall(base.evidence) or base.elsewhere, near, dice) or _other(base.elsewhere, near, dice)
    return f"{name} {_PRONOUN.sub('', base.sentence)}" if name else None


def attribution(base: Base, dice: random.Random) -> str | None:
    """A speaker left out, or another speaker."""
    for pattern in _SPOKEN:
        if found := pattern.match(base.sentence):
            name = _other([*_NAME.findall(base.evidence), *base.elsewhere], base.sentence, dice)
            if name and dice.random() < 0.4:
                return base.sentence.replace(found["who"], name, 1)
            what = found["what"].rstrip(".,")
            return f"{what[0].upper()}{what[1:]}."
    return None


def conditional(base: Base, dice: random.Random) -> str | None:
    """A condition left out."""
    for pattern in _CONDITION:
        if found := pattern.match(base.sentence):
            what = found["what"].rstrip(".,; ")
            return f"{what[0].upper()}{what[1:]}."
    return None


def entity(base: Base, dice: random.Random) -> str | None:
    """Another name, of the same passage or of another one."""
    if not (names := _NAME.findall(base.sentence)):
        return None
    old = dice.choice(names)
    own = _other(_NAME.findall(base.evidence), base.sentence, dice)
    new = own if own and dice.random() < 0.6 else _other(base.elsewhere, base.sentence, dice)
    return base.sentence.replace(old, new, 1) if new else None


def number(base: Base, dice: random.Random) -> str | None:
    """Another number, of the same passage or one digit away."""
    if not (found := list(_NUMBER.finditer(base.sentence))):
        return None
    old = dice.choice(found)
    own = [one for one in _NUMBER.findall(base.evidence) if len(one) == len(old[0])]
    new = _other(own, base.sentence, dice) if dice.random() < 0.5 else None
    if new is None:
        place = dice.choice([at for at, one in enumerate(old[0]) if one.isdigit()])
        digit = dice.choice([one for one in "123456789" if one != old[0][place]])
        new = old[0][:place] + digit + old[0][place + 1 :]
    return base.sentence[: old.start()] + new + base.sentence[old.end() :]


def unit(base: Base, dice: random.Random) -> str | None:
    """Another unit behind a number."""
    found = _UNIT.search(base.sentence)
    return base.sentence[: found.start(2)] + UNITS[found[2]] + base.sentence[found.end() :] if found else None


def quantifier(base: Base, dice: random.Random) -> str | None:
    """Another quantifier or bound."""
    return _swapped(base.sentence, _QUANTITIES, dice)


def modality(base: Base, dice: random.Random) -> str | None:
    """A doubt or plan as a fact."""
    return _swapped(base.sentence, _DOUBTS, dice)


def negation(base: Base, dice: random.Random) -> str | None:
    """A denial added or left out."""
    if found := _DENIAL.search(base.sentence):
        return base.sentence[: found.start()] + (found[1] or found[2]) + base.sentence[found.end() :]
    return _VERBS.sub(lambda verb: f"{verb[0]} not", base.sentence, count=1) if _VERBS.search(base.sentence) else None


def _swapped(sentence: str, pairs: Sequence[tuple[str, str]], dice: random.Random) -> str | None:
    fits = []
    for old, new in pairs:
        pattern = re.compile(rf"\b{old}\b", re.IGNORECASE)
        if pattern.search(sentence):
            fits.append((pattern, new))
    if not fits:
        return None
    pattern, new = dice.choice(fits)
    changed = re.sub(r"\s+", " ", pattern.sub(new, sentence, count=1)).strip()
    return changed[0].upper() + changed[1:]


TEMPLATES: dict[str, Template] = {
    one.__name__: one
    for one in (pronoun, attribution, conditional, entity, number, unit, quantifier, modality, negation)
}


def _sentences(text: str) -> Iterator[str]:
    for paragraph in text.split("\n"):
        for start, end in split_sentences(paragraph):
            sentence = paragraph[start:end].strip()
            if 6 <= len(sentence.split()) <= 45 and sentence.endswith("."):
                yield sentence


def bases(rows: Sequence[dict[str, str]], dice: random.Random) -> list[Base]:
    """The supported claims and the sentences of their passages, in random order."""
    elsewhere = sorted({name for row in rows for name in _NAME.findall(row["evidence"])})
    found = []
    for row in {row["evidence"]: row for row in rows}.values():
        others = dice.sample(elsewhere, 20)
        found += [Base(one, row["evidence"], others) for one in _sentences(row["evidence"])]
    for row in rows:
        if row["label"] == "supported" and len(list(split_sentences(row["claim"]))) == 1:
            found.append(Base(row["claim"].strip(), row["evidence"], dice.sample(elsewhere, 20)))
    dice.shuffle(found)
    return found


def tables(rows: Sequence[dict[str, str]], dice: random.Random) -> Iterator[dict[str, str]]:
    """Tables of names and numbers of the passages; the invention has the cell of another row or column."""
    for _ in range(A_KIND):
        some = dice.sample(rows, 40)
        names = list(dict.fromkeys(name for row in some for name in _NAME.findall(row["evidence"])[:1]))[:5]
        values = list(dict.fromkeys(one for row in some for one in _NUMBER.findall(row["evidence"])[:6]))
        heads = dice.sample(["Founded", "Population", "Members", "Height (m)", "Goals", "Area (km²)"], 2)
        cells = [dice.sample(values, 2) for _ in names]
        lines = [f"| {name} | {one} | {two} |" for name, (one, two) in zip(names, cells, strict=True)]
        table = "\n".join([f"| Name | {heads[0]} | {heads[1]} |", "|---|---|---|", *lines])
        row, column = dice.randrange(len(names)), dice.randrange(2)
        wrong = cells[(row + 1) % len(names)][column] if dice.random() < 0.5 else cells[row][1 - column]
        claim = f"The {heads[column].lower()} of {names[row]} is {wrong}."
        yield {"kind": "table row", "evidence": table, "claim": claim}


def made(rows: Sequence[dict[str, str]], seed: int) -> Iterator[dict[str, str]]:
    """A_KIND inventions of each kind, at most one of a passage and kind."""
    dice = random.Random(seed)
    every = bases(rows, dice)
    for kind, template in TEMPLATES.items():
        used: set[str] = set()
        for base in every:
            if len(used) == A_KIND or base.evidence in used:
                continue
            claim = template(base, dice)
            # Without its speaker or condition a sentence is a part of the passage.
            is_new = claim and (kind in ("attribution", "conditional") or claim not in base.evidence)
            if claim and is_new and claim != base.sentence:
                used.add(base.evidence)
                yield {"kind": kind, "evidence": base.evidence, "claim": claim}
    yield from tables(rows, dice)


def main() -> None:
    """Write the inventions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with gzip.open(given.folder / "claims_half.jsonl.gz", "rt", encoding="utf-8") as opened:
        rows = [json.loads(line) for line in opened]
    with gzip.open(given.out, "wt", encoding="utf-8") as opened:
        for row in made(rows, given.seed):
            opened.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
