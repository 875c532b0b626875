"""Keeps what a reader says of a claim beside the same sentences, so that the same check is paid once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from websearch_gateway.base import adapter
from websearch_gateway.cache.pages import BlobCache
from websearch_gateway.models import Call, Exhibit, Judged, Judgement
from websearch_gateway.ports import ClaimReader

JUDGED = "cache/judged/"
"""The beginning of the state keys."""


@dataclass(frozen=True, slots=True)
class CachedReader:
    """A `ports.ClaimReader` that asks `reader` only for what is not stored. `per_user`: nobody shares an entry."""

    reader: ClaimReader
    stored: BlobCache
    ttl_seconds: float
    per_user: bool = False

    @property
    def name(self) -> str:
        """The name of the reader."""
        return self.reader.name

    async def judge(self, exhibits: Sequence[Exhibit], call: Call) -> Judged:
        """See `ports.ClaimReader`."""
        keys = [self._key(self.name, exhibit, call) for exhibit in exhibits]
        judgements = list(await asyncio.gather(*map(self._load, keys)))
        missing = [place for place, judgement in enumerate(judgements) if judgement is None]
        if not missing:
            return Judged(judgements, self.name)
        fresh = await self.reader.judge([exhibits[place] for place in missing], call)
        for place, judgement in zip(missing, fresh.judgements, strict=True):
            judgements[place] = judgement
            if judgement is not None and self.ttl_seconds > 0:
                key = self._key(fresh.reader, exhibits[place], call)
                record = json.dumps(asdict(judgement)).encode()
                await self.stored.save(key, record, self.ttl_seconds)
        return replace(fresh, judgements=judgements)

    def _key(self, model: str, exhibit: Exhibit, call: Call) -> str:
        user = call.caller.user if self.per_user else ""
        made_of = json.dumps([model, user, exhibit.claim, exhibit.sentences, exhibit.contexts])
        return f"{JUDGED}{hashlib.sha256(made_of.encode('utf-8', 'surrogatepass')).hexdigest()}"

    async def _load(self, key: str) -> Judgement | None:
        record = await self.stored.load(key)
        if not record:
            return None
        try:
            judgement: Judgement = adapter(Judgement).validate_json(record)
        except ValueError:
            return None
        return judgement
