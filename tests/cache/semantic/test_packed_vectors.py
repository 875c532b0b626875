"""Vectors come back from the state unchanged, or not at all."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from websearch_gateway.cache.semantic.packed_vectors import pack, unpack, vectors_key

UNIT = arrays.arrays(np.float32, (5, 8), elements=st.floats(-1, 1, width=32)).filter(
    lambda rows: (np.linalg.norm(rows, axis=1) > 0.1).all()
)


@given(UNIT)
def test_vectors_survive_packing(rows: np.ndarray) -> None:
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kept = unpack(pack("static/1", list("abcde"), unit), "static/1", 8)
    assert list(kept) == list("abcde")
    assert all(kept[one] @ vector > 0.999 for one, vector in zip("abcde", unit, strict=True))


def test_the_zero_vector_stays_zero() -> None:
    kept = unpack(pack("static/1", ["a"], np.zeros((1, 4), np.float32)), "static/1", 4)
    assert not kept["a"].any()


@pytest.mark.parametrize(("embedder", "dimensions"), [("static/2", 4), ("static/1", 8), ("static/1", 2)])
def test_vectors_of_another_embedder_or_dimension_are_ignored(embedder: str, dimensions: int) -> None:
    assert unpack(pack("static/1", ["a"], np.eye(1, 4, dtype=np.float32)), embedder, dimensions) == {}


HEAD = {"schema_version": 1, "embedder": "static/1", "dimensions": 4, "ids": ["a"]}


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (HEAD, b"abc"),
        (HEAD, b"abcde"),
        ({**HEAD, "ids": []}, b"abcd"),
        ({**HEAD, "schema_version": 2}, b"abcd"),
        ({**HEAD, "more": 1}, b"abcd"),
        ({**HEAD, "ids": [1]}, b"abcd"),
    ],
)
def test_a_damaged_record_holds_nothing(head: dict[str, object], body: bytes) -> None:
    assert unpack(json.dumps(HEAD).encode() + b"\nabcd", "static/1", 4).keys() == {"a"}
    assert unpack(json.dumps(head).encode() + b"\n" + body, "static/1", 4) == {}


def test_each_page_and_each_embedder_has_its_own_record() -> None:
    keys = {vectors_key(page, name) for page in ("page/1", "page/2") for name in ("static/1", "ollama/x")}
    assert len(keys) == 4
    assert all(key.startswith("page-passages/") for key in keys)
