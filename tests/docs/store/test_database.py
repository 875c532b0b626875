"""What both databases share: packed ids and vectors, the columns of the text index, and how much is asked at once."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.patience import PATIENCE
from websearch_gateway.base.sql import migrate
from websearch_gateway.docs.store import postgres, sqlite
from websearch_gateway.docs.store.database import (
    in_order,
    in_parts,
    index_row,
    pack_ids,
    pack_vectors,
    rarest,
    unpack_ids,
    unpack_vectors,
)
from websearch_gateway.errors import StateUnavailable


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


def test_a_query_takes_five_hundred_values_at_once() -> None:
    asked = []

    class Asked:
        def execute(self, query: str, values: Sequence[object]) -> list[int]:
            asked.append((query.count("?"), len(values)))
            return [len(asked)]

    found = in_parts(Asked(), "SELECT {}", range(1_001), ("before",), ("after",))  # type: ignore[arg-type]
    assert list(found) == [1, 2, 3]
    assert asked == [(500, 502), (500, 502), (1, 3)]


async def test_four_searches_run_at_once() -> None:
    turn = in_order()
    async with AsyncExitStack() as stack:
        for _ in range(4):
            await asyncio.wait_for(stack.enter_async_context(turn()), PATIENCE)
        fifth = asyncio.create_task(turn().__aenter__())
        await asyncio.sleep(0)
        assert not fifth.done()
        fifth.cancel()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("aB", ""),
        ("aBc", "a Bc"),
        ("aB" + "c" * 78, "a B" + "c" * 78),
        ("aB" + "c" * 79, ""),
        ("ThreadPoolExecutor", "Thread Pool Executor"),
        ("HTTPServer", "HTTP Server"),
        ("window", ""),
        ("WINDOW", ""),
    ],
)
def test_a_name_of_three_to_eighty_characters_is_found_by_its_parts(name: str, parts: str) -> None:
    assert index_row("", (), f"Use {name} here.")[2] == parts


@pytest.mark.parametrize(
    ("content", "code", "text"),
    [
        ("Use `run` now.", "run", "Use   now."),
        ("~~~\nrun\n~~~\n", "run", ""),
        ("```\nrun\n```\nNow.", "run", "Now."),
        ("Only words.", "", "Only words."),
        ("See [it](https://a.example/x).", "", "See [it]."),
        ("See [it].", "", "See [it]."),
    ],
)
def test_code_has_a_column_of_its_own_and_addresses_of_links_have_none(
    content: str, code: str, text: str
) -> None:
    row = index_row("", (), content)
    assert (row[3].strip(), row[4].strip()) == (code, text)


@pytest.mark.parametrize(
    ("counts", "rare"),
    [
        ({"a": 1, "b": 3_999}, ["a", "b"]),
        ({"a": 1, "b": 4_000}, ["a"]),
        ({"a": 9_000}, ["a"]),
        ({"a": 9_000, "b": 0}, ["a"]),
        ({"c": 3, "b": 2, "a": 1}, ["a", "b", "c"]),
        ({}, []),
    ],
)
def test_the_rarest_phrases_are_looked_for_until_four_thousand_chunks_hold_one(
    counts: dict[str, int], rare: list[str]
) -> None:
    assert rarest(counts) == rare


@pytest.mark.parametrize(("column", "weight"), [(0, 8.0), (1, 6.0), (2, 2.0), (3, 2.0), (4, 1.0)])
def test_a_word_counts_eight_times_in_a_title_six_in_headings_and_twice_in_parts_and_code(
    column: int, weight: float
) -> None:
    """The words of FTS5 and of PostgreSQL weigh the same."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, sqlite.MIGRATIONS, StateUnavailable("newer"))
        db = sqlite.SqliteDatabase(connection)
        rows = [
            tuple("tide" if at == column and id_ == 1 else "x" for at in range(5))
            for id_ in range(1, 11)
        ]
        db.index_text(list(enumerate(rows, 1)))  # type: ignore[arg-type]
        query = f"SELECT rowid, {sqlite._RANK} FROM chunks_fts WHERE chunks_fts MATCH 'tide'"
        ((id_, rank),) = connection.execute(query).fetchall()
    idf = math.log((10 - 1 + 0.5) / (1 + 0.5))
    assert (id_, -rank) == (1, pytest.approx(idf * weight * 2.2 / (weight + 1.2)))


def test_the_columns_of_postgresql_weigh_as_those_of_sqlite() -> None:
    assert postgres.COLUMN_WEIGHTS == {"A": 8.0, "B": 6.0, "C": 2.0, "D": 1.0}
