"""The trainer of the block filter works with the features as they are, and what it writes decides as LightGBM does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.extract import report
from tools import train_block_filter as trainer
from websearch_gateway.pages.extraction import trees

SITES = 30
LEAST_PROSE = 20
TEXT = "the ferry carried ropes tar oak barrels and two patient mules over a slow brown river"
WORDS = TEXT.split()


def sentence(seed: int, length: int) -> str:
    random = np.random.default_rng(seed)
    return f"{' '.join(random.choice(WORDS, length)).capitalize()}."


def write_page(folder: Path, number: int) -> None:
    """A page of prose between menus; every third declares itself an article, and every fifth has only snippets."""
    paragraphs = [sentence(100 * number + part, LEAST_PROSE + part) for part in range(6)]
    menu = "".join(f"<li><a href='/{word}'>About {word}</a></li>" for word in WORDS)
    article = "<meta property='og:type' content='article'>" if number % 3 == 0 else ""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    html = (
        f"<html><head><title>River {number}</title>{article}</head><body><nav><ul>{menu}</ul></nav>"
        f"<div class='text'><h1>River {number}</h1>{text}</div><footer><p>All rights reserved {number}.</p>"
        f"<ul class='related'>{menu}</ul></footer></body></html>"
    )
    about = {"url": f"https://site{number}.example/river", "kind": ("article", "forum")[number % 2]}
    if number % 5 == 0:
        about |= {"with": paragraphs[1:3], "without": ["All rights reserved"]}
    else:
        about |= {"gold": "\n".join([f"River {number}", *paragraphs])}
    (folder / f"{number}.html").write_text(html, "utf-8")
    (folder / f"{number}.json").write_text(json.dumps(about), "utf-8")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[trainer.Example]:
    folder = tmp_path_factory.mktemp("pages")
    for number in range(SITES):
        write_page(folder, number)
    return list(trainer.examples(folder))


@pytest.fixture(scope="module")
def both(pages: list[trainer.Example]) -> trainer.Filters:
    return trainer.filters(pages)


def test_prose_is_labelled_as_text_and_menus_are_not(pages: list[trainer.Example]) -> None:
    for example in pages:
        is_prose = example.measures.words >= LEAST_PROSE
        is_counted = example.weights > trainer.UNKNOWN
        assert example.labels[is_prose & is_counted].tolist() == [1] * (
            2 if "with" in example.about else 6
        )
        assert max(example.labels[example.measures.link_share > 0]) == 0


def test_the_filter_learns_to_tell_prose_from_menus(
    pages: list[trainer.Example], both: trainer.Filters
) -> None:
    measured = [trainer.measured(example, both.likely(example)) for example in pages]
    assert min(page.recall for page in measured) > 0.9
    assert min(page.precision for page in measured) > 0.9
    assert "article" in report(measured)


def test_sites_left_out_are_measured_by_filters_that_have_not_seen_them(
    pages: list[trainer.Example],
) -> None:
    measured = list(trainer.validated(pages))
    assert len(measured) == SITES
    assert sum(page.f1 for page in measured) / SITES > 0.8


def test_a_site_and_its_subdomains_are_left_out_together(pages: list[trainer.Example]) -> None:
    folds = set()
    for host in ("forum.example", "www.forum.example", "a.b.forum.example"):
        example = trainer.replace(pages[0], about={"url": f"https://{host}/t/1"})
        folds.add(trainer._fold(example))
    assert len(folds) == 1


def test_what_is_written_decides_as_the_trained_model_and_names_its_pages(
    pages: list[trainer.Example],
    both: trainer.Filters,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trainer.write(both, pages, tmp_path)
    file = json.loads((tmp_path / "block_filter_alone.json").read_text("utf-8"))
    assert file["pages"] == {"article": 15, "forum": 15}
    monkeypatch.setattr(trees.resources, "files", lambda package: tmp_path)
    written = trees.load.__wrapped__("block_filter_alone")
    for example in pages[:5]:
        columns = trainer.values_of(example)
        assert written.probabilities(columns, len(example.labels)) == pytest.approx(
            both.alone.predict(trainer.rows_of(example)), abs=0.001
        )
