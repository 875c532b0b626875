"""The caches of one process."""

from __future__ import annotations

from websearch_gateway.app.caches import open_caches
from websearch_gateway.embedders.static import StaticEmbedder
from websearch_gateway.settings import Settings
from websearch_gateway.state.memory import MemoryState


async def test_an_index_without_questions_is_cleared_warmed_up_and_closed_too() -> None:
    """A defect once: an empty index has the length 0, and was taken for an absent one."""
    caches = open_caches(Settings(), MemoryState(), StaticEmbedder())
    assert caches.questions is not None
    assert len(caches.questions) == 0
    assert caches.questions in caches.memories()
    await caches.warm_up()
    assert caches.questions._index is not None
    await caches.close()
