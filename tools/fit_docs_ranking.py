"""Fits the weights of `docs/search/model.py` on queries whose answers are known, and judges them by sites left out.

    python tools/fit_docs_ranking.py INDEX=QUERIES... [--blind INDEX=QUERIES]... [--out FILE]

INDEX is a DATA_DIR with indexed folders; QUERIES has JSON lines `{"q", "kind", "pages"}`. A page is `SITE/PATH`, or
`SITE/PATH#ANCHOR` where a page has many answers; SITE is the name of the indexed site and PATH is relative to its folder.
Blind queries are only judged. To fit, each query is also asked with the name of its site.

The best section of each of the first pages goes into a softmax: the weights make the sections that answer likely. Which
section of a page is its best depends on the weights, so both are found in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np

from websearch_gateway.app.gateway import open_gateway
from websearch_gateway.docs.search.features import PageFeatures, SectionFeatures
from websearch_gateway.docs.search.model import Weights, score
from websearch_gateway.docs.search.ranker import MOST_READ, Ranker, ReadPage
from websearch_gateway.settings.loading import load_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

PENALTY = 0.1
"""Of the squares of the weights, for features in units of their deviation."""
STEPS = 15
TURNS = 3
MOST_COMPARED = 12
"""The first pages that are compared to fit the weights: more than a search reads, so that it reads the right ones."""
MOST_JUDGED = 20
MOST_RESULTS = 10
PAGE_FEATURES = len(PageFeatures._fields)
START = Weights(
    PageFeatures(1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
    SectionFeatures(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
)


@dataclass(frozen=True, slots=True)
class LabelledQuery:
    """A query with its first pages, and whether each of their sections answers."""

    site: str
    kind: str
    pages: Sequence[ReadPage]
    answers: Mapping[int, bool]
    """By the `id` of the section."""
    names_site: bool

    def is_answered_by(self, page: ReadPage) -> bool:
        """Whether the section that a page is shown by answers."""
        return self.answers[id(page.best.section)]


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


async def labelled(index: Path, queries: Path) -> list[LabelledQuery]:
    """The queries of a file, with what an index has for them."""
    found = []
    lines = (await asyncio.to_thread(queries.read_text, "utf-8")).splitlines()
    async with open_gateway(load_settings(data_dir=index, log_level="ERROR")) as gateway:
        versions = await gateway.docs.searchable()
        root = unquote(versions[0].url).rstrip("/").rpartition("/")[0] + "/"
        ranker = Ranker(gateway.docs.store)
        for line in lines:
            row = json.loads(line)
            site = row["pages"][0].partition("/")[0]
            for text in (row["q"], f"{site} {row['q']}"):
                query, _ = await ranker.understood(text, versions)
                vector = await gateway.embedder.embed([query.text], "query")
                pages = await ranker.read_pages(query, vector, versions, MOST_JUDGED)
                held = {
                    id(ranked.section): answers(page.url(ranked.section), row["pages"], root)
                    for page in pages
                    for ranked in page.sections
                }
                names_site = text != row["q"]
                found.append(LabelledQuery(site, row["kind"], pages, held, names_site))
    return found


def ordered(query: LabelledQuery, weights: Weights) -> list[ReadPage]:
    """The pages in the order of their own features under these weights, each with its best section."""
    pages = [rescored(page, weights) for page in query.pages]
    return sorted(pages, key=lambda read: (-read.page.best.names, -read.page.best.score))


def rescored(read: ReadPage, weights: Weights) -> ReadPage:
    """A page under other weights."""
    best = read.page.best
    page = replace(read.page, best=replace(best, score=score(best.features, weights.page)))
    sections = [
        replace(ranked, score=score(ranked.features, weights.section)) for ranked in read.sections
    ]
    return ReadPage.of(page, sections)


def fitted(queries: Sequence[LabelledQuery]) -> Weights:
    """The weights under which the sections that answer are the likeliest."""
    weights = START
    for _ in range(TURNS):
        compared = []
        for query in queries:
            first = ordered(query, weights)[:MOST_COMPARED]
            alike = [read for read in first if read.page.best.names == first[0].page.best.names]
            rows = np.array([(*read.page.best.features, *read.best.features) for read in alike])
            held = np.array([query.is_answered_by(read) for read in alike])
            if held.any() and not held.all():
                compared.append((rows, held))
        likely = [float(weight) for weight in likeliest(compared)]
        weights = Weights(
            PageFeatures(*likely[:PAGE_FEATURES]), SectionFeatures(*likely[PAGE_FEATURES:])
        )
    return weights


def likeliest(
    compared: Sequence[tuple[NDArray[np.float64], NDArray[np.bool_]]],
) -> NDArray[np.float64]:
    """Newton's steps to the weights under which a softmax gives the rows that answer the most."""
    deviation = np.concatenate([rows for rows, _ in compared]).std(axis=0) + 1e-6
    size = len(deviation)
    weights = np.zeros(size)
    for _ in range(STEPS):
        gradient = PENALTY * weights
        hessian = PENALTY * np.eye(size)
        for rows, held in compared:
            features = rows / deviation
            points = features @ weights
            likely = np.exp(points - points.max())
            likely /= likely.sum()
            wanted = likely * held / (likely @ held)
            centre = features.T @ likely
            spread = (features * likely[:, None]).T @ features - np.outer(centre, centre)
            gradient += features.T @ (likely - wanted) / len(compared)
            hessian += spread / len(compared)
        weights -= np.linalg.solve(hessian, gradient)
    return weights / deviation


