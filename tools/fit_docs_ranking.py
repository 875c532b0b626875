"""Fits the weights of `docs/section_model.py` on queries whose answers are known, and judges them by sites left out.

    python tools/fit_docs_ranking.py INDEX=QUERIES... [--out FILE]

INDEX is a DATA_DIR with indexed folders; QUERIES has JSON lines `{"q", "kind", "pages"}`. A page is `SITE/PATH`, or
`SITE/PATH#ANCHOR` where a page has many answers; SITE is the name of the indexed site and PATH is relative to its folder.

For each query the features of its first sections go into a softmax: the weights make the sections that answer likely.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import defaultdict
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.docs.search import JudgedSection, Ranker
from websearch_gateway.docs.section_model import Features
from websearch_gateway.settings.loading import load_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = tuple(field.name for field in fields(Features))
PENALTY = 0.3
"""Of the squares of the weights, for features in units of their deviation."""
STEPS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with its first sections: their features, and which of them answer. `before` are definitions of its names,
    which come first in any case."""

    site: str
    kind: str
    features: NDArray[np.float64]
    answers: NDArray[np.bool_]
    before: tuple[bool, ...]


def answers(url: str, pages: list[str], root: str) -> bool:
    """Whether a section is one of the pages, or of their anchors. Texinfo numbers some anchors: `Loops-1`."""
    address, _, fragment = unquote(url).partition("#")
    path = address.removeprefix(root)
    path = f"{path}index.html" if path.endswith("/") else path
    for page in pages:
        expected, _, anchor = page.partition("#")
        expected = f"{expected}index.html" if expected.endswith("/") else expected
        if path == expected and (not anchor or fragment in (anchor, f"{anchor}-1", f"{anchor}-2")):
            return True
    return False


async def asked_of(index: Path, queries: Path) -> list[Asked]:
    """The queries of a file, with what an index has for them."""
    found = []
    lines = (await asyncio.to_thread(queries.read_text, "utf-8")).splitlines()
    async with open_gateway(load_settings(data_dir=index, log_level="ERROR")) as gateway:
        versions = await gateway.docs.searchable()
        root = unquote(versions[0].url).rstrip("/").rpartition("/")[0] + "/"
        ranker = Ranker(gateway.docs.store)
        for line in lines:
            row = json.loads(line)
            query, _ = await ranker.understood(row["q"], versions)
            vector = await gateway.embedder.embed([query.text], "query")
            sections = await ranker.judged(query, vector, versions)
            found.append(_asked(row["kind"], row["pages"], sections, root))
    return found


def _asked(kind: str, pages: list[str], sections: list[JudgedSection], root: str) -> Asked:
    judged = [section for section in sections if section.features is not None]
    definitions = [section for section in sections if section.features is None]
    rows = [astuple(section.features) for section in judged if section.features is not None]
    return Asked(
        site=pages[0].partition("/")[0],
        kind=kind,
        features=np.array(rows, np.float64).reshape(-1, len(NAMES)),
        answers=np.array([answers(section.url, pages, root) for section in judged], np.bool_),
        before=tuple(answers(section.url, pages, root) for section in definitions),
    )


def fitted(queries: list[Asked]) -> NDArray[np.float64]:
    """The weights under which the sections that answer are the likeliest, by Newton's steps."""
    usable = [query for query in queries if query.answers.any() and not query.answers.all()]
    deviation = np.concatenate([query.features for query in usable]).std(axis=0) + 1e-6
    weights = np.zeros(len(NAMES))
    for _ in range(STEPS):
        gradient = PENALTY * weights
        hessian = PENALTY * np.eye(len(NAMES))
        for query in usable:
            features = query.features / deviation
            scores = features @ weights
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            wanted = likely * query.answers / (likely @ query.answers)
            centre = features.T @ likely
            spread = (features * likely[:, None]).T @ features - np.outer(centre, centre)
            gradient += features.T @ (likely - wanted) / len(usable)
            hessian += spread / len(usable)
        step = np.linalg.solve(hessian, gradient)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return weights / deviation


def reciprocal_rank(query: Asked, weights: NDArray[np.float64]) -> float:
    """1 / the place of the first section that answers, 0 if none is among the first."""
    order = np.argsort(-(query.features @ weights), kind="stable")
    in_order = [*query.before, *query.answers[order]]
    return next((1 / place for place, is_answer in enumerate(in_order, 1) if is_answer), 0.0)


def left_out(queries: list[Asked]) -> dict[str, list[float]]:
    """The reciprocal ranks of each site's queries under weights that were fitted without the site, by kind."""
    ranks: defaultdict[str, list[float]] = defaultdict(list)
    for site in sorted({query.site for query in queries}):
        weights = fitted([query for query in queries if query.site != site])
        for query in queries:
            if query.site == site:
                rank = reciprocal_rank(query, weights)
                for key in ("all", f"kind {query.kind}", f"site {site}"):
                    ranks[key].append(rank)
    return ranks


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="INDEX=QUERIES")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    asyncio.run(fit(given.sets, given.out))


async def fit(sets: list[str], out: Path | None) -> None:
    """Fit, print what the weights do on sites left out, and write them."""
    queries: list[Asked] = []
    for pair in sets:
        index, _, file = pair.partition("=")
        queries += await asked_of(Path(index), Path(file))
    ranks = left_out(queries)
    for key in sorted(ranks):
        first = mean(rank == 1 for rank in ranks[key])
        print(f"{key:18} {len(ranks[key]):4} MRR {mean(ranks[key]):.3f} first {first:.3f}")
    weights = {
        name: round(float(weight), 3) for name, weight in zip(NAMES, fitted(queries), strict=True)
    }
    print(weights)
    if out:
        sites = sorted({query.site for query in queries})
        overall = {"queries": len(queries), "mrr_on_sites_left_out": round(mean(ranks["all"]), 3)}
        stored = {"weights": weights, "sites": sites, **overall}
        await asyncio.to_thread(out.write_text, json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
