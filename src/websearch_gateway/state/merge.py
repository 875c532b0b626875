"""Several sorted streams as one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from websearch_gateway.models import StateEntry


async def merged(streams: Sequence[AsyncIterator[StateEntry]]) -> AsyncIterator[StateEntry]:
    """The entries of all streams in key order; each stream must be in that order itself. No key is in two of them."""
    heads = {index: entry for index, stream in enumerate(streams) if (entry := await anext(stream, None)) is not None}
    while heads:
        first = min(heads, key=lambda index: heads[index].key)
        yield heads[first]
        if (following := await anext(streams[first], None)) is None:
            del heads[first]
        else:
            heads[first] = following
