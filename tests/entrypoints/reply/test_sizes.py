"""How texts share the room of a reply."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.entrypoints.reply.sizes import (
    LEAST_SHARE,
    LONGEST_WARNING,
    limited_warnings,
    opening,
    shares,
    shortened,
)
from websearch_gateway.results import size_of

MANY_TEXTS = st.text(st.sampled_from('ab \n"\\日👩\u200d\u0301'), max_size=300)


@given(st.lists(st.integers(0, 10_000), max_size=60), st.integers(-10, 50_000))
def test_shares_are_never_more_than_the_room_or_the_text(sizes: list[int], room: int) -> None:
    given_shares = shares(sizes, room)
    assert sum(given_shares) <= max(0, room)
    assert all(0 <= share <= size for share, size in zip(given_shares, sizes, strict=True))
    assert all(
        share == 0 or share >= min(size, LEAST_SHARE)
        for share, size in zip(given_shares, sizes, strict=True)
    )


@pytest.mark.parametrize(
    ("sizes", "room", "expected"),
    [
        ([1_000, 1_000], 3_000, [1_000, 1_000]),
        ([9_000, 9_000], 3_000, [2_000, 1_000]),
        ([100, 9_000], 3_000, [100, 2_900]),
        ([9_000, 9_000], 600, [600, 0]),
        ([9_000], 0, [0]),
    ],
)
def test_better_ranks_get_more_and_the_room_that_others_leave(
    sizes: list[int], room: int, expected: list[int]
) -> None:
    assert shares(sizes, room) == expected


@given(MANY_TEXTS, st.integers(0, 400))
def test_an_opening_fits_and_the_rest_begins_where_it_ends(text: str, most: int) -> None:
    part, following = opening(text, most)
    assert text.startswith(part)
    assert following in (None, len(part))
    assert (following is None) == (size_of(text) <= most)
    assert part == "" or size_of(part) <= most


def test_a_lone_surrogate_has_a_size_too() -> None:
    assert size_of("\ud83d") > 0


def test_long_texts_end_in_an_ellipsis_and_further_warnings_are_counted() -> None:
    assert shortened("abcdef", 4) == "abc…"
    assert shortened("abcd", 4) == "abcd"
    warnings = limited_warnings(["w" * 1_000] * 50)
    assert len(warnings[0]) == LONGEST_WARNING
    assert warnings[-1] == "20 more warnings are left out."
