"""What `evidence.verdicts` shows of claims that others labelled: `python -m bench.claims FOLDER`.

FOLDER has `claims_half.jsonl.gz`: rows with `set`, `evidence`, `claim` and `label` (supported, partly, unsupported). A
claim of several sentences has the worst verdict of them. Nobody labelled in these sets whether a hard fact differs, so
they tell how often a true claim is called differing, and that no false one is verbatim.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections import Counter
from pathlib import Path

from websearch_gateway.answers.draft import check
from websearch_gateway.answers.drafted_claims import Claim
from websearch_gateway.answers.prompt_passages import NumberedPassage
from websearch_gateway.base.markdown import split_sentences
from websearch_gateway.evidence.verdicts import findings
from websearch_gateway.models import Source

WORST_FIRST = ("differs", "not_found", "found", "verbatim")


def verdict(claim: str, evidence: str) -> str:
    """The worst verdict of the claim's sentences."""
    sentences = [claim[start:end] for start, end in split_sentences(claim)]
    found = {one.verdict for one in findings(sentences, evidence, "")}
    return next((one for one in WORST_FIRST if one in found), "not_found")


def served(claim: str, evidence: str) -> str:
    """How an answer of an own model gives the claim: in its words (`quoted`), as the page has it, or not at all."""
    passage = NumberedPassage(1, Source("https://source.example/", ""), "", evidence)
    answer = check([Claim(claim)], [passage])
    if not answer.spans:
        return "left out"
    return (
        "quoted"
        if answer.text.startswith(f"{claim} [") and answer.spans[0].support == "quoted"
        else "the page's"
    )


def main() -> None:
    """Print a row for each set and label."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    with gzip.open(
        parser.parse_args().folder / "claims_half.jsonl.gz", "rt", encoding="utf-8"
    ) as file:
        rows = [json.loads(line) for line in file]
    verdicts: dict[tuple[str, str], Counter[str]] = {}
    answers: dict[tuple[str, str], Counter[str]] = {}
    began = time.process_time()
    for row in rows:
        key = (row["set"], row["label"])
        verdicts.setdefault(key, Counter())[verdict(row["claim"], row["evidence"])] += 1
        answers.setdefault(key, Counter())[served(row["claim"], row["evidence"])] += 1
    print(
        "| set | label | claims | verbatim | differs | found | not_found | an answer has the model's words |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (name, label), counts in verdicts.items():
        shown = " | ".join(
            str(counts[one]) for one in ("verbatim", "differs", "found", "not_found")
        )
        print(
            f"| {name} | {label} | {counts.total()} | {shown} | {answers[name, label]['quoted']} |"
        )
    print(f"{1000 * (time.process_time() - began) / len(rows):.1f} ms of CPU per claim")


if __name__ == "__main__":
    main()
