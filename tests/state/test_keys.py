"""Keys as bytes for indexes with a longest entry."""

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.state.shared import LONGEST, bounds, indexed, raw_key, text_key

keys = st.text(st.characters(), max_size=20)
long_keys = st.builds(
    lambda start, times: start * times, st.text(st.characters(), min_size=1, max_size=5), st.integers(1, 600)
)


@given(keys, keys)
def test_short_keys_keep_the_order_of_code_points(one, other):
    assert (indexed(one) < indexed(other)) == (one < other)


@given(long_keys | keys)
def test_any_key_fits_and_comes_back(key):
    assert len(indexed(key)) <= LONGEST
    assert text_key(raw_key(key)) == key


@given(long_keys, long_keys)
def test_different_keys_stay_different(one, other):
    assert (indexed(one) == indexed(other)) == (one == other)


@given(long_keys | keys, long_keys | keys)
def test_every_key_with_the_prefix_is_within_the_bounds(prefix, rest):
    start, end = bounds(prefix)
    assert start <= indexed(prefix + rest) < end


@given(keys, keys, keys)
def test_bounds_begin_after_a_key(prefix, after, rest):
    start, end = bounds(prefix, after)
    key = prefix + rest
    assert (start <= indexed(key) < end) == (key > after or not after)
