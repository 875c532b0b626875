"""Packed ids unpack exactly, and packed vectors within their promised error."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.store.database import pack_ids, pack_vectors, unpack_ids, unpack_vectors


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_unpacked_ids_are_sorted_and_distinct(ids: list[int]) -> None:
    assert unpack_ids(pack_ids(ids)) == sorted(set(ids))


def test_none_unpacks_to_no_ids() -> None:
    assert unpack_ids(None) == []


def test_a_number_errs_by_less_than_a_254th_of_the_largest_in_its_row() -> None:
    vectors = np.random.default_rng(7).normal(size=(20, 16)).astype(np.float32)
    scales, numbers = unpack_vectors(pack_vectors(vectors), 16)
    errors = np.abs(numbers * scales[:, None] - vectors).max(axis=1)
    assert (errors <= np.abs(vectors).max(axis=1) / 253).all()


def test_a_row_of_zeros_and_an_empty_array_stay_the_same() -> None:
    scales, numbers = unpack_vectors(pack_vectors(np.zeros((2, 3), np.float32)), 3)
    assert (scales.tolist(), numbers.tolist()) == ([0, 0], [[0, 0, 0], [0, 0, 0]])
    assert unpack_vectors(pack_vectors(np.zeros((0, 3), np.float32)), 3)[1].shape == (0, 3)