def reciprocal_rank(query: LabelledQuery, weights: Weights) -> float:
    """1 / the place of the first page whose section answers, 0 if none is among the first."""
    pages = ordered(query, weights)
    read = sorted(pages[:MOST_READ], key=lambda page: page.place)
    first = [*read, *pages[MOST_READ:]][:MOST_RESULTS]
    places = (place for place, page in enumerate(first, 1) if query.is_answered_by(page))
    return 1 / next(places, float("inf"))


def left_out(queries: Sequence[LabelledQuery]) -> list[float]:
    """The reciprocal rank of each query under weights that were fitted without its site."""
    weights = {
        site: fitted([query for query in queries if query.site != site])
        for site in {query.site for query in queries}
    }
    return [reciprocal_rank(query, weights[query.site]) for query in queries]


def as_written(queries: Sequence[LabelledQuery], ranks: Sequence[float]) -> dict[str, list[float]]:
    """The ranks by kind and by site; apart from them those of the queries with the name of their site."""
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for query, rank in zip(queries, ranks, strict=True):
        if query.names_site:
            groups["with its site"].append(rank)
            continue
        for key in ("all", f"kind {query.kind}", f"site {query.site}"):
            groups[key].append(rank)
    return groups


def print_table(title: str, groups: Mapping[str, Sequence[float]]) -> None:
    """The mean reciprocal rank and the share of first places."""
    print(title)
    for key, ranks in sorted(groups.items()):
        first = mean(rank == 1 for rank in ranks)
        print(f"{key:18} {len(ranks):4} MRR {mean(ranks):.3f} first {first:.3f}")


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="+", metavar="INDEX=QUERIES")
    parser.add_argument("--blind", nargs="+", default=[], metavar="INDEX=QUERIES")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    asyncio.run(fit(given.sets, given.blind, given.out))


async def fit(sets: Sequence[str], blind: Sequence[str], out: Path | None) -> None:
    """Fit, print what the weights do on sites left out, and write them."""
    queries = await queries_of(sets)
    groups = as_written(queries, left_out(queries))
    print_table("sites left out", groups)
    weights = fitted(queries)
    if blind:
        others = await queries_of(blind)
        ranks = [reciprocal_rank(asked, weights) for asked in others]
        print_table("blind", as_written(others, ranks))
    stored = {
        "weights": {
            "page": _rounded(weights.page._asdict()),
            "section": _rounded(weights.section._asdict()),
        },
        "sites": sorted({query.site for query in queries}),
        "queries": len(groups["all"]),
        "mrr_on_sites_left_out": round(mean(groups["all"]), 3),
    }
    print(json.dumps(stored, indent=2))
    if out:
        await asyncio.to_thread(out.write_text, json.dumps(stored, indent=2) + "\n", "utf-8")


async def queries_of(sets: Sequence[str]) -> list[LabelledQuery]:
    """The queries of all sets."""
    queries: list[LabelledQuery] = []
    for pair in sets:
        index, _, file = pair.partition("=")
        queries += await labelled(Path(index), Path(file))
    return queries


def _rounded(weights: Mapping[str, float]) -> dict[str, float]:
    return {name: round(weight, 3) for name, weight in weights.items()}


if __name__ == "__main__":
    main()
