"""How well `text.support` tells supported sentences from others: `python -m bench.claims FOLDER`.

FOLDER has `claims_half.jsonl.gz`: rows with `set`, `evidence`, `claim` and `label`; and, if it is there,
`inventions.jsonl.gz` with `kind` and `heading` besides. A claim of several sentences is kept if all of them are. Plain
word overlap is measured beside it, with the threshold that is best on the other four fifths of the data. With
`--served`, what reaches the reader of an answer: for what nearly copies its source and for what it does not support, a
sentence of the source may stand; only claims that stay in the model's words count as kept.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from websearch_gateway.answers.draft import Claim, NumberedPassage, check
from websearch_gateway.base.markdown import split_sentences
from websearch_gateway.base.tokenization import words
from websearch_gateway.evidence.facts import Quotable, best_quotes
from websearch_gateway.evidence.supporting import is_claim, support
from websearch_gateway.models import Source

FOLDS = 5
_LEAD = re.compile(r"\A\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)")
_ABOUT_PAGE = re.compile(r"^\(meta data\) (?:TITLE|PUBLISHED DATETIME): (.*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*{1,3}")

Row = dict[str, Any]


def _rows(file: Path) -> list[Row]:
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        return [json.loads(line) for line in opened]


def _sentences(claim: str) -> Iterator[str]:
    for start, end in split_sentences(claim):
        sentence = _LEAD.sub("", _EMPHASIS.sub("", claim[start:end])).strip()
        yield sentence


def outcome(row: Row) -> str | None:
    """How the claim is served: `verbatim`, `paraphrase`, or not at all."""
    passage = Quotable.of(row["evidence"], row.get("heading", ""), *_ABOUT_PAGE.findall(row["evidence"]))
    sentences = list(_sentences(row["claim"]))
    claims = [one for one in sentences if is_claim(one)] or sentences
    found = [support(one, best_quotes(one, passage.quotes), passage) for one in claims]
    if not found or None in found:
        return None
    return "verbatim" if set(found) == {"verbatim"} else "paraphrase"


def served(row: Row) -> str | None:
    """How an answer gives the claim: as it is (`verbatim` or `paraphrase`), by a `source` sentence, or not at all."""
    heading = " > ".join((row.get("heading", ""), *_ABOUT_PAGE.findall(row["evidence"])))
    passage = NumberedPassage(1, Source("https://source.example/", ""), heading, row["evidence"])
    claims = [one for one in _sentences(row["claim"]) if is_claim(one)]
    found = []
    for one in claims:
        answer = check([Claim(one)], [passage])
        own = {span.support for span in answer.spans} if answer.text.startswith(f"{one} [") else {"source"}
        found.append("paraphrase" if "paraphrase" in own else own.pop() if answer.spans else None)
    if not found or None in found:
        return None
    return next(how for how in ("paraphrase", "source", "verbatim") if how in found)


def _overlap(row: Row) -> float:
    said, there = words(row["claim"]), frozenset(words(row["evidence"]))
    return sum(word in there for word in said) / max(1, len(said))


def _balanced(kept: Sequence[bool], labels: Sequence[bool]) -> tuple[float, float]:
    """The share of supported claims that are kept, and of the others that are not."""
    held = [one for one, label in zip(kept, labels, strict=True) if label]
    passed = [one for one, label in zip(kept, labels, strict=True) if not label]
    return sum(held) / len(held), 1 - sum(passed) / len(passed)


def _overlap_kept(rows: Sequence[Row], labels: Sequence[bool]) -> list[bool]:
    """What plain overlap keeps in each fold, with the best threshold of the other folds."""
    scores = [_overlap(row) for row in rows]
    groups = sorted({row["evidence"][:200] for row in rows})
    random.Random(1).shuffle(groups)
    fold = {group: place % FOLDS for place, group in enumerate(groups)}
    folds = [fold[row["evidence"][:200]] for row in rows]
    kept = [False] * len(rows)
    for left_out in range(FOLDS):
        known = [place for place in range(len(rows)) if folds[place] != left_out]

        def accuracy(threshold: float, known: list[int] = known) -> float:
            return sum(_balanced([scores[at] >= threshold for at in known], [labels[at] for at in known]))

        best = max(sorted(set(scores)), key=accuracy)
        kept = [scores[at] >= best if folds[at] == left_out else one for at, one in enumerate(kept)]
    return kept


def main() -> None:
    """Print one table per file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--served", action="store_true", help="measure what reaches the reader")
    given = parser.parse_args()
    folder, judge = given.folder, served if given.served else outcome
    rows = _rows(folder / "claims_half.jsonl.gz")
    print("| set | supported kept | others refused | balanced accuracy | of plain overlap | CPU per claim |")
    print("|---|---|---|---|---|---|")
    for name in dict.fromkeys(row["set"] for row in rows):
        own = [row for row in rows if row["set"] == name]
        labels = [row["label"] == "supported" for row in own]
        began = time.process_time()
        found = [judge(row) for row in own]
        kept = [how in ("verbatim", "paraphrase") for how in found]
        spent = (time.process_time() - began) / len(own)
        (held, refused), plain = _balanced(kept, labels), _balanced(_overlap_kept(own, labels), labels)
        others = len(labels) - sum(labels)
        print(
            f"| {name} | {held:.1%} of {sum(labels)} | {refused:.1%} of {others} | {(held + refused) / 2:.3f} "
            f"| {sum(plain) / 2:.3f} ({plain[0]:.0%}, {plain[1]:.0%}) | {1000 * spent:.1f} ms |"
        )
    if (inventions := folder / "inventions.jsonl.gz").exists():
        _print_inventions([(row["kind"], judge(row)) for row in _rows(inventions)])


def _print_inventions(found: Sequence[tuple[str, str | None]]) -> None:
    print("\n| inventions | made | served as verbatim | as paraphrase | the source instead |\n|---|---|---|---|---|")
    by_kind = {kind: [how for one, how in found if one == kind] for kind, _ in found}
    for kind, served in [*by_kind.items(), ("all", [how for _, how in found])]:
        counts = (served.count(how) for how in ("verbatim", "paraphrase", "source"))
        print(f"| {kind} | {len(served)} | {' | '.join(map(str, counts))} |")


if __name__ == "__main__":
    main()
