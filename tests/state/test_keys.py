"""The range of keys that begin with a prefix."""

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.state.shared import bounds

keys = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@given(keys, keys, keys)
def test_the_bounds_hold_exactly_the_keys_with_the_prefix_after_a_key(prefix, after, key):
    start, end = bounds(prefix, after)
    assert (start <= key < end) == (key.startswith(prefix) and (key > after or not after))
