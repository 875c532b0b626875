"""Layers around searchers and answer engines. A layered object has the interface of the inner one, so layers nest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from websearch_gateway.models import Answer, Deadline, SearchQuery, SearchResults
from websearch_gateway.ports import AnswerEngine, Layer, Progress, Searcher

T = TypeVar("T")


def wrapped(layers: Sequence[Callable[[T], T]], bare: T) -> T:
    """`bare` inside all its layers, the outermost first."""
    for layer in reversed(layers):
        bare = layer(bare)
    return bare


@dataclass(frozen=True, slots=True)
class LayeredSearcher:
    """A Searcher behind one layer."""

    searcher: Searcher
    layer: Layer

    @property
    def name(self) -> str:
        """The searcher's name."""
        return self.searcher.name

    async def search(self, query: SearchQuery, deadline: Deadline) -> SearchResults:
        """Search. Raises what the searcher or the layer raises."""
        return await self.layer(lambda: self.searcher.search(query, deadline), deadline)


@dataclass(frozen=True, slots=True)
class LayeredEngine:
    """An AnswerEngine behind one layer."""

    engine: AnswerEngine
    layer: Layer

    @property
    def name(self) -> str:
        """The engine's name."""
        return self.engine.name

    async def answer(self, query: SearchQuery, deadline: Deadline, progress: Progress) -> Answer:
        """Answer. Raises what the engine or the layer raises."""
        return await self.layer(lambda: self.engine.answer(query, deadline, progress), deadline)
