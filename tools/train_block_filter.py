"""Trains the block filter of `websearch_gateway.readers.extraction` and measures it on pages that it has not seen.

    pip install lightgbm
    python -m tools.train_block_filter FOLDER [--validate]

The folder has the format of `bench/extract.py`. `--validate` leaves out a fifth of the sites in turn, trains on the
rest, makes Markdown of the pages that were left out, and writes nothing. Without it both filters are trained on all
pages and written beside the module that loads them.

The label of a block is the share of its word triples that occur in the gold text. The label of a block that is too
short for that depends on whether it is a line of the gold text or its neighbours belong to it. Of a page with the lists
`with` and `without` only the blocks that hold one of these texts count. Pages of every length have nearly the same
weight, and those of a rare kind more than those of a frequent one.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import lightgbm
import numpy as np

from bench.extract import Measured, judged, report, structure
from websearch_gateway.net.bodies import charset_of, decode
from websearch_gateway.readers.extraction import blocks, features, page, render
from websearch_gateway.readers.extraction.blocks import Measures, words_of
from websearch_gateway.readers.extraction.extract import (
    Clean,
    blank,
    chosen,
    clean,
    doubted,
    is_doubtful,
    is_large,
    second_opinion,
    write_off,
)
from websearch_gateway.readers.extraction.features import columns, matrix

FOLDS, SHORT, NEAR = 5, 5, 6
PART = 0.9  # of the word triples of a block in a snippet that spans several blocks
SNIPPETS = 48  # the weight of a page with snippets; a page with gold has 100 and more
RARE_KINDS = 0.8  # 1: all kinds have the same weight; 0: all pages have
MEAN_WEIGHT = 0.35  # what `min_data_in_leaf` and `lambda_l2` were chosen for
PARAMETERS = {
    "objective": "cross_entropy",  # labels between 0 and 1
    "learning_rate": 0.06,
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
ROUNDS = 160
HIGHEST = 1e30  # above every value of a feature


@dataclass(frozen=True, slots=True)
class Example:
    """A page: its features with and without those from trafilatura, and for each block a label and a weight.

    `asks`: trafilatura is fast enough to be asked. `measures` are compared with the text that trafilatura chose.
    """

    about: dict[str, Any]
    html: bytes
    root: Any
    cleaned: Clean
    asks: bool
    measures: Measures
    names: tuple[str, ...]
    rows: dict[str, Any]
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
        outline = cleaned.outline
        if not outline.blocks:
            continue
        measures, asks = Measures(outline, cleaned.title), not is_large(root, outline)
        opinion = second_opinion(root) if asks else ""
        names = tuple(columns(measures, opinion))
        rows = {"block_filter_alone": matrix(measures, ""), "block_filter": matrix(measures, opinion)}
        tokens = [words_of(block.text) for block in outline.blocks]
        labels, weights = by_gold(tokens, about["gold"]) if "gold" in about else by_snippets(tokens, about)
        yield Example(about, html, root, cleaned, asks, measures, names, rows, labels, weights)


def by_snippets(tokens: Sequence[list[str]], about: dict[str, list[str]]) -> tuple[Any, Any]:
    """The labels (0 or 1) and the weights of blocks, given their words and the texts to keep and to leave out."""
    labels, weights = np.zeros(len(tokens)), np.zeros(len(tokens))
    texts = [f" {' '.join(words)} " for words in tokens]
    for label, snippets in ((1, about["with"]), (0, about["without"])):
        for words in map(words_of, snippets):
            held = [at for at, text in enumerate(texts) if f" {' '.join(words)} " in text]
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


def trained(pages: Sequence[Example], name: str) -> Any:
    """A LightGBM model of the filter `name`."""
    kinds = Counter(example.about["kind"] for example in pages)
    rows = np.vstack([example.rows[name] for example in pages])
    labels = np.concatenate([example.labels for example in pages])
    weights = np.concatenate([example.weights / kinds[example.about["kind"]] ** RARE_KINDS for example in pages])
    return lightgbm.train(
        PARAMETERS, lightgbm.Dataset(rows, labels, weight=weights * MEAN_WEIGHT / weights.mean()), ROUNDS
    )


def table_of(model: Any, names: Sequence[str]) -> dict[str, Any]:
    """The model in the form that `trees.load` reads, numbers rounded, all trees padded to the same size."""
    table: dict[str, Any] = {"features": list(names), "feature": [], "threshold": [], "left": [], "value": []}
    for tree in model.dump_model()["tree_info"]:
        questions: list[tuple[int, float, int]] = []
        values: list[float] = []
        _flatten(tree["tree_structure"], questions, values)
        questions += [(0, HIGHEST, 0)] * (PARAMETERS["num_leaves"] - 1 - len(questions))
        values += [0.0] * (PARAMETERS["num_leaves"] - len(values))
        for key, column in zip(("feature", "threshold", "left"), zip(*questions, strict=True), strict=True):
            table[key].append(column)
        table["value"].append(values)
    return table


def _flatten(node: dict[str, Any], questions: list[tuple[int, float, int]], values: list[float]) -> int:
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
        seen = [example for example in pages if _fold(example) != number]
        alone, asking = trained(seen, "block_filter_alone"), trained(seen, "block_filter")
        for example in (example for example in pages if _fold(example) == number):
            likely = alone.predict(example.rows["block_filter_alone"])
            is_article = example.cleaned.is_article
            if example.asks and is_doubtful(example.measures, likely, is_article=is_article):
                asked = asking.predict(example.rows["block_filter"])
                likely = doubted(example.measures, likely, asked, is_article=is_article)
            yield measured(example, likely)


def _fold(example: Example) -> int:
    """The pages of a site and of its subdomains are in one fold."""
    site = ".".join((urlsplit(example.about["url"]).hostname or "").split(".")[-2:])
    return zlib.crc32(site.encode()) % FOLDS


def measured(example: Example, likely: Any) -> Measured:
    """The measures of one page, processed as in `extract`."""
    root, about = deepcopy(example.root), example.about
    outline = blocks.outline(root)
    write_off(outline, likely)
    blank(outline, chosen(outline, likely))
    markdown = render.to_markdown(root, example.cleaned.base)
    counted = structure(example.html, markdown) if about["kind"] == "documentation" else {}
    return Measured(about["kind"], *judged(about, markdown), 1.0, counted)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--validate", action="store_true")
    arguments = parser.parse_args()
    pages = list(examples(arguments.folder))
    if arguments.validate:
        print(report(validated(pages)))
        return
    for name in ("block_filter", "block_filter_alone"):
        table = table_of(trained(pages, name), pages[0].names)
        path = Path(features.__file__).with_name(f"{name}.json")
        path.write_text(json.dumps(table, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    main()
