"""The interfaces between the pipeline and its adapters.

A composite has the interface of its parts, so they nest. A change here changes every adapter and its contract suite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from websearch_gateway.ports.embedder import Embedder
from websearch_gateway.ports.pages import Reader, Workers
from websearch_gateway.ports.state import BoundedState, SparedState, State, problem_of
from websearch_gateway.ports.upstreams import (
    AnswerEngine,
    Composer,
    Gather,
    HostedEngine,
    Layer,
    Progress,
    Provider,
    Searcher,
    no_progress,
)

if TYPE_CHECKING:
    from websearch_gateway.ports.embedder import Vectors as Vectors

__all__ = [
    "AnswerEngine",
    "BoundedState",
    "Composer",
    "Embedder",
    "Gather",
    "HostedEngine",
    "Layer",
    "Progress",
    "Provider",
    "Reader",
    "Searcher",
    "SparedState",
    "State",
    "Workers",
    "no_progress",
    "problem_of",
]
