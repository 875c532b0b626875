"""The tokens of a reply are divided among its results."""

from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs_index.rank.budget import LEAST_CONTENT, share_out

RESULTS = st.lists(st.tuples(st.integers(10, 200), st.integers(1, 2_500)), max_size=20)


@given(RESULTS, st.integers(0, 10_000))
def test_a_reply_never_exceeds_its_limit(results, most):
    overheads, wants = [one for one, _ in results], [want for _, want in results]
    shares = share_out(overheads, wants, most)
    assert sum(shares) + sum(overheads[: len(shares)]) <= most
    assert all(min(want, LEAST_CONTENT) <= share <= want for share, want in zip(shares, wants, strict=False))


def test_every_result_gets_its_whole_text_if_there_is_room():
    assert share_out([50, 50], [300, 700], 2_000) == [300, 700]


def test_without_room_the_first_result_gets_more_and_the_last_are_left_out():
    shares = share_out([100] * 10, [1_000] * 10, 1_000)
    assert len(shares) == 5
    assert shares[0] == max(shares)


def test_the_first_gets_enough_to_answer_however_many_follow():
    assert share_out([100] * 10, [600] * 10, 1_600)[0] >= 240
    assert share_out([100] * 10, [30] * 10, 1_600) == [30] * 10
