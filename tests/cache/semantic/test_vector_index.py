"""The index finds the same items as a comparison with all, and forgets expired and discarded ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.cache.semantic.vector_index import SHORTLIST, VectorIndex

MINE, YOURS, OTHERS = 1, -2, 2**62
FOREVER = 1e12


def unit(seed: int, dimensions: int = 256) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def key(number: int) -> bytes:
    return number.to_bytes(4, "big")


def filled(count: int, most: int = 5_000) -> VectorIndex[int]:
    index: VectorIndex[int] = VectorIndex(256, most)
    for number in range(count):
        index.put(key(number), unit(number), (MINE, OTHERS), FOREVER, number, now=0)
    return index


def found(
    index: VectorIndex[int], vector: np.ndarray, *, least: float = -1.0, most: int = 5, now: float = 1
) -> list[int]:
    return [one.item for one in index.nearest(vector, MINE, least=least, most=most, now=now)]


@pytest.mark.parametrize("count", [0, 1, 50, 3_000])
def test_the_nearest_come_first_with_their_cosines(count: int) -> None:
    index = filled(count)
    asked = unit(7) + 0.5 * unit(8)
    asked /= np.linalg.norm(asked)
    cosines = {number: float(unit(number) @ asked) for number in range(count)}
    best = sorted(cosines, key=lambda number: -cosines[number])[:2]
    neighbours = index.nearest(asked, MINE, least=0.3, most=2, now=1)
    assert [one.item for one in neighbours] == [number for number in best if cosines[number] >= 0.3]
    for one in neighbours:
        assert one.similarity == pytest.approx(cosines[one.item], abs=0.01)
    assert count <= SHORTLIST or neighbours, "the shortlist must hold the best of more than it has room for"


def test_a_vector_is_nearest_to_itself_with_a_similarity_of_at_most_one() -> None:
    (best, *_) = filled(1_000).nearest(unit(500), MINE, least=0.9, most=5, now=1)
    assert best.item == 500
    assert 0.99 < best.similarity <= 1


def test_a_search_sees_only_its_label() -> None:
    index: VectorIndex[str] = VectorIndex(256, 10)
    index.put(b"mine", unit(1), (MINE, OTHERS), FOREVER, "mine", now=0)
    index.put(b"yours", unit(1), (YOURS, OTHERS), FOREVER, "yours", now=0)
    assert [one.item for one in index.nearest(unit(1), MINE, least=0, most=5, now=1)] == ["mine"]
    assert {one.item for one in index.nearest(unit(1), OTHERS, least=0, most=5, now=1)} == {"mine", "yours"}
    assert index.nearest(unit(1), 12345, least=0, most=5, now=1) == []


def test_expired_items_are_not_found_and_are_removed() -> None:
    index: VectorIndex[int] = VectorIndex(256, 10)
    for number in range(4):
        index.put(key(number), unit(1), (MINE, OTHERS), 10.0 + number, number, now=0)
    assert found(index, unit(1), now=11.5) == [2, 3]
    index.put(key(9), unit(1), (MINE, OTHERS), FOREVER, 9, now=12.5)
    assert len(index) == 2
    assert set(found(index, unit(1), now=12.5)) == {3, 9}


def test_an_item_with_the_same_key_replaces_the_old_one() -> None:
    index = filled(3)
    index.put(key(1), unit(77), (MINE, OTHERS), FOREVER, 42, now=1)
    assert len(index) == 3
    assert found(index, unit(77), least=0.9) == [42]
    assert found(index, unit(1), least=0.9) == []


def test_discarded_items_are_gone() -> None:
    index = filled(3)
    index.discard(key(1))
    index.discard(b"never there")
    assert sorted(found(index, unit(1))) == [0, 2]


def test_the_oldest_item_makes_room() -> None:
    index = filled(25, most=10)
    assert len(index) == 10
    assert sorted(found(index, unit(3), most=50)) == list(range(15, 25))
    assert index.nbytes < 10 * 400


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30), st.booleans()), max_size=60))
def test_it_holds_the_same_items_as_a_dictionary(steps: list[tuple[int, int, bool]]) -> None:
    """Items are put, replaced, discarded and expire in any order; with seven places the ring wraps around."""
    index: VectorIndex[int] = VectorIndex(64, 7)
    expected: dict[int, float] = {}
    for now, (number, lifetime, discard) in enumerate(steps):
        if discard:
            index.discard(key(number))
            expected.pop(number, None)
        else:
            index.put(key(number), unit(number, 64), (MINE, OTHERS), now + lifetime, number, now=now)
            expected[number] = now + lifetime
        seen = set(found(index, unit(3, 64), most=99, now=now))
        assert seen <= {one for one, expires in expected.items() if expires > now}
        assert len(index) <= 7
        if number in expected and expected[number] > now and not discard:
            assert number in seen, "what was just put is there"
