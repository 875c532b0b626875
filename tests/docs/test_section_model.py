"""The features of a section for a query, and their product."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_gateway.docs.models import values_of
from websearch_gateway.docs.section_model import (
    Features,
    HeldWord,
    Section,
    features,
    fitted_weights,
    score,
)

WEIGHTS = {"retri": 0.5, "upload": 0.3, "timeout": 0.2}
QUERY = "retry uploads timeout"


def section(text: str, heading_length: int = 0, *, begins_inside: bool = False) -> Section:
    held = [
        HeldWord(at, stem)
        for stem, word in zip(WEIGHTS, ("retr", "upload", "timeout"), strict=True)
        for at in range(len(text))
        if text.lower().startswith(word, at)
    ]
    in_order = tuple(sorted(held, key=lambda word: word.offset))
    return Section(text, heading_length, in_order, begins_inside)


def found(text: str, heading_length: int = 0, query: str = QUERY) -> Features:
    return features(1.0, query, WEIGHTS, section(text, heading_length))


def test_every_feature_has_a_weight_and_no_other_has():
    assert list(fitted_weights()) == list(values_of(found("")))


def test_words_count_by_their_weights_each_once():
    assert found("Retry, retry an upload.").words == pytest.approx(0.8)


@pytest.mark.parametrize(("between", "close"), [(150, 0.8), (250, 0.5)])
def test_words_are_close_within_two_hundred_characters(between, close):
    assert found(f"Retry {'x' * between} upload").close == pytest.approx(close)


def test_words_of_the_heading_are_those_of_the_first_line():
    assert found("## Uploads\n\nRetry them.", 10).heading == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [("retry uploads", 0.5), ("retry uploads timeout", 1.0), ("uploads retry", 0)],
)
def test_pairs_follow_each_other_as_in_the_query(text, pairs):
    assert found(text).pairs == pytest.approx(pairs)


def test_the_message_of_an_error_is_a_long_run_of_words():
    query = "error: too many open files in system"
    assert found("It says `too many open files`.", query=query).run == pytest.approx(4 / 7)
    assert found("Files may be many, too.", query=query).run == pytest.approx(1 / 7)


@pytest.mark.parametrize(("shared", "run"), [(31, 31 / 32), (40, 1.0)])
def test_only_the_first_words_of_a_long_query_are_looked_for_in_a_row(shared, run):
    query = " ".join(f"w{number}" for number in range(60))
    text = " ".join(f"w{number}" for number in range(shared))
    assert found(text, query=query).run == pytest.approx(run)


@pytest.mark.parametrize(("count", "rich"), [(0, 0.0), (6, 0.5), (12, 1.0), (40, 1.0)])
def test_a_section_with_twelve_words_of_the_query_is_rich(count, rich):
    assert found("upload " * count).rich == rich


def test_code_and_a_start_inside_a_section_are_seen():
    assert found("```\nupload()\n```").code == 1.0
    assert features(1.0, QUERY, WEIGHTS, section("upload", begins_inside=True)).inside == 1.0


@given(st.text(max_size=300), st.text(max_size=100))
def test_all_features_but_that_of_the_page_are_shares(text, query):
    values = values_of(found(text, query=query))
    assert all(0 <= value <= 1 + 1e-9 for name, value in values.items() if name != "page")


@pytest.mark.parametrize(
    "better", ["page", "words", "close", "heading", "pairs", "run", "rich", "code"]
)
def test_more_of_a_feature_is_better(better):
    base = found("nothing of it")
    assert score(replace(base, **{better: 1.0})) > score(replace(base, **{better: 0.0}))
