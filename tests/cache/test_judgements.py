"""What a reader said of a claim beside the same sentences is not paid for twice."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.clock import Clock
from websearch_gateway.cache.judgements import CachedReader
from websearch_gateway.cache.pages import BlobCache
from websearch_gateway.models import Call, Caller, Deadline, Exhibit, Judged, Judgement, SearchQuery
from websearch_gateway.state.memory import MemoryState

SUPPORTED = Judgement("supported", "42 metres")
HEIGHT = Exhibit("It is 42 metres high.", ("The tower is 42 metres high.",))
AGE = Exhibit("It is old.", ("The tower is old.",))
UNREAD = Exhibit("Nobody knows it.", ("It rains.",))


class Reader:
    """Supports each claim except one, of which it writes nothing."""

    name = "reader"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def judge(self, exhibits: Sequence[Exhibit], call: Call) -> Judged:
        self.asked += [exhibit.claim for exhibit in exhibits]
        judgements = [None if exhibit == UNREAD else SUPPORTED for exhibit in exhibits]
        return Judged(judgements, self.name)


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def blobs(state: MemoryState) -> BlobCache:
    return BlobCache(state)


def by(user: str) -> Call:
    return Call.of(SearchQuery("tower"), Deadline.after(60), caller=Caller(user))


async def test_only_what_is_not_stored_is_asked(reader: Reader, blobs: BlobCache) -> None:
    cached = CachedReader(reader, blobs, ttl_seconds=60)
    await cached.judge([HEIGHT], by("me"))
    assert reader.asked == [HEIGHT.claim]
    both = await cached.judge([HEIGHT, AGE], by("you"))
    assert both.judgements == [SUPPORTED, SUPPORTED]
    assert reader.asked == [HEIGHT.claim, AGE.claim]
    await cached.judge([AGE, HEIGHT], by("you"))
    assert reader.asked == [HEIGHT.claim, AGE.claim]


async def test_a_claim_of_which_nothing_was_written_is_asked_again(
    reader: Reader, blobs: BlobCache
) -> None:
    cached = CachedReader(reader, blobs, ttl_seconds=60)
    for _ in range(2):
        assert (await cached.judge([UNREAD], by("me"))).judgements == [None]
    assert reader.asked == [UNREAD.claim] * 2


@pytest.mark.parametrize(("ttl_seconds", "asked"), [(0, 2), (60, 1)])
async def test_a_ttl_of_zero_keeps_no_judgement(
    reader: Reader, blobs: BlobCache, ttl_seconds: float, asked: int
) -> None:
    cached = CachedReader(reader, blobs, ttl_seconds)
    for _ in range(2):
        await cached.judge([HEIGHT], by("me"))
    assert len(reader.asked) == asked


async def test_a_judgement_is_kept_for_its_ttl(
    reader: Reader, blobs: BlobCache, clock: Clock
) -> None:
    cached = CachedReader(reader, blobs, ttl_seconds=60)
    await cached.judge([HEIGHT], by("me"))
    clock.now += 60
    await cached.judge([HEIGHT], by("me"))
    assert len(reader.asked) == 2


async def test_users_share_no_judgement_where_each_has_their_own(
    reader: Reader, blobs: BlobCache
) -> None:
    cached = CachedReader(reader, blobs, ttl_seconds=60, per_user=True)
    for user in ("me", "you", "me"):
        await cached.judge([HEIGHT], by(user))
    assert len(reader.asked) == 2
