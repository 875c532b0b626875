from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest

from tests.products import Noted
from websearch_gateway.cache.pages import (
    BLOCK_ROWS,
    TOO_SLOW,
    UNKNOWN_SCRIPT,
    UNRELATED,
    Similarity,
    Subject,
)
from websearch_gateway.errors import SearchProviderError
from websearch_gateway.evidence.embedders.local import StaticEmbedder
from websearch_gateway.models import Call

TEXTS = {
    "tides": "The Moon pulls on the sea, and the water rises twice a day.",
    "bread": "Knead the dough for ten minutes and let it rest in the warm kitchen.",
}
QUERY = "Why does the ocean rise and fall?"


class Shifted(StaticEmbedder):
    """The built-in model, with a shift common to all vectors, as in many larger models."""

    def __init__(self, lean: float) -> None:
        self.lean = lean

    def encode(self, texts: Sequence[str]) -> Any:
        rows = super().encode(texts)
        rows[rows.any(axis=1)] += self.lean
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


class Failing(StaticEmbedder):
    """Embeds documents, never queries."""

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Any:
        if kind == "query":
            raise SearchProviderError("ollama/x answered with HTTP 429.")
        return self.encode(texts)


class Hanging(StaticEmbedder):
    """Counts its callers and never answers."""

    def __init__(self) -> None:
        self.calls = 0

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Any:
        self.calls += 1
        await asyncio.Event().wait()


def similarity(embedder: StaticEmbedder) -> Similarity:
    return Similarity(embedder)


def subject() -> Subject:
    return Subject(TEXTS)


def soon() -> Call:
    return Call.after(60)


async def test_related_texts_are_above_zero_and_unrelated_texts_near_zero() -> None:
    found = (await similarity(StaticEmbedder()).compare(subject(), [QUERY], soon())).similarities[
        QUERY
    ]
    assert 0.3 < found["tides"] <= 1
    assert abs(found["bread"]) < 0.15


@pytest.mark.parametrize("lean", [0.02, 0.06])
async def test_a_shift_common_to_all_vectors_does_not_count(lean: float) -> None:
    plain = (await similarity(StaticEmbedder()).compare(subject(), [QUERY], soon())).similarities[
        QUERY
    ]
    found = (await similarity(Shifted(lean)).compare(subject(), [QUERY], soon())).similarities[
        QUERY
    ]
    assert found["tides"] == pytest.approx(plain["tides"], abs=0.1)
    assert abs(found["bread"]) < 0.2


async def test_an_embedder_that_cannot_tell_texts_apart_compares_nothing() -> None:
    found = await similarity(Shifted(50.0)).compare(subject(), [QUERY], soon())
    assert found.similarities == {QUERY: {}}


async def test_an_empty_text_is_similar_to_nothing() -> None:
    blank = Subject({**TEXTS, "blank": " "})
    found = await similarity(StaticEmbedder()).compare(blank, [QUERY], soon())
    assert found.similarities[QUERY].keys() == TEXTS.keys()


async def test_each_query_is_compared_once_and_only_in_scripts_that_the_model_knows() -> None:
    found = await similarity(StaticEmbedder()).compare(subject(), [QUERY, "潮汐", QUERY], soon())
    assert list(found.similarities) == [QUERY]
    assert found.fault == UNKNOWN_SCRIPT
    assert (
        await similarity(StaticEmbedder()).compare(subject(), [], soon())
    ).fault == UNKNOWN_SCRIPT


async def test_a_failure_is_reported_without_its_full_stop_and_compares_nothing() -> None:
    found = await similarity(Failing()).compare(subject(), [QUERY], soon())
    assert (found.similarities, found.fault) == ({}, "ollama/x answered with HTTP 429")


async def test_without_time_the_comparison_is_empty_and_names_a_fault() -> None:
    found = await similarity(Failing()).compare(subject(), [QUERY], Call.after(0))
    assert found.similarities == {}
    assert found.fault in (TOO_SLOW, "ollama/x answered with HTTP 429")


class Noting(StaticEmbedder):
    """The built-in model, whose query vectors record the number of rows in each of their products."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Any:
        rows = self.encode(texts)
        return Noted.of(rows, self.rows) if kind == "query" else rows


async def test_a_comparison_multiplies_all_rows_but_at_most_1024_at_once() -> None:
    """Larger products make OpenBLAS start threads, which take many times as long."""
    embedder, count = Noting(), 2 * BLOCK_ROWS + 7
    many = Subject({str(number): f"tide number {number}" for number in range(count)})
    found = (await similarity(embedder).compare(many, [QUERY], soon())).similarities[QUERY]
    assert len(found) == count
    assert max(embedder.rows) == BLOCK_ROWS == 1_024
    assert sum(embedder.rows) == count + len(UNRELATED)


class Batches(StaticEmbedder):
    """Notes how many passages each call embeds."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    async def embed(
        self, texts: Sequence[str], kind: Literal["query", "document"], call: Call | None = None
    ) -> Any:
        self.sizes.append(len(texts))
        return self.encode(texts)


async def test_sixty_four_passages_are_embedded_at_once() -> None:
    embedder = Batches()
    many = Subject({str(number): f"tide number {number}" for number in range(130)})
    await similarity(embedder).compare(many, [QUERY], soon())
    assert embedder.sizes == [len(UNRELATED), 1, 64, 64, 2]


class Leaning(StaticEmbedder):
    """Gives unrelated texts this similarity to all others."""

    def __init__(self, unrelated: float) -> None:
        self.unrelated = unrelated

    def encode(self, texts: Sequence[str]) -> Any:
        lean = [self.unrelated if text in UNRELATED else 1.0 for text in texts]
        return np.array([[cosine, (1 - cosine**2) ** 0.5] for cosine in lean], np.float32)


@pytest.mark.parametrize(("unrelated", "is_compared"), [(0.94, True), (0.96, False)])
async def test_an_embedder_to_which_unrelated_texts_are_nearly_the_same_compares_nothing(
    unrelated: float, is_compared: bool
) -> None:
    found = await similarity(Leaning(unrelated)).compare(subject(), [QUERY], soon())
    assert bool(found.similarities[QUERY]) is is_compared


def test_the_unrelated_sentences_are_unrelated_to_each_other() -> None:
    rows = StaticEmbedder().encode(UNRELATED)
    others = (rows @ rows.T)[~np.eye(len(rows), dtype=bool)]
    assert float(others.mean()) < 0.1


async def test_an_embedder_that_hangs_is_not_called_for_a_while() -> None:
    embedder, now = Hanging(), [100.0]
    patient = Similarity(embedder, clock=lambda: now[0])
    for _ in range(3):
        found = await patient.compare(subject(), [QUERY], Call.after(0.5))
        assert (found.similarities, found.fault) == ({}, TOO_SLOW)
    assert embedder.calls == 1
    now[0] += 29
    await patient.compare(subject(), [QUERY], Call.after(0.5))
    assert embedder.calls == 1
    now[0] += 1
    await patient.compare(subject(), [QUERY], Call.after(0.5))
    assert embedder.calls == 2
