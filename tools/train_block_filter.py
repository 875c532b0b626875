"""Trains the block filter of `websearch_gateway.pages.extraction` and measures it on pages that it has not seen.

    python -m tools.train_block_filter FOLDER [--validate]

The folder has the format of `bench/extract.py`. `--validate` leaves out a fifth of the sites in turn, trains on the
rest, makes Markdown of the pages that were left out, and writes nothing (its column CPU counts the judging and writing
alone). Without it both filters are trained on all
pages and written beside the module that loads them, with the number of pages of each kind.

The label of a block is the share of its word triples that occur in the gold text. The label of a block that is too
short for that depends on whether it is a line of the gold text or its neighbours belong to it. Of a page with the lists
`with` and `without` only the blocks that hold one of these texts count. Pages of every length have nearly the same
weight, and those of a rare kind more than those of a frequent one.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import lightgbm
import numpy as np

from bench.extract import Measured, holds, judged, peer_of, report, structure
from websearch_gateway.base import charset_of, decode
from websearch_gateway.pages import rendering
from websearch_gateway.pages.extraction import blocks, page, trees
from websearch_gateway.pages.extraction.choice import blank, chosen
from websearch_gateway.pages.extraction.extract import (
    Clean,
    clean,
    is_bare,
    is_doubtful,
    second_opinion,
    without_extras,
)
from websearch_gateway.pages.extraction.features import Features
from websearch_gateway.pages.extraction.measures import Measures, words_of

FOLDS, SHORT, NEAR = 5, 5, 6
PART = 0.9  # of the word triples of a block in a snippet that spans several blocks
SNIPPETS = 48  # the weight of a page with snippets; a page with gold has 100 and more
HEAVIER = 5
# For each filter; 1: all kinds have the same weight; 0: all pages have.
RARE_KINDS, RARE_ASKED = (
    0.8,
    0.3,
)
MEAN_WEIGHT = 0.35  # what `min_data_in_leaf` and `lambda_l2` were chosen for
PARAMETERS = {
    "objective": "cross_entropy",  # labels between 0 and 1
    "learning_rate": 0.08,
    "num_leaves": 15,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
    "num_threads": 1,
    "seed": 1,
    "verbose": -1,
}
ROUNDS = 120
HIGHEST = 1e30  # above every value of a feature
UNKNOWN = 1e-5  # the weight of a block whose label is not known
FILES = ("block_filter_alone", "block_filter")


@dataclass(frozen=True, slots=True)
class Example:
    """A page, and for each block a label and a weight. `found` is the share of a block that trafilatura chose."""

    about: dict[str, Any]
    html: bytes
    root: Any
    cleaned: Clean
    measures: Measures
    found: Any
    labels: Any
    weights: Any


def examples(folder: Path) -> Iterator[Example]:
    """Every page of the folder that has text."""
    for path in sorted(folder.rglob("*.json")):
        about, html = json.loads(path.read_text("utf-8")), path.with_suffix(".html").read_bytes()
        root = page.parse(decode(html, charset_of(html, "")))
        if root is None:
            continue
        cleaned = clean(root, about["url"])
        if not cleaned.outline.blocks:
            continue
        measures = Measures(cleaned.outline, cleaned.title, cleaned.kind)
        found = measures.share_in("" if cleaned.is_documentation else second_opinion(root))
        tokens = [words_of(block.text) for block in cleaned.outline.blocks]
        labels, weights = (
            by_gold(tokens, about["gold"]) if "gold" in about else by_snippets(tokens, about)
        )
        yield Example(about, html, root, cleaned, measures, found, labels, weights)


def by_snippets(tokens: Sequence[list[str]], about: dict[str, list[str]]) -> tuple[Any, Any]:
    """The labels (0 or 1) and the weights of blocks, given their words and the texts to keep and to leave out."""
    labels, weights = np.zeros(len(tokens)), np.zeros(len(tokens))
    texts = [f" {' '.join(words)} " for words in tokens]
    for label, snippets in ((1, about["with"]), (0, about["without"])):
        for words in map(words_of, snippets):
            held = [at for at, text in enumerate(texts) if holds(text, words)]
            triples = set(zip(words, words[1:], words[2:], strict=False))
            parts = [
                at
                for at, own in enumerate(list(zip(t, t[1:], t[2:], strict=False)) for t in tokens)
                if own and sum(map(triples.__contains__, own)) > PART * len(own)
            ]
            labels[held or parts], weights[held or parts] = label, 1
    return labels, weights * SNIPPETS / max(1, weights.sum())


def by_gold(tokens: Sequence[list[str]], gold: str) -> tuple[Any, Any]:
    """The labels (between 0 and 1) and the weights of blocks, given their words and the gold text."""
    lines = [words_of(line) for line in gold.splitlines()]
    whole, every = {" ".join(line) for line in lines}, [word for line in lines for word in line]
    triples, running = set(zip(every, every[1:], every[2:], strict=False)), f" {' '.join(every)} "
    sure: list[float | None] = []
    for words in tokens:
        own = list(zip(words, words[1:], words[2:], strict=False))
        text = " ".join(words)
        if len(words) >= SHORT:
            sure.append(sum(map(triples.__contains__, own)) / len(own))
        else:
            sure.append(None if words and f" {text} " in running else 0.0)
    labels = np.zeros(len(tokens))
    for at, words in enumerate(tokens):
        known = sure[at]
        if known is not None:
            labels[at] = known
            continue
        before = next((v for v in sure[max(0, at - NEAR) : at][::-1] if v is not None), 0.0)
        after = next((v for v in sure[at + 1 : at + 1 + NEAR] if v is not None), 0.0)
        if " ".join(words) in whole:
            labels[at] = 1.0 if max(before, after) > 0.4 else 0.5
        else:
            labels[at] = float(before + after > 0.8 and max(before, after) > 0.5)
    weights = np.log1p([len(words) for words in tokens])
    return labels, weights * (100 / max(1, weights.sum()) + 0.05) + 1e-6


@dataclass(frozen=True, slots=True)
class Filters:
    """The LightGBM models of both filters."""

    alone: Any
    later: Any

    def likely(self, example: Example) -> Any:
        """How likely each block is, as in `extract`."""
        if is_bare(example.measures):
            return np.ones(len(example.labels))
        alone = self.alone.predict(rows_of(example))
        if not is_doubtful(example.measures, alone, example.cleaned):
            return alone
        return without_extras(
            example.measures, self.later.predict(rows_of(example, alone)), example.found
        )


def filters(pages: Sequence[Example]) -> Filters:
    """Train both filters. The second one sees of each page what the first one says that has not seen its site."""
    rows: list[Any] = []
    asked: list[Example] = []
    for number in range(FOLDS):
        rest = [example for example in pages if _fold(example) != number]
        model = _trained(rest, [rows_of(example) for example in rest], RARE_KINDS)
        for example in pages:
            if _fold(example) == number:
                alone = model.predict(rows_of(example))
                if is_doubtful(example.measures, alone, example.cleaned):
                    rows.append(rows_of(example, alone))
                    # It is asked about pages of prose.
                    heavier = 1 if "gold" in example.about else HEAVIER
                    asked.append(replace(example, weights=example.weights * heavier))
    first = _trained(pages, [rows_of(example) for example in pages], RARE_KINDS)
    return Filters(first, _trained(asked, rows, RARE_ASKED))


def values_of(example: Example, alone: Any = None) -> dict[str, Any]:
    """The features by name for the first filter (`alone` is None) or for the second."""
    features = Features(example.measures)
    return features.alone if alone is None else features.later(alone, example.found)


def rows_of(example: Example, alone: Any = None) -> Any:
    """The features as a table with a row for each block."""
    table = np.empty((len(example.labels), len(values := values_of(example, alone))), np.float32)
    for place, column in enumerate(values.values()):
        table[:, place] = column
    return table


def _trained(pages: Sequence[Example], rows: Sequence[Any], rare_kinds: float) -> Any:
    kinds = Counter(example.about["kind"] for example in pages)
    known = [example.weights > UNKNOWN for example in pages]
    weights = np.concatenate(
        [
            e.weights[part] / kinds[e.about["kind"]] ** rare_kinds
            for e, part in zip(pages, known, strict=True)
        ]
    )
    labels = np.concatenate(
        [example.labels[part] for example, part in zip(pages, known, strict=True)]
    )
    table = np.vstack([row[part] for row, part in zip(rows, known, strict=True)])
    return lightgbm.train(
        PARAMETERS,
        lightgbm.Dataset(table, labels, weight=weights * MEAN_WEIGHT / weights.mean()),
        ROUNDS,
    )


def table_of(model: Any, names: Sequence[str]) -> dict[str, Any]:
    """The model that `trees.load` reads: used features, rounded numbers, all trees padded to the same size."""
    table: dict[str, Any] = {
        "features": [],
        "feature": [],
        "threshold": [],
        "left": [],
        "value": [],
    }
    for tree in model.dump_model()["tree_info"]:
        questions: list[tuple[int, float, int]] = []
        values: list[float] = []
        _flatten(tree["tree_structure"], questions, values)
        questions += [(0, HIGHEST, 0)] * (PARAMETERS["num_leaves"] - 1 - len(questions))
        values += [0.0] * (PARAMETERS["num_leaves"] - len(values))
        for key, column in zip(
            ("feature", "threshold", "left"), zip(*questions, strict=True), strict=True
        ):
            table[key].append(column)
        table["value"].append(values)
    used = sorted({column for columns in table["feature"] for column in columns})
    places = {column: place for place, column in enumerate(used)}
    table["features"] = [names[column] for column in used]
    table["feature"] = [[places[column] for column in columns] for columns in table["feature"]]
    return table


def _flatten(
    node: dict[str, Any], questions: list[tuple[int, float, int]], values: list[float]
) -> int:
    """Add the questions and the leaves below `node`, from left to right. Returns those leaves as bits."""
    if "leaf_value" in node:
        values.append(float(f"{node['leaf_value']:.5g}"))
        return 1 << (len(values) - 1)
    place = len(questions)
    questions.append((0, 0.0, 0))
    left = _flatten(node["left_child"], questions, values)
    questions[place] = (node["split_feature"], float(f"{node['threshold']:.6g}"), left)
    return left | _flatten(node["right_child"], questions, values)


def validated(pages: Sequence[Example]) -> Iterator[Measured]:
    """The measures of each page, with filters that have not seen its site."""
    for number in range(FOLDS):
        seen = filters([example for example in pages if _fold(example) != number])
        for example in pages:
            if _fold(example) == number:
                yield measured(example, seen.likely(example))


def _fold(example: Example) -> int:
    """The pages of a site and of its subdomains are in one fold."""
    site = ".".join((urlsplit(example.about["url"]).hostname or "").split(".")[-2:])
    return zlib.crc32(site.encode()) % FOLDS


def measured(example: Example, likely: Any) -> Measured:
    """The measures of one page, processed as in `extract`."""
    root, about = deepcopy(example.root), example.about
    started = time.process_time()
    blank(
        blocks.outline(root),
        chosen(example.measures, likely, once=not example.cleaned.is_documentation),
    )
    markdown, _ = rendering.with_anchors(root, example.cleaned.base)
    seconds = time.process_time() - started
    counted = structure(example.html, markdown) if about["kind"] == "documentation" else {}
    peer = peer_of(example.html, about)
    return Measured(about["kind"], *judged(about, markdown), seconds, counted, peer)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args()
    pages = list(examples(arguments.folder))
    if arguments.validate:
        print(report(validated(pages)))
        return
    write(filters(pages), pages, Path(trees.__file__).parent)


def write(both: Filters, pages: Sequence[Example], folder: Path) -> None:
    """Write both filters with what they were trained on."""
    kinds = Counter(example.about["kind"] for example in pages)
    alone = np.zeros(len(pages[0].labels))
    names = (values_of(pages[0]), values_of(pages[0], alone))
    for name, model, columns in zip(FILES, (both.alone, both.later), names, strict=True):
        table = {"pages": dict(sorted(kinds.items())), **table_of(model, list(columns))}
        text = json.dumps(table, separators=(",", ":"))
        (folder / f"{name}.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
